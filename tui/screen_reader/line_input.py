"""Reads lines one at a time, with readline's editing if it is available.

A line is read only on request, so that output does not mix with typed text; the terminal buffers
lines typed ahead, and `typed_ahead` returns them.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import sys
import termios
import threading
from collections.abc import Sequence
from typing import Any, Final

READ_BYTES: Final = 65_536


class LineReader:
    """Reads from the terminal in a daemon thread, for which the program's exit does not wait."""

    def __init__(self, history: Sequence[str] = ()) -> None:
        """Store the terminal's settings; `history` has the texts for the Up key, oldest first."""
        self._attributes: list[Any] | None = None
        with contextlib.suppress(termios.error, ValueError):
            self._attributes = termios.tcgetattr(sys.stdin.fileno())
        self._readline = _readline()
        self._waiting: asyncio.Future[str | None] | None = None
        self._is_reading = False
        self._is_ended = False
        for text in history:
            self.remember(text)

    async def line(self, prompt: str) -> str | None:
        """Return the next line; None when the user has ended the input."""
        if self._is_ended:
            return None
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[str | None] = loop.create_future()
        self._waiting = answer
        if self._is_reading:
            # The previous request was cancelled; this one returns the line that is being typed.
            sys.stdout.write(prompt)
            sys.stdout.flush()
        else:
            self._is_reading = True
            threading.Thread(
                target=self._read, args=(prompt, loop), name="typed-line", daemon=True
            ).start()
        return await answer

    @property
    def is_reading(self) -> bool:
        """Whether a line is being read, perhaps for a cancelled request."""
        return self._is_reading

    def repeat_prompt(self, prompt: str) -> None:
        """Write the prompt of the line that is being typed again, after other output."""
        if self._is_reading:
            sys.stdout.write(prompt)
            sys.stdout.flush()

    def end_input(self) -> None:
        """End this and all later requests for a line as if the user had ended the input."""
        self._is_ended = True
        waiting, self._waiting = self._waiting, None
        if waiting is not None and not waiting.done():
            waiting.set_result(None)

    def _read(self, prompt: str, loop: asyncio.AbstractEventLoop) -> None:
        try:
            text: str | None = input(prompt)
        except (EOFError, OSError, ValueError):
            text = None
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(self._deliver_line, text)

    def _deliver_line(self, text: str | None) -> None:
        self._is_reading = False
        waiting, self._waiting = self._waiting, None
        if waiting is not None and not waiting.done():
            waiting.set_result(text)

    def typed_ahead(self) -> list[str]:
        """Return the complete lines that were typed while none was requested."""
        data = b""
        if self._is_reading:
            return []
        with contextlib.suppress(OSError, ValueError):
            descriptor = sys.stdin.fileno()
            while select.select([descriptor], [], [], 0)[0]:
                piece = os.read(descriptor, READ_BYTES)
                if not piece:
                    # Ctrl+D, which ends the next request.
                    self._is_ended = True
                    break
                data += piece
        lines = data.decode("utf-8", "replace").splitlines()
        return [line for line in lines if line.strip()]

    def remember(self, text: str) -> None:
        """Add a text to the history of the Up key, with line breaks as spaces."""
        if self._readline is not None and text.strip():
            self._readline.add_history(" ".join(text.split("\n")))

    def close(self) -> None:
        """Restore the terminal's settings, also while a line is being typed."""
        if self._attributes is not None:
            with contextlib.suppress(termios.error, ValueError):
                termios.tcsetattr(sys.stdin.fileno(), termios.TCSANOW, self._attributes)


def _readline() -> Any:
    try:
        # Not part of every Python; without it the terminal's line editing applies.
        import readline
    except ImportError:
        return None
    readline.set_auto_history(False)
    return readline
