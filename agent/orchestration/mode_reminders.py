"""The reminders that orchestration mode is on, in full or as one line, or that it is off.

The due reminder is derived from the history alone, so one that a compaction, a resume or a rewind
removed is simply sent again. A reminder follows the user's message of a turn, and the system
prompt never changes, so that the prompt cache stays valid. The schedule is that of the reference
page `orchestration-mode`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from agent.messages import Message, text_block
from agent.prompt.system import note

TURNS_BETWEEN_REFRESHERS: Final = 10
ENTER: Final = (
    "Orchestration mode is on. What counts is a complete and correct answer, not a quick one: use "
    "the Workflow tool on every substantive task, with as many subtasks as the problem has parts "
    "rather than as many as the tool takes. Its description holds your standing consent, how to "
    "size subtasks, and patterns for quality. Work alone only on conversation and trivial steps."
)
REFRESH: Final = (
    "Orchestration mode is still on: the standing consent in the Workflow tool's description holds."
)
EXIT: Final = (
    "Orchestration mode is off. The Workflow tool is again used only when the user asks for it."
)
_HEADS: Final = {
    note(text).partition(text)[0] + head: text
    for text, head in (
        (ENTER, "Orchestration mode is on."),
        (REFRESH, "Orchestration mode is still on"),
        (EXIT, "Orchestration mode is off."),
    )
}
"""The beginnings by which reminders are recognized: the rest may differ between versions."""


def due_reminder(history: Sequence[Message], *, is_on: bool) -> str | None:
    """Return the reminder that follows the user's next message; None if none is due.

    Args:
        history: The model's history, without that message.
        is_on: Whether the mode is on now; switches between two messages do not matter.
    """
    reminder, turns = None, 0
    for message in reversed(history):
        if (reminder := _reminder_in(message)) is not None:
            break
        turns += message.origin == "person"
    if not is_on:
        return EXIT if reminder in (ENTER, REFRESH) else None
    if reminder not in (ENTER, REFRESH):
        return ENTER
    # One more: the message that the reminder followed.
    return REFRESH if turns + 1 >= TURNS_BETWEEN_REFRESHERS else None


def reminder_message(text: str, *, as_system: bool) -> Message:
    """Return a reminder for the history, as a system message if the model accepts those."""
    return Message("system" if as_system else "user", (text_block(note(text)),), origin="reminder")


def _reminder_in(message: Message) -> str | None:
    if message.origin != "reminder":
        return None
    text = message.text
    return next((kind for head, kind in _HEADS.items() if text.startswith(head)), None)
