"""The prompt before there is a screen: shown at once, and what is typed into it is kept.

Most of a start is importing the screen's library. Meanwhile the prompt stands where the first
frame will show it, a thread echoes what is typed, and the driver gets the very bytes, so that they
mean what they would have meant. Nothing here imports more than the terminal's own modules.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import termios
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import FrameType
from typing import Any, Final

MIN_COLUMNS: Final = 20
MIN_ROWS: Final = 10
"""Lower screens show the prompt without its rules, in another place."""
SIGN: Final = " ❯ "
ROWS_BELOW: Final = 2
"""Rows below the prompt's on the first frame: its lower rule and the status line."""

TAKE: Final = "\x1b[?1049h\x1b[?2004h\x1b[H\x1b[2J"
"""The alternate screen; a paste comes in one piece, or its line ends would send it."""
GIVE_BACK: Final = "\x1b[?2004l\x1b[0m\x1b[?1049l"

_READ_BYTES: Final = 65536
_ENDING_SIGNALS: Final = (signal.SIGTERM, signal.SIGHUP)
_Handler = Callable[[int, FrameType | None], Any] | int | None


class EarlyPrompt:
    """Holds the terminal from the first moment until `hand_over` or `give_back`."""

    def __init__(self, typed_fileno: int, shown_fileno: int) -> None:
        """Take the terminal.

        Raises:
            OSError: it cannot be written to.
            termios.error: its settings cannot be changed.
        """
        self._typed_fileno = typed_fileno
        self._shown_fileno = shown_fileno
        size = os.get_terminal_size(shown_fileno)
        self._room = size.columns - len(SIGN) - 1
        self.attributes: Final[list[Any]] = termios.tcgetattr(typed_fileno)
        """The terminal's settings as they were."""
        self._typed: list[bytes] = []
        self._is_open = True
        self._wake_read, self._wake_write = os.pipe()
        self._handlers: dict[int, _Handler] = {}
        for number in _ENDING_SIGNALS:
            self._handlers[number] = signal.signal(number, self._on_signal)
        try:
            termios.tcsetattr(
                typed_fileno, termios.TCSANOW, _unechoed(typed_fileno, self.attributes)
            )
            os.write(shown_fileno, _frame(size.columns, size.lines).encode())
            self._thread = threading.Thread(target=self._echo, name="early-prompt", daemon=True)
            self._thread.start()
        except BaseException:
            self._release()
            self._restore()
            raise

    def hand_over(self) -> bytes:
        """Leave the terminal as it is to the driver; return what was typed, once."""
        if not self._is_open:
            return b""
        self._is_open = False
        os.write(self._wake_write, b"x")
        self._thread.join()
        self._release()
        return b"".join(self._typed)

    def give_back(self) -> None:
        """Make the terminal what it was; does nothing after `hand_over`."""
        if self._is_open:
            self.hand_over()
            self._restore()

    def _release(self) -> None:
        os.close(self._wake_read)
        os.close(self._wake_write)
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        self._handlers.clear()

    def _restore(self) -> None:
        with suppress(OSError):
            os.write(self._shown_fileno, GIVE_BACK.encode())
        with suppress(termios.error):
            termios.tcsetattr(self._typed_fileno, termios.TCSANOW, self.attributes)

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        self._restore()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    def _echo(self) -> None:
        """Keep what is typed, and show it as long as it is plain text that fits."""
        is_plain = True
        while True:
            ready, _, _ = select.select([self._typed_fileno, self._wake_read], [], [])
            if self._typed_fileno in ready:
                try:
                    data = os.read(self._typed_fileno, _READ_BYTES)
                except OSError:
                    return
                if not data:
                    return
                self._typed.append(data)
                # Wider characters, keys and pastes are the screen's to show, a moment later.
                shown = _plain_start(data)[: self._room] if is_plain else b""
                is_plain = is_plain and len(shown) == len(data)
                self._room -= len(shown)
                with suppress(OSError):
                    os.write(self._shown_fileno, shown)
            if self._wake_read in ready:
                return


def open_early_prompt(env: Mapping[str, str]) -> EarlyPrompt | None:
    """Show the prompt if the screen will surely follow; None otherwise.

    Not at the very first start, which begins with questions, nor where the person may want lines,
    nor where the terminal is another program's: to change its settings would stop us.
    """
    if env.get("TERM", "") in {"", "dumb"} or _may_want_lines(env) or _is_first_start(env):
        return None
    streams = (sys.__stdin__, sys.__stdout__, sys.__stderr__)
    try:
        if not all(stream is not None and stream.isatty() for stream in streams):
            return None
        assert sys.__stdin__ is not None
        assert sys.__stderr__ is not None
        typed, shown = sys.__stdin__.fileno(), sys.__stderr__.fileno()
        size = os.get_terminal_size(shown)
        if size.columns < MIN_COLUMNS or size.lines < MIN_ROWS:
            return None
        if os.tcgetpgrp(typed) != os.getpgrp():
            return None
        return EarlyPrompt(typed, shown)
    except (OSError, ValueError, termios.error):
        return None


def _may_want_lines(env: Mapping[str, str]) -> bool:
    """Look at the settings' bytes: `tui.flat.wish` reads them properly, which takes its time."""
    if any(name.endswith("_SCREEN_READER") for name in env):
        return True
    try:
        with open(os.path.join(_agent_home(env), "settings.json"), "rb") as file:
            return b"axScreenReader" in file.read()
    except FileNotFoundError:
        return False
    except OSError:
        return True


def _is_first_start(env: Mapping[str, str]) -> bool:
    """Return whether questions may come before the prompt: nothing is known of any model."""
    named = any(name.startswith("ANTHROPIC_") for name in env)
    return not named and not os.path.isdir(_agent_home(env))


def _agent_home(env: Mapping[str, str]) -> str:
    return env.get("AGENT_TUI_HOME") or os.path.join(env.get("HOME") or "/", ".agent")


def _unechoed(fileno: int, attributes: list[Any]) -> list[Any]:
    """Return settings under which keys arrive one by one, unseen; Ctrl+C still interrupts."""
    changed = [*attributes]
    changed[0] &= ~(termios.IXON | termios.ICRNL | termios.INLCR | termios.IGNCR)
    changed[3] &= ~(termios.ECHO | termios.ICANON | termios.IEXTEN)
    changed[6] = [*attributes[6]]
    # Nobody could give the terminal back before these take effect.
    nothing = bytes([os.fpathconf(fileno, "PC_VDISABLE") & 0xFF])
    for index in (termios.VSUSP, termios.VQUIT):
        changed[6][index] = nothing
    changed[6][termios.VMIN], changed[6][termios.VTIME] = 1, 0
    return changed


def _plain_start(data: bytes) -> bytes:
    """Return what comes before the first byte that is no visible ASCII character."""
    return next((data[:place] for place, byte in enumerate(data) if not 32 <= byte < 127), data)


def _frame(columns: int, lines: int) -> str:
    row = lines - ROWS_BELOW
    rule = f"\x1b[2m{'─' * columns}\x1b[0m"
    return (
        f"{TAKE}\x1b[{row - 1};1H{rule}\x1b[{row + 1};1H{rule}"
        f"\x1b[{row};1H\x1b[1m{SIGN}\x1b[0m\x1b[?25h"
    )
