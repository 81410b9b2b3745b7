"""Runs the user's status line command, if one is set, and stores its output."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any, Final

from textual.geometry import Size
from textual.timer import Timer
from textual.worker import Worker

from themes.theme import Role
from tui.status_line.hint import SetTimer
from tui.status_line.status_counts import StatusCounts
from tui.text.styled_rows import MUTED, Ink, Run

if TYPE_CHECKING:
    from agent.commands.service import CommandService
    from agent.events import AgentEvent
    from agent.status_line.ansi_text import Color, Piece

QUIET_S: Final = 0.3
"""How long the session must be quiet before the status line command runs again."""


class UserStatusCommand:
    """Stores the lines of the latest run; a new run cancels the previous one."""

    def __init__(
        self,
        command_service: Callable[[], CommandService | None],
        size: Callable[[], Size],
        set_timer: SetTimer,
        run_worker: Callable[[Coroutine[Any, Any, None]], Worker[None]],
        warn: Callable[[str], None],
        show: Callable[[], None],
        clock: Callable[[], float],
        vim_mode: Callable[[], str],
    ) -> None:
        """`command_service` returns the service with the settings; `show` shows new lines."""
        self.counts = StatusCounts(clock)
        self._vim_mode = vim_mode
        self._command_service = command_service
        self._size = size
        self._set_timer = set_timer
        self._run_worker = run_worker
        self._warn = warn
        self._show = show
        self._timer: Timer | None = None
        self._running: Worker[None] | None = None
        self._lines: tuple[tuple[Run, ...], ...] = ()
        self._has_failed = False
        self._last_facts: object = None
        """The facts at the time when the command was last scheduled."""

    @property
    def lines(self) -> tuple[tuple[Run, ...], ...]:
        """The output of the command; empty without a command, or if it failed."""
        return self._lines

    def schedule_if_changed(self) -> None:
        """Schedule the command if one of its facts has changed."""
        command_service = self._command_service()
        if command_service is None:
            return
        context = command_service.context
        line, session, status = (
            context.settings().values.statusLine,
            context.session,
            context.status,
        )
        if line is None:
            self._lines, self._last_facts = (), None
            return
        facts = (
            line, session.session_id, status.mode, status.model, status.effort, status.thinks,
            session.cwd, self.counts.title, self._size(), self._vim_mode(),
        )  # fmt: skip
        if facts != self._last_facts:
            self._last_facts = facts
            self.plan()

    def observe(self, event: AgentEvent) -> None:
        """Update the counts with the next event; schedule the command after some of them."""
        self.counts.observe(event)
        if event.type in ("complete", "compacted"):
            self.plan()

    def plan(self, after_s: float = QUIET_S) -> None:
        """Schedule the command; each call restarts the waiting time of `after_s` seconds."""
        command_service = self._command_service()
        if command_service is None or command_service.context.settings().values.statusLine is None:
            return
        if self._timer is not None:
            self._timer.stop()
        self._timer = self._set_timer(after_s, self._run)

    def _run(self) -> None:
        if self._running is not None:
            self._running.cancel()
        self._running = self._run_worker(self._ask())

    async def _ask(self) -> None:
        from agent.status_line.command import (  # only if one is set
            run_status_command,
            status_input,
        )

        command_service = self._command_service()
        line = (
            command_service.context.settings().values.statusLine
            if command_service is not None
            else None
        )
        if command_service is None or line is None:
            return
        context = command_service.context
        facts = self.counts.facts(
            columns=self._size().width, rows=self._size().height, vim_mode=self._vim_mode()
        )
        command_input = await asyncio.to_thread(status_input, context, facts)
        output = await run_status_command(
            line.command, command_input, cwd=context.session.launch_dir, env=context.env
        )
        if output.problem and not self._has_failed:
            self._warn(output.problem)
        self._has_failed = bool(output.problem)
        indent: tuple[Run, ...] = ((" " * line.padding, MUTED),) if line.padding else ()
        self._lines = tuple((*indent, *map(_run, pieces)) for pieces in output.lines)
        self._show()
        if line.refreshInterval:
            self.plan(line.refreshInterval)


def _run(piece: Piece) -> Run:
    """Return a piece of the output, with its color mapped to a role of the theme."""
    role = _ROLES[piece.color] if piece.color else Role.FAINT if piece.dim else Role.MUTED
    return piece.text, Ink(
        role, bold=piece.bold, italic=piece.italic, underline=piece.underline, link=piece.link
    )


_ROLES: Final[Mapping[Color, Role]] = {
    "black": Role.FAINT,
    "red": Role.ERROR,
    "green": Role.SUCCESS,
    "yellow": Role.WARNING,
    "blue": Role.ACCENT,
    "magenta": Role.SHELL,
    "cyan": Role.LINK,
    "white": Role.TEXT,
}
"""Roles for ANSI colors, so that the output is readable in every theme."""
