"""Turn what the user typed into messages for the model: hooks, commands, mentions and notes.

Next: `agent.prompt.expansion`, `agent.prompt.reminders`.
"""

from __future__ import annotations

from agent.abort import AbortSignal
from agent.conversation.conversation_ports import ConversationParts
from agent.conversation.conversation_view import ConversationState
from agent.events import Terminal, TerminalReason
from agent.messages import Message, user_message
from agent.orchestration.mode_reminders import due_reminder, reminder_message
from agent.prompt.expansion import ExpandedPrompt
from agent.prompt.system import note
from agent.stream import TurnEvents
from agent.user_prompt import Prompt
from hooks.answers.outcome import EventOutcome
from hooks.answers.response import first_line

Opening = tuple[Message, ...] | Terminal
"""The messages of a prompt, or the end of the turn if it is not sent."""


async def open_prompt(
    parts: ConversationParts,
    state: ConversationState,
    prompt: Prompt,
    events: TurnEvents,
    abort: AbortSignal,
) -> Opening:
    """Return the messages of a prompt, or the end if a hook or command stops it."""
    outcome = await parts.hooks.user_prompt_submit(prompt.text, abort)
    await events.emit_all(parts.hooks.notices())
    refusal = prompt_refusal(outcome)
    if refusal is not None:
        return await _end_unsent(events, "stop_hook_prevented", refusal)
    expansion = ExpandedPrompt()
    if parts.expander is not None:
        expansion = await parts.expander.expand(prompt, events, abort)
    if expansion.block_reason is not None:
        return await _end_unsent(events, "stop_hook_prevented", expansion.block_reason)
    if abort.aborted:
        return await _end_unsent(events, "aborted_tools", abort.reason or "")
    new = [user_message(text, origin="reminder") for text in _notes(parts, state)]
    if outcome is not None and outcome.additional_context:
        new.append(user_message(outcome.additional_context, origin="hook"))
    if parts.initial_prompt and not state.messages:
        new.append(user_message(parts.initial_prompt, origin="reminder"))
    first = parts.hooks.take_first_message()
    if first is not None:
        new.append(user_message(first, origin="hook"))
    return (*new, *expansion.context, prompt.to_message(), *_mode_reminder(parts, state))


def _mode_reminder(parts: ConversationParts, state: ConversationState) -> tuple[Message, ...]:
    text = due_reminder(state.messages, is_on=parts.orchestration.is_on)
    if text is None:
        return ()
    return (reminder_message(text, as_system=parts.switch.takes_system_messages),)


def prompt_refusal(outcome: EventOutcome | None) -> str | None:
    """Return why a hook blocks the prompt, or None."""
    if outcome is None or (outcome.continue_ and outcome.decision not in {"block", "deny"}):
        return None
    return outcome.stop_reason or outcome.reason or "a hook blocked this prompt"


async def open_wake(
    parts: ConversationParts, state: ConversationState, events: TurnEvents
) -> Opening:
    """Return messages from background hooks; the end if there is nothing for the model."""
    if parts.ports.mail is not None and parts.ports.mail.waits():
        # The first request includes the mail.
        return tuple(user_message(text, origin="reminder") for text in _notes(parts, state))
    texts = parts.hooks.late_context()
    await events.emit_all(parts.hooks.notices())
    if not texts:
        # The request itself includes reports of agents.
        has_reports = parts.agents.reports.has_reports or parts.workflows.has_reports
        return () if has_reports else Terminal(events.turn_id, "completed")
    await events.notice("info", f"A background hook continues: {first_line(texts[-1])}")
    return tuple(user_message(text, origin="hook") for text in texts)


async def _end_unsent(events: TurnEvents, end: TerminalReason, reason: str) -> Terminal:
    await events.notice("warning", f"Prompt not sent: {reason}")
    return Terminal(events.turn_id, end, reason)


def _notes(parts: ConversationParts, state: ConversationState) -> list[str]:
    """Remove and return the notes for the model before this prompt."""
    notes: list[str] = []
    if not state.has_opening:
        notes.extend(parts.reminders.first())
    notes.extend(parts.hooks.start_context(is_repeated=not state.has_opening))
    notes.extend(parts.reminders.before_prompt())
    notes.extend(note(text) for text in (*state.notes, *state.news))
    state.notes.clear()
    state.news.clear()
    state.has_opening = True
    return notes
