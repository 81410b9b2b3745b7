"""The early prompt: shown before the screen's library is loaded; typed text is buffered.

Importing that library takes most of the start-up time. Until then the prompt is shown where the
first frame will show it, and a thread echoes typed text. The driver then receives the same bytes,
so that every key acts as if the driver had read it. This module imports no large libraries.
Next: `tui.startup.early_prompt_policy` (when it may be shown).
"""

from __future__ import annotations

import os
import re
import select
import signal
import termios
import threading
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any, Final

from tui.input.typed_ahead import as_keys

MIN_COLUMNS: Final = 20
MIN_ROWS: Final = 10
"""On lower screens the first frame shows the prompt without its rules, at another position."""
SIGN: Final = " ❯ "
ROWS_BELOW: Final = 2
"""Rows below the prompt on the first frame: its lower rule and the status line."""

ENTER_SCREEN: Final = "\x1b[?1049h\x1b[?2004h"
"""Enters the alternate screen and requests bracketed paste: otherwise the line ends of a paste
would submit it."""
LEAVE_SCREEN: Final = "\x1b[?2004l\x1b[0m\x1b[?1049l"

_ANSWER_ROW: Final = 3
"""Row of the answer's first line, counted from 1; its prompt is on row 1."""
_ANSWER_INDENT: Final = " " * 3
_NARROW_TEXT: Final = re.compile(r"[ -~\xa1-\xac\xae-\u024f]*")
_PLAIN_TEXT: Final = re.compile(r"[A-Za-z\xc0-\u024f][\w ,.;:?!'\"()%/-]*")
"""A first paragraph without markup."""
_CLEAR: Final = "\x1b[H\x1b[2J"
_READ_BYTES: Final = 65536
_INTERRUPTED: Final = 130
_ENDING_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_ESCAPE: Final = b"\x1b"
_STOP, _SHOW_AGAIN, _DRAW_AGAIN = b"s", b"t", b"d"
_Handler = Callable[[int, FrameType | None], Any] | int | None


class EarlyPrompt:
    """Controls the terminal from the start of the program until `settle` or `restore_terminal`."""

    def __init__(self, typed_fileno: int, shown_fileno: int) -> None:
        """Show the prompt and start the thread that reads and echoes typed text.

        Raises:
            OSError: the terminal cannot be written to.
            termios.error: the terminal's settings cannot be changed.
        """
        self._typed_fileno = typed_fileno
        self._shown_fileno = shown_fileno
        self.attributes: Final[list[Any]] = termios.tcgetattr(typed_fileno)
        """The terminal's original settings."""
        self._raw_attributes = _without_echo(typed_fileno, self.attributes)
        self._typed_pieces: list[bytes] = []
        self._is_plain = True
        """Whether all typed text could be echoed so far."""
        self._echoed_text = b""
        self._answered_prompt = ""
        """The prompt whose answer is shown."""
        self._answer = ""
        self._room = 0
        self._is_shown = False
        self._is_reading = True
        self._has_escaped = False
        self._on_escape: Callable[[], object] = lambda: None
        self._wake_read, self._wake_write = os.pipe()
        self._handlers: dict[int, _Handler] = {}
        self._our_handlers: dict[int, _Handler] = {}
        self._thread = threading.Thread(target=self._echo, name="early-prompt", daemon=True)
        try:
            self._set_signal_handlers()
            self._show_prompt()
            self._take_typed_ahead()
            self._thread.start()
        except BaseException:
            self._is_reading = False
            self._restore()
            self._restore_handlers()
            os.close(self._wake_read)
            os.close(self._wake_write)
            raise

    @property
    def is_shown(self) -> bool:
        """Whether the early prompt is shown on the alternate screen."""
        return self._is_shown

    @property
    def is_reading(self) -> bool:
        """Whether this object still reads typed input."""
        return self._is_reading

    def hand_over(self) -> bytes:
        """Stop reading and return the typed bytes; later calls return nothing. Signals are still
        handled until `settle`.
        """
        if not self._is_reading:
            return b""
        self._is_reading = False
        os.write(self._wake_write, _STOP)
        self._thread.join()
        os.close(self._wake_read)
        os.close(self._wake_write)
        return b"".join(self._typed_pieces)

    def settle(self) -> None:
        """Stop without restoring the terminal, which the driver controls by now."""
        self.hand_over()
        self._is_shown = False
        self._restore_handlers()

    def restore_terminal(self) -> None:
        """Restore the terminal's settings and screen; does nothing after `settle`."""
        self.hand_over()
        self._restore()
        self._restore_handlers()

    def restore_interrupt_handler(self) -> None:
        """Restore the handler of Ctrl+C, so that the caller unwinds to `restore_terminal`."""
        self._restore_handler(signal.SIGINT)

    def restore_ending_handlers(self) -> None:
        """Restore the previous handlers of all signals that end the program."""
        for number in _ENDING_SIGNALS:
            self._restore_handler(number)

    def show_answer(self, prompt: str, text: str) -> None:
        """Show the next piece of an answer where the first frame will; stops at any markup."""
        self._answered_prompt = prompt
        self._answer += text
        if self._is_reading and self._is_shown and self._is_foreground():
            with suppress(OSError):
                self._write(f"\x1b7{self._answer_rows()}\x1b8")

    def on_escape(self, call: Callable[[], object]) -> None:
        """Call `call`, from any thread, when Esc is typed; the screen receives the key, too."""
        self._on_escape = call
        if self._has_escaped:
            call()

    def stop(self) -> None:
        """Stop the program (SIGTSTP); the terminal is restored while it is stopped."""
        self._restore()
        ours = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, ours)
        # Also if the process was not stopped: without a shell as parent SIGTSTP has no effect.
        self.show_again()

    def show_again(self) -> None:
        """Show the prompt again, unless another program is in the foreground."""
        self._wake_thread(_SHOW_AGAIN)

    # Signals: handled in the main thread, which imports modules at that time

    def _set_signal_handlers(self) -> None:
        for number in _ENDING_SIGNALS:
            self._handle(number, self._on_end)
        self._handle(signal.SIGTSTP, lambda *_: self.stop())
        self._handle(signal.SIGCONT, lambda *_: self.show_again())
        self._handle(signal.SIGWINCH, lambda *_: self._wake_thread(_DRAW_AGAIN))

    def _handle(self, number: int, handler: Callable[[int, FrameType | None], None]) -> None:
        old_handler = signal.getsignal(number)
        # The parent process may have chosen to ignore a signal, as `trap '' HUP` does.
        if old_handler is not signal.SIG_IGN:
            signal.signal(number, handler)
            self._handlers[number] = old_handler
            self._our_handlers[number] = handler

    def _restore_handler(self, number: int) -> None:
        old_handler = self._handlers.pop(number, None)
        # Do not replace a handler that someone else has set since.
        if old_handler is not None and signal.getsignal(number) is self._our_handlers[number]:
            signal.signal(number, old_handler)

    def _restore_handlers(self) -> None:
        for number in [*self._handlers]:
            self._restore_handler(number)

    def _on_end(self, number: int, _frame: FrameType | None) -> None:
        """End at once: there is nothing to save yet, and an exception could be raised anywhere."""
        self._restore()
        if number == signal.SIGINT:
            os._exit(_INTERRUPTED)
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    def _wake_thread(self, what: bytes) -> None:
        if self._is_reading:
            os.write(self._wake_write, what)

    # The terminal

    def _show_prompt(self) -> None:
        self._is_shown = True
        termios.tcsetattr(self._typed_fileno, termios.TCSANOW, self._raw_attributes)
        self._write(ENTER_SCREEN)
        self._draw()

    def _take_typed_ahead(self) -> None:
        """Store the input that was typed before the terminal left line mode."""
        data = b""
        while select.select([self._typed_fileno], [], [], 0)[0]:
            piece = os.read(self._typed_fileno, _READ_BYTES)
            if not piece:
                break
            data += piece
        if data:
            self._store(as_keys(data))

    def _draw(self) -> None:
        """Draw the prompt and the answer; clear the screen if the window is too small for them."""
        size = os.get_terminal_size(self._shown_fileno)
        if size.columns < MIN_COLUMNS or size.lines < MIN_ROWS:
            self._room = 0
            self._write(_CLEAR)
            return
        room = size.columns - len(SIGN) - 1
        visible = self._echoed_text[:room]
        self._room = room - len(visible)
        self._write(
            f"{_CLEAR}{self._answer_rows()}{_frame(size.columns, size.lines)}"
            f"{visible.decode('ascii')}"
        )

    def _answer_rows(self) -> str:
        """Return the text and sequences that draw the sent prompt and the plain part of its answer;
        empty if either cannot be drawn without the screen.
        """
        plain = _PLAIN_TEXT.match(self._answer)
        size = os.get_terminal_size(self._shown_fileno)
        room = size.columns - len(_ANSWER_INDENT) - 1
        if plain is None or not _NARROW_TEXT.fullmatch(self._answered_prompt[: room + 1]):
            return ""
        if len(self._answered_prompt) > room or not _NARROW_TEXT.fullmatch(plain[0]):
            return ""
        rows = _wrap_words(plain[0], room)[: size.lines - _ANSWER_ROW - ROWS_BELOW - 1]
        drawn = f"\x1b[1;1H\x1b[1m{SIGN}\x1b[22m{self._answered_prompt}"
        for row, text in enumerate(rows, _ANSWER_ROW):
            drawn += f"\x1b[{row};1H\x1b[K{_ANSWER_INDENT}{text}"
        return drawn

    def _restore(self) -> None:
        if self._is_shown:
            self._is_shown = False
            # A background process that changes the terminal's settings is stopped (SIGTTOU).
            if self._is_foreground():
                with suppress(OSError):
                    self._write(LEAVE_SCREEN)
                with suppress(termios.error):
                    termios.tcsetattr(self._typed_fileno, termios.TCSANOW, self.attributes)

    def _is_foreground(self) -> bool:
        try:
            return os.tcgetpgrp(self._typed_fileno) == os.getpgrp()
        except OSError:
            return False

    def _write(self, text: str) -> None:
        os.write(self._shown_fileno, text.encode())

    # The thread

    def _echo(self) -> None:
        """Store typed input, and echo it as long as it is plain text that fits."""
        sources = [self._wake_read, self._typed_fileno]
        while True:
            ready, _, _ = select.select(sources, [], [])
            if self._typed_fileno in ready:
                try:
                    data = os.read(self._typed_fileno, _READ_BYTES)
                except OSError:
                    data = b""
                if not data:
                    # Closed (end of file); the driver will see the same.
                    sources.remove(self._typed_fileno)
                self._store(data)
            if self._wake_read in ready and not self._handle_orders():
                return

    def _store(self, data: bytes) -> None:
        self._typed_pieces.append(data)
        if data.endswith(_ESCAPE):
            # A trailing ESC is the key itself: terminals write longer key sequences in one piece.
            self._has_escaped = True
            self._on_escape()
        if self._is_plain:
            # Wide characters, other keys and pastes are shown only by the screen, a moment later.
            plain = _plain_start(data)
            self._is_plain = len(plain) == len(data)
            self._show(plain)

    def _show(self, plain: bytes) -> None:
        self._echoed_text += plain
        visible = plain[: self._room]
        self._room -= len(visible)
        if visible and self._is_shown:
            with suppress(OSError):
                self._write(visible.decode("ascii"))

    def _handle_orders(self) -> bool:
        """Read orders and redraw as they request; return whether to continue."""
        orders = os.read(self._wake_read, _READ_BYTES)
        with suppress(OSError, termios.error):
            if _SHOW_AGAIN in orders and self._is_foreground():
                self._show_prompt()
            elif _DRAW_AGAIN in orders and self._is_shown and self._is_foreground():
                self._draw()
        return _STOP not in orders


def _without_echo(fileno: int, attributes: list[Any]) -> list[Any]:
    """Return settings without line mode and echo; Ctrl+C still raises SIGINT."""
    raw_attributes = [*attributes]
    raw_attributes[0] &= ~(termios.IXON | termios.ICRNL | termios.INLCR | termios.IGNCR)
    raw_attributes[3] &= ~(termios.ECHO | termios.ICANON | termios.IEXTEN)
    raw_attributes[6] = [*attributes[6]]
    # Ctrl+Z and Ctrl+\ reach the program as keys, as they do under the screen.
    nothing = bytes([os.fpathconf(fileno, "PC_VDISABLE") & 0xFF])
    for index in (termios.VSUSP, termios.VQUIT):
        raw_attributes[6][index] = nothing
    raw_attributes[6][termios.VMIN], raw_attributes[6][termios.VTIME] = 1, 0
    return raw_attributes


def _plain_start(data: bytes) -> bytes:
    """Return the bytes before the first one that is not printable ASCII."""
    return next((data[:place] for place, byte in enumerate(data) if not 32 <= byte < 127), data)


def _wrap_words(text: str, columns: int) -> list[str]:
    """Return the text wrapped at words; a word longer than a line is cut off."""
    rows = [""]
    for word in text.split():
        if rows[-1] and len(rows[-1]) + 1 + len(word) > columns:
            rows.append("")
        rows[-1] += (" " if rows[-1] else "") + word[:columns]
    return rows


def _frame(columns: int, lines: int) -> str:
    row = lines - ROWS_BELOW
    rule = f"\x1b[2m{'─' * columns}\x1b[0m"
    return (
        f"\x1b[{row - 1};1H{rule}\x1b[{row + 1};1H{rule}\x1b[{row};1H\x1b[1m{SIGN}\x1b[0m\x1b[?25h"
    )
