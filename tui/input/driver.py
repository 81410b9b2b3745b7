"""The terminal driver: Textual's, with our byte filter, input bus and output.

It wakes up for input only (Textual's wakes ten times a second), survives invalid bytes, and
restores the terminal however the program ends. The private names of Textual that it relies on are
listed in `PRIVATE_NAMES` and tested.
"""

from __future__ import annotations

import atexit
import os
import re
import select
import signal
import termios
import time
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from textual import events, log
from textual._xterm_parser import XTermParser
from textual.drivers.linux_driver import LinuxDriver
from textual.geometry import Size
from textual.message import Message

from tui.input.bus import InputBus
from tui.input.byte_filter import ByteFilter, ForParser, InputItem, PastedText, Reply, TypedKey
from tui.input.terminal_reply import ASKED_FOR, TerminalReply
from tui.input.typed_ahead import take_typed_ahead
from tui.screen.output import TerminalOutput
from tui.screen.output_stream import screen_fileno

if TYPE_CHECKING:
    from tui.input.early_prompt import EarlyPrompt

PRIVATE_NAMES: Final = {
    "textual.drivers.linux_driver.LinuxDriver": (
        "_app",
        "_debug",
        "_disable_mouse_support",
        "_enable_mouse_support",
        "_get_terminal_size",
        "_in_band_window_resize",
        "_loop",
        "_mouse",
        "_sigcont_application",
        "_sigtstp_application",
        "attrs_before",
        "run_input_thread",
    ),
    "textual._xterm_parser.XTermParser": ("feed",),
}
"""Private names of Textual that this module uses."""

_ALTERNATE_SCREEN: Final = "\x1b[?1049h"
_NORMAL_SCREEN: Final = "\x1b[?1049l"
_POP_KEYBOARD: Final = "\x1b[<u"
"""Terminals store requested modes on a stack: a mode requested twice must be reset twice."""
_READ_BYTES: Final = 65536
_FLOOD_BYTES: Final = 1024
_FLOOD_GAP_S: Final = 0.01
"""How long to wait for the next piece of a large paste."""
_FLOOD_S: Final = 0.25
"""How long the pieces of a large paste are collected before it is shown."""
_CLOSE_TIMEOUT_S: Final = 5.0
_ENDING_SIGNALS: Final = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)

_RESTORE: Final = (
    "\x1b[?2026l\x1b[<u\x1b[?2004l\x1b[?7h\x1b[?1000l\x1b[?1003l\x1b[?1006l\x1b[?1015l"
    "\x1b[?1004l\x1b[0m\x1b[?25h"
)
"""Sequences that restore the terminal when the driver was not stopped normally."""
_RESTORE_SCREEN: Final = "\x1b[r\x1b[?1049l"
"""Leaves the alternate screen; on the normal screen it would move the cursor."""


class InputDriver(LinuxDriver):
    """Textual's driver for Linux and macOS with our input and output paths."""

    def __init__(
        self,
        app: Any,
        *,
        debug: bool = False,
        mouse: bool = True,
        size: tuple[int, int] | None = None,
    ) -> None:
        self._early: EarlyPrompt | None = getattr(app, "early", None)
        self._is_inline: Final = not mouse
        """Whether the app draws on the normal screen and leaves the mouse to the terminal."""
        self._ignored_output = ""
        """A sequence of Textual's that is not passed on to the terminal."""
        self._typed_early = b""
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        self.output: TerminalOutput | None = None
        """Where everything is written; None outside application mode."""
        self.bus: Final = InputBus(self._deliver, self._loop)
        self._output_fileno = screen_fileno()
        self._is_active = False
        self._wake_pipe: tuple[int, int] | None = None
        self._is_lost = False
        self.at_start: Callable[[], str] = str
        """Returns what is written in addition at the start, also after a suspend."""
        self.at_stop: Callable[[], str] = str
        """Returns what is written in addition at the end; it must not move the cursor."""

    # Output

    def write(self, data: str) -> None:
        """Write or queue data without blocking; outside application mode it is dropped."""
        if data != self._ignored_output and self.output is not None:
            self.output.write(data)

    def close(self) -> None:
        """Wait (at most 5 s) until everything is written."""
        super().close()
        if self.output is not None:
            self.output.close(_CLOSE_TIMEOUT_S)
            self.output = None

    def take_mouse(self, is_wanted: bool) -> None:
        """Request mouse events, or leave the mouse to the terminal."""
        if not is_wanted:
            self._disable_mouse_support()
        self._mouse = is_wanted
        if is_wanted:
            self._enable_mouse_support()

    # Start and stop

    def start_application_mode(self) -> None:
        """Put the terminal into application mode; also after a suspend."""
        # A stop half-way would leave the terminal in a mixed state; the signal is delivered after.
        previous_mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTSTP})
        try:
            self._take_terminal()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, previous_mask)

    def _take_terminal(self) -> None:
        attributes = self.attrs_before if self._is_active else None
        if self._early is not None:
            attributes = self._early.attributes
            self._typed_early += self._early.hand_over()
        elif not self._is_active:
            attributes, typed_bytes = take_typed_ahead(self.fileno)
            self._typed_early += typed_bytes
        if self._is_active:
            # Stopped and continued (SIGSTOP) without a chance to restore the terminal: end the old
            # reader before a second one starts, and reset the keyboard mode that it requested.
            self.disable_input()
            self.write(_POP_KEYBOARD)
        if self.output is None:
            self.output = TerminalOutput(self._output_fileno, on_lost=self._on_terminal_lost)
        if self._wake_pipe is None:
            self._wake_pipe = os.pipe()
        if self._is_inline or (self._early is not None and self._early.is_shown):
            # The inline mode has no alternate screen; the early prompt's would be cleared.
            self._ignored_output = _ALTERNATE_SCREEN
        super().start_application_mode()  # type: ignore[no-untyped-call]  # Textual's
        self._ignored_output = ""
        if attributes is not None:
            self.attrs_before = attributes
        # Handlers of the loop, which never interrupt the bus half-way as `signal.signal`'s would.
        with suppress(RuntimeError, ValueError):
            self._loop.add_signal_handler(signal.SIGWINCH, self._on_window_change)
            for number in _ENDING_SIGNALS:
                self._loop.add_signal_handler(number, self._end_by_signal, number)
        if not self._is_active:
            atexit.register(self._restore_terminal)
        if self._early is not None:
            self._early.settle()
            self._early = None
        self.write(self.at_start())
        self._is_active = True

    def _sigtstp_application(self, *args: Any) -> None:
        """Stop the program; while the early prompt holds the terminal, it restores it first."""
        if self._early is not None and self._early.is_reading:
            self._early.stop()
        else:
            super()._sigtstp_application(*args)

    def _sigcont_application(self, *args: Any) -> None:
        if self._early is not None and self._early.is_reading:
            self._early.show_again()
        else:
            super()._sigcont_application(*args)

    def stop_application_mode(self) -> None:
        """Restore the terminal."""
        if self._is_active:
            self.write(self.at_stop())
        # On the normal screen this sequence would move the cursor to a previously saved position.
        self._ignored_output = _NORMAL_SCREEN if self._is_inline else ""
        super().stop_application_mode()
        self._ignored_output = ""
        if self._is_active:
            self._is_active = False
            atexit.unregister(self._restore_terminal)
            with suppress(RuntimeError, ValueError):
                for number in (signal.SIGWINCH, *_ENDING_SIGNALS):
                    self._loop.remove_signal_handler(number)

    def disable_input(self) -> None:
        """End the reading thread and wait for it."""
        if self._wake_pipe is not None:
            os.write(self._wake_pipe[1], b"x")
        super().disable_input()
        if self._wake_pipe is not None:
            for descriptor in self._wake_pipe:
                os.close(descriptor)
            self._wake_pipe = None

    def _restore_terminal(self) -> None:
        """Restore the terminal at interpreter exit, unless the driver was stopped before."""
        with suppress(OSError, ValueError):
            screen = "" if self._is_inline else _RESTORE_SCREEN
            os.write(self._output_fileno, (self.at_stop() + screen + _RESTORE).encode())
        if self.attrs_before is not None:
            with suppress(termios.error):
                termios.tcsetattr(self.fileno, termios.TCSANOW, self.attrs_before)

    def _end_by_signal(self, number: int) -> None:
        self._app.exit(return_code=128 + number)

    def _on_terminal_lost(self) -> None:
        if not self._is_lost:
            self._is_lost = True
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._end_by_signal, signal.SIGHUP)

    # Input

    def send_message(self, message: Message) -> None:
        """Put a message on the input bus."""
        self.bus.push(message)

    def _deliver(self, message: Message) -> None:
        self._app.post_message(message)

    def _on_window_change(self) -> None:
        if not self._in_band_window_resize:
            width, height = self._get_terminal_size()
            size = Size(width, height)
            self.bus.push(events.Resize(size, size))

    def run_input_thread(self) -> None:
        """Read until `stop`, asleep while there is no input."""
        assert self._wake_pipe is not None
        wake, _ = self._wake_pipe
        reader = _Reader(debug=self._debug)
        typed_early, self._typed_early = self._typed_early, b""
        for message in reader.feed(typed_early):
            self.process_message(message)
        while True:
            ready, _, _ = select.select([self.fileno, wake], [], [], reader.timeout_s)
            if self.fileno in ready:
                data = self._read()
                if not data:
                    self._on_terminal_lost()
                    return
                messages = reader.feed(data)
            else:
                messages = reader.expire() if not ready else []
            for message in messages:
                self.process_message(message)
            if wake in ready:
                return

    def _read(self) -> bytes:
        """Return what was typed; b"" when the terminal is closed.

        A kilobyte at once is a paste, whose other pieces are collected: otherwise each of them
        would be laid out separately.
        """
        data = self._read_once()
        if len(data) < _FLOOD_BYTES:
            return data
        pieces = [data]
        until_s = time.monotonic() + _FLOOD_S
        while time.monotonic() < until_s:
            ready, _, _ = select.select([self.fileno], [], [], _FLOOD_GAP_S)
            piece = self._read_once() if ready else b""
            if not piece:
                break
            pieces.append(piece)
        return b"".join(pieces)

    def _read_once(self) -> bytes:
        try:
            return os.read(self.fileno, _READ_BYTES)
        except OSError:
            return b""


ESCAPE_ALONE_S: Final = 0.02
"""A letter that arrives later than this after an ESC is a separate key: terminals write both bytes
of Alt+X at once, and vim users type the next key within 100 ms after Esc."""
_ESCAPE_LATE_S: Final = 1.0
"""How long after an ESC was read as a key the rest of its sequence is still recognized: a slow
connection may deliver the two separately."""

_CONTINUES: Final = re.compile(r"[\[O]|\]\d+;|P[\d>!+$|]")
"""Beginnings of sequences that continue an ESC regardless of `ESCAPE_ALONE_S`."""
_LATE_REST: Final = re.compile(r"\[(<\d+;|200~|\?\d[\d;]*[$a-z])|\]\d+;|P[\d>!+$|]")
"""Rests of sequences that no user types: mouse reports, the start of a paste, replies."""


class _Reader:
    """Converts bytes to Textual's messages."""

    def __init__(self, *, debug: bool, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._read_at_s = clock()
        self._escaped_at_s = float("-inf")
        """When an ESC was last read as a key."""
        self._debug = debug
        self._parser = XTermParser(debug)
        self._filter = ByteFilter()
        self._decode = getincrementaldecoder("utf-8")(errors="replace").decode

    @property
    def timeout_s(self) -> float | None:
        """How long to wait for more; None while nothing is incomplete."""
        return self._filter.timeout_s

    def feed(self, data: bytes) -> list[Message]:
        """Return the messages that the next bytes complete."""
        before_s, self._read_at_s = self._read_at_s, self._clock()
        text = self._decode(data)
        first: list[Message] = []
        if self._filter.holds_escape:
            is_alone = self._read_at_s - before_s > ESCAPE_ALONE_S
            if is_alone and not _CONTINUES.match(text):
                first = self.expire()
        elif self._read_at_s - self._escaped_at_s < _ESCAPE_LATE_S and _LATE_REST.match(text):
            text = "\x1b" + text
        self._escaped_at_s = float("-inf")
        return [*first, *self._messages(self._filter.feed(text))]

    def expire(self) -> list[Message]:
        """Return the messages for the incomplete input, now that nothing has followed."""
        if self._filter.holds_escape:
            self._escaped_at_s = self._clock()
        return self._messages(self._filter.expire())

    def _messages(self, items: Iterable[InputItem]) -> list[Message]:
        messages: list[Message] = []
        for item in items:
            match item:
                case ForParser(text):
                    messages.extend(self._parse(text))
                case TypedKey(key, character):
                    messages.append(events.Key(key, character))
                case PastedText(text):
                    messages.append(events.Paste(text))
                case Reply(text) if text.startswith(ASKED_FOR):
                    messages.append(TerminalReply(text))
                case Reply(text):
                    log.debug(f"terminal says {text!r}")
        return messages

    def _parse(self, text: str) -> list[Message]:
        try:
            return list(self._parser.feed(text))
        except Exception as error:  # noqa: BLE001 - no input may end the program
            log.error(f"cannot read input {text!r}: {error}")
            self._parser = XTermParser(self._debug)
            return []
