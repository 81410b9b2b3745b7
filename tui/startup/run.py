"""The run with a screen: what happens before the screen's library is loaded, and after it.

A prompt of the command line is sent before the library is loaded (`tui.startup.first_turn`);
without one the library is loaded first. Next: `tui.startup.screen_run`.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agent.exit_status import EXIT_INTERRUPTED
from agent.options import RunOptions
from permissions.base.process.worker_threads import import_aside, run_to_end
from permissions.base.text.terminal_lines import write_message
from tui.startup.first_turn import FirstTurn, is_sent_first

if TYPE_CHECKING:
    from tui.input.early_prompt import EarlyPrompt
    from tui.startup.screen_run import ScreenRun

SWITCH_S: Final = 0.0005
"""Thread switch interval, a tenth of Python's default: otherwise a thread that imports modules or
highlights code would delay the echo of each key by 5 ms."""


def run_screen(options: RunOptions, launch_dir: Path, early: EarlyPrompt | None = None) -> int:
    """Run the app on the terminal, which `early` may hold, and return the exit status."""
    sys.setswitchinterval(SWITCH_S)
    for name in ("COLUMNS", "LINES"):
        # Exported by some shells and tools; they would override the terminal's actual size.
        os.environ.pop(name, None)
    start = _Start(options, launch_dir, early)
    if not is_sent_first(options):
        start.make_screen(None)
    try:
        if early is not None:
            early.restore_interrupt_handler()
        status = run_to_end(start.run())
    except KeyboardInterrupt:
        status = start.screen.status if start.screen is not None else EXIT_INTERRUPTED
    # All is saved and the terminal is restored: a late Ctrl+C has nothing to interrupt.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _flush_output()
    if start.screen is not None and start.screen.deadline is not None:
        start.screen.deadline.cancel()
    return status


def _flush_output() -> None:
    """Flush the standard streams; a closed terminal is not an error."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            # The interpreter flushes again at exit, and a failure there changes the exit status.
            with open(os.devnull, "wb") as nowhere:
                os.dup2(nowhere.fileno(), stream.fileno())


class _Start:
    """Starts the screen, and before it a turn if there is a prompt."""

    def __init__(self, options: RunOptions, launch_dir: Path, early: EarlyPrompt | None) -> None:
        self._options = options
        self._launch_dir = launch_dir
        self._early = early
        self.screen: ScreenRun | None = None

    def make_screen(self, first: FirstTurn | None) -> ScreenRun:
        """Make the app; loads its library if that was not done."""
        from tui.startup.screen_run import ScreenRun  # not before the prompt was sent

        screen = self.screen = ScreenRun(self._options, self._launch_dir, os.environ, first)
        screen.app.early = self._early
        return screen

    async def run(self) -> int:
        """Run until the user leaves; return the exit status."""
        if self.screen is not None:
            return await self.screen.run()
        first = FirstTurn(self._options, self._launch_dir, os.environ, self._show_text)
        ended_by = self._follow_signals(first)
        try:
            await first.screen_is_due()
            await import_aside("tui.startup.screen_run")
            screen = self.make_screen(first)
        except BaseException:
            if self._early is not None:
                self._early.restore_terminal()
            await first.aclose()
            sys.stdout.write(first.maker.resume_line())
            for line in first.maker.closing_lines():
                write_message(sys.stderr, f"agent-tui: {line}")
            if not ended_by:
                raise
            return 128 + ended_by[0]
        return await screen.run()

    def _show_text(self, text: str) -> None:
        if self._early is not None:
            self._early.show_answer(self._options.prompt or "", text)

    def _follow_signals(self, first: FirstTurn) -> list[int]:
        """Let Esc end the turn, and signals end the program.

        Returns a list that receives the signals. The screen's driver replaces the handlers; Ctrl+C
        ends the loop in any case.
        """
        loop, task, signals = asyncio.get_running_loop(), asyncio.current_task(), list[int]()
        assert task is not None

        def on_signal(number: int) -> None:
            signals.append(number)
            task.cancel()

        if self._early is not None:
            self._early.restore_ending_handlers()
            self._early.on_escape(lambda: loop.call_soon_threadsafe(first.interrupt))
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            if signal.getsignal(number) is not signal.SIG_IGN:
                loop.add_signal_handler(number, on_signal, number)
        return signals
