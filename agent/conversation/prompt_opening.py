"""From what the user typed to what the model gets: hooks, commands, mentions and notes.

Next: `agent.prompt.expansion`, `agent.prompt.reminders`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator

from msgspec import Struct

from agent.abort import AbortSignal
from agent.conversation.conversation_ports import ConversationParts
from agent.conversation.conversation_view import ConversationState
from agent.events import AgentEvent, Notice, Terminal
from agent.messages import Message, user_message
from agent.prompt.expansion import ExpandedPrompt
from agent.prompt.system import note
from agent.user_prompt import Prompt
from hooks.answers.response import first_line


class Opened(Struct, frozen=True):
    """The messages that a prompt became; always the last item."""

    new: tuple[Message, ...]


async def open_prompt(
    parts: ConversationParts,
    state: ConversationState,
    prompt: Prompt,
    abort: AbortSignal,
) -> AsyncGenerator[AgentEvent | Opened, None]:
    """Yield events, then `Opened`, or a `Terminal` where the prompt is not sent."""
    turn_id = state.turn_id
    outcome = await parts.hooks.user_prompt_submit(prompt.text, abort)
    for event in parts.hooks.notices():
        yield event
    if outcome is not None and (not outcome.continue_ or outcome.decision in {"block", "deny"}):
        reason = outcome.stop_reason or outcome.reason or "a hook blocked this prompt"
        yield Notice(turn_id, "warning", f"Prompt not sent: {reason}")
        yield Terminal(turn_id, "stop_hook_prevented", reason)
        return
    expanded = ExpandedPrompt()
    if parts.expander is not None:
        async for step in parts.expander.expand(prompt, turn_id, abort):
            if isinstance(step, ExpandedPrompt):
                expanded = step
            else:
                yield step
    if abort.aborted or expanded.blocked is not None:
        reason = expanded.blocked or abort.reason or ""
        yield Notice(turn_id, "warning", f"Prompt not sent: {reason}")
        blocked = expanded.blocked is not None
        yield Terminal(turn_id, "stop_hook_prevented" if blocked else "aborted_tools", reason)
        return
    new = [user_message(text, origin="reminder") for text in _notes(parts, state)]
    if outcome is not None and outcome.additional_context:
        new.append(user_message(outcome.additional_context, origin="hook"))
    first = parts.hooks.take_first_message()
    if first is not None:
        new.append(user_message(first, origin="hook"))
    yield Opened((*new, *expanded.before, prompt.to_message()))


async def open_wake(
    parts: ConversationParts, turn_id: str
) -> AsyncGenerator[AgentEvent | Opened, None]:
    """Yield what background hooks have to show, then `Opened` with what the model is to hear."""
    texts = parts.hooks.late_context()
    for event in parts.hooks.notices():
        yield event
    if not texts:
        yield Terminal(turn_id, "completed")
        return
    yield Notice(turn_id, "info", f"A background hook goes on: {first_line(texts[-1])}")
    yield Opened(tuple(user_message(text, origin="hook") for text in texts))


def _notes(parts: ConversationParts, state: ConversationState) -> list[str]:
    """Take what the model is told before this prompt."""
    notes: list[str] = []
    if not state.has_opening:
        notes.extend(parts.reminders.first())
    notes.extend(parts.hooks.start_context(again=not state.has_opening))
    notes.extend(parts.reminders.before_prompt())
    notes.extend(note(text) for text in state.notes)
    state.notes.clear()
    state.has_opening = True
    return notes
