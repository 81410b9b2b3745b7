"""The run with a screen: what comes before the screen's library, and after it.

A prompt of the command line leaves before the library is loaded (`tui.startup.first_turn`); without
one the library comes first. Next: `tui.startup.screen_run`.
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
"""How long a thread that imports or colors code occupies the interpreter: a tenth of the usual, or
each key would wait 5 ms more for its echo."""


def run_screen(options: RunOptions, launch_dir: Path, early: EarlyPrompt | None = None) -> int:
    """Run the app on the terminal, which `early` may hold, and return the exit status."""
    sys.setswitchinterval(SWITCH_S)
    for name in ("COLUMNS", "LINES"):
        # Exported by some shells and tools; they would count more than the terminal's own size.
        os.environ.pop(name, None)
    start = _Start(options, launch_dir, early)
    if not is_sent_first(options):
        start.make_screen(None)
    try:
        if early is not None:
            early.let_interrupt()
        status = run_to_end(start.run())
    except KeyboardInterrupt:
        status = start.screen.status if start.screen is not None else EXIT_INTERRUPTED
    # All is saved and the terminal is back: a Ctrl+C that comes late has nothing to end.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _let_go_of_output()
    if start.screen is not None and start.screen.deadline is not None:
        start.screen.deadline.cancel()
    return status


def _let_go_of_output() -> None:
    """Write the remaining output; a closed terminal takes none, which is not a failure."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            # The interpreter tries once more while it ends, and would change the exit status.
            with open(os.devnull, "wb") as nowhere:
                os.dup2(nowhere.fileno(), stream.fileno())


class _Start:
    """The screen, and a turn that may be under way before it."""

    def __init__(self, options: RunOptions, launch_dir: Path, early: EarlyPrompt | None) -> None:
        self._options = options
        self._launch_dir = launch_dir
        self._early = early
        self.screen: ScreenRun | None = None

    def make_screen(self, first: FirstTurn | None) -> ScreenRun:
        """Make the app; loads its library where that was not done."""
        from tui.startup.screen_run import ScreenRun  # not before a prompt has left

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
                self._early.give_back()
            await first.aclose()
            sys.stdout.write(first.maker.how_to_continue())
            for line in first.maker.last_words():
                write_message(sys.stderr, f"agent-tui: {line}")
            if not ended_by:
                raise
            return 128 + ended_by[0]
        return await screen.run()

    def _show_text(self, text: str) -> None:
        if self._early is not None:
            self._early.show_answer(self._options.prompt or "", text)

    def _follow_signals(self, first: FirstTurn) -> list[int]:
        """Have Esc end the turn, and signals the program; return those that came.

        The screen's driver replaces the handlers; Ctrl+C ends the loop in any case.
        """
        loop, task, signals = asyncio.get_running_loop(), asyncio.current_task(), list[int]()
        assert task is not None

        def on_signal(number: int) -> None:
            signals.append(number)
            task.cancel()

        if self._early is not None:
            self._early.let_end()
            self._early.on_escape(lambda: loop.call_soon_threadsafe(first.interrupt))
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            if signal.getsignal(number) is not signal.SIG_IGN:
                loop.add_signal_handler(number, on_signal, number)
        return signals
