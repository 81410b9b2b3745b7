"""Orchestration mode of a session: whether it is on, and the effort while it is."""

from __future__ import annotations

from typing import Final, Protocol

from agent.model.client import Effort

EFFORT: Final[Effort] = "xhigh"


class EffortSwitch(Protocol):
    """The effort of the main conversation, which its agents inherit."""

    @property
    def effort(self) -> Effort | None:
        """What is asked for."""
        ...

    def set_effort(self, effort: Effort | None) -> None:
        """Ask for another one."""
        ...


class OrchestrationMode:
    """Switched by the user; the model learns of it with the next message of theirs."""

    def __init__(self, effort: EffortSwitch, *, is_on: bool = False) -> None:
        """`is_on`: from the start, as settings or an option say."""
        self._effort = effort
        self._previous_effort: Effort | None = None
        self._is_on = False
        if is_on:
            self.switch(is_on=True)

    @property
    def is_on(self) -> bool:
        """Whether it is on."""
        return self._is_on

    def switch(self, *, is_on: bool) -> bool:
        """Switch it; False where it was so already."""
        if is_on == self.is_on:
            return False
        self._is_on = is_on
        if is_on:
            self._previous_effort = self._effort.effort
            self._effort.set_effort(EFFORT)
        elif self._effort.effort == EFFORT:
            # Another effort that was chosen meanwhile stays.
            self._effort.set_effort(self._previous_effort)
        return True
