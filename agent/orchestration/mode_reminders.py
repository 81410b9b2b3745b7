"""When the model is told that orchestration mode is on: in full, in one line, or that it is off.

Reminders follow the user's message of a turn, and the system prompt never changes, so that the
prompt cache stays valid. The schedule is that of the reference page `orchestration-mode`.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

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


class ModeReminders(Struct, frozen=True):
    """State of the reminders; each change returns a new one."""

    is_on: bool = False
    is_announced: bool = False
    exit_is_due: bool = False
    turns_since: int = 0
    """User turns since the last reminder."""

    def switched(self, *, on: bool) -> ModeReminders:
        """Return the state after the user switched the mode; the notice goes with the next turn."""
        if on == self.is_on:
            return self
        # On again before the exit was delivered: the model was never told, and is not now.
        return replace(self, is_on=on, exit_is_due=not on and self.is_announced)

    def next_turn(self) -> tuple[ModeReminders, tuple[str, ...]]:
        """Return the state after a user's message, and the reminders that follow it."""
        state, due = self, list[str]()
        if state.exit_is_due:
            state = replace(state, exit_is_due=False, is_announced=False)
            due.append(EXIT)
        if state.is_on and not state.is_announced:
            state = replace(state, is_announced=True, turns_since=0)
            due.append(ENTER)
        elif state.is_on and state.turns_since >= TURNS_BETWEEN_REFRESHERS:
            state = replace(state, turns_since=0)
            due.append(REFRESH)
        return replace(state, turns_since=state.turns_since + 1), tuple(due)
