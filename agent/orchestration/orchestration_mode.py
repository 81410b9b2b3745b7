"""The orchestration mode of a session: whether it is on, and the effort during it."""

from __future__ import annotations

from typing import Final, Protocol

from agent.model.client import Effort

EFFORT: Final[Effort] = "xhigh"


class EffortSwitch(Protocol):
    """The effort of the main conversation, which its agents inherit."""

    @property
    def effort(self) -> Effort | None:
        """The current effort."""
        ...

    def set_effort(self, effort: Effort | None) -> None:
        """Change the effort."""
        ...


class OrchestrationMode:
    """Switched by the user; the model is informed with the user's next message."""

    def __init__(self, effort: EffortSwitch, *, is_on: bool = False) -> None:
        """`is_on`: whether it is on from the start, by settings or an option."""
        self._effort = effort
        self._previous_effort: Effort | None = None
        self._is_on = False
        if is_on:
            self.switch(is_on=True)

    @property
    def is_on(self) -> bool:
        """Whether the mode is on."""
        return self._is_on

    def switch(self, *, is_on: bool) -> bool:
        """Switch the mode; return False if nothing changed."""
        if is_on == self.is_on:
            return False
        self._is_on = is_on
        if is_on:
            self._previous_effort = self._effort.effort
            self._effort.set_effort(EFFORT)
        elif self._effort.effort == EFFORT:
            # An effort that was chosen in the meantime stays.
            self._effort.set_effort(self._previous_effort)
        return True
