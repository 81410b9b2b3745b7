"""Controls whether a run may continue: running, paused, or stopping."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class RunStopped(Exception):
    """The run ends, because a user stopped it or this process ends."""


class RunLeft(RunStopped):
    """The run ends in this process, paused at a limit that cannot be raised now."""


class RunControl:
    """The state of a run that its agents check before they start."""

    def __init__(self, on_change: Callable[[], None] = lambda: None) -> None:
        """`on_change` is called on each pause, resume or stop; initially the run is running."""
        self.reason = ""
        """Why it is paused or stopping; empty while it runs."""
        self._is_stopping = False
        self._goes_on = asyncio.Event()
        self._goes_on.set()
        self._stopping = asyncio.Event()
        self._on_change = on_change

    @property
    def is_paused(self) -> bool:
        """Whether no agent starts until `resume`."""
        return not self._goes_on.is_set() and not self._is_stopping

    def pause(self, reason: str) -> None:
        """Start no further agent; running ones continue."""
        if not self._is_stopping and self._goes_on.is_set():
            self.reason = reason
            self._goes_on.clear()
            self._on_change()

    def resume(self) -> None:
        """Start agents again."""
        if not self._is_stopping and not self._goes_on.is_set():
            self.reason = ""
            self._goes_on.set()
            self._on_change()

    def stop(self, reason: str) -> None:
        """Start no further agent; waiting ones get `RunStopped`."""
        if not self._is_stopping:
            self.reason, self._is_stopping = reason, True
            self._stopping.set()
            self._goes_on.set()
            self._on_change()

    async def may_start(self) -> None:
        """Wait while the run is paused. Raises `RunStopped`."""
        await self._goes_on.wait()
        self.stop_here()

    def stop_here(self) -> None:
        """Raise `RunStopped` if the run is stopping."""
        if self._is_stopping:
            raise RunStopped(self.reason)

    async def stopping(self) -> None:
        """Wait until the run stops."""
        await self._stopping.wait()
