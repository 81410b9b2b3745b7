"""Runs the person's status line command, where one is set, and keeps what it said."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Final

from textual.timer import Timer
from textual.worker import Worker

from tui.hint import SetTimer

if TYPE_CHECKING:
    from agent.commands.center import CommandCenter

QUIET_S: Final = 0.3
"""How long the session must be quiet before the status line command runs again."""


class OwnStatus:
    """The lines of the latest run; a new run ends one that is still going."""

    def __init__(
        self,
        center: Callable[[], CommandCenter | None],
        columns: Callable[[], int],
        set_timer: SetTimer,
        run_worker: Callable[[Coroutine[Any, Any, None]], Worker[None]],
        warn: Callable[[str], None],
        show: Callable[[], None],
    ) -> None:
        """Take where the settings are, who runs the command, and what shows its lines."""
        self._center = center
        self._columns = columns
        self._set_timer = set_timer
        self._run_worker = run_worker
        self._warn = warn
        self._show = show
        self._timer: Timer | None = None
        self._running: Worker[None] | None = None
        self._said: tuple[str, ...] = ()

    @property
    def lines(self) -> tuple[str, ...]:
        """What the command said; empty without one, and while it fails."""
        return tuple(line for line in self._said if line)

    def plan(self) -> None:
        """Run the command once things are quiet for a moment."""
        center = self._center()
        if center is None or center.context.settings().values.statusLine is None:
            return
        if self._timer is not None:
            self._timer.stop()
        self._timer = self._set_timer(QUIET_S, self._run)

    def _run(self) -> None:
        if self._running is not None:
            self._running.cancel()
        self._running = self._run_worker(self._ask())

    async def _ask(self) -> None:
        from agent.status_line import run_status_command, status_input  # only where one is set

        center = self._center()
        line = center.context.settings().values.statusLine if center is not None else None
        if center is None or line is None:
            return
        context = center.context
        given = status_input(context, columns=self._columns())
        found = await run_status_command(
            line.command, given, cwd=context.session.launch_dir, env=context.env
        )
        if found.problem and self._said != ("",):
            self._warn(found.problem)
        self._said = found.lines or (("",) if found.problem else ())
        self._show()
