"""A program in a pseudo-terminal with an emulator in front of it, for tests."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from codecs import getincrementaldecoder
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType

import pyte

from tests.journeys.forked_program import exit_status, fork_in_terminal

_PRIVATE = re.compile(r"\x1b\[[<>=][0-9;]*[a-zA-Z]|\x1b\][^\x07\x1b]*(\x07|\x1b\\)")
_UNFINISHED = re.compile(r"\x1b(\[[0-?]*|\][^\x07\x1b]*\x1b?)?\Z")


class PtySession:
    """Runs a Python script in a pty; everything it writes is kept in `written`."""

    def __init__(
        self,
        script: Path,
        *,
        width: int = 80,
        height: int = 24,
        env: Mapping[str, str] | None = None,
        answers_queries: bool = True,
    ) -> None:
        self.screen = pyte.Screen(width, height)
        self.written = ""
        self.exit_status: int | None = None
        self._stream = pyte.Stream(self.screen)
        self._answers_queries = answers_queries
        self._tail = ""
        self._held = ""
        self._decode = getincrementaldecoder("utf-8")("replace").decode
        environment = {
            **{name: os.environ[name] for name in ("HOME", "PATH", "TMPDIR")},
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
            **(env or {}),
        }
        self.fd, terminal = pty.openpty()
        self.resize(width, height, tell=False)
        self.first_flags = self.local_flags()
        """What the program was given; it may have changed them when this returns."""
        code = f"import runpy; runpy.run_path({str(script)!r}, run_name='__main__')"
        self.pid, self._result = fork_in_terminal([], script.parent, environment, terminal, code)

    def __enter__(self) -> PtySession:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        if self.exit_status is None:
            os.kill(self.pid, signal.SIGKILL)
            exit_status(self._result)
        if self.fd >= 0:
            os.close(self.fd)

    def resize(self, width: int, height: int, *, tell: bool = True) -> None:
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
        if tell:
            self.screen.resize(height, width)

    def send(self, keys: str) -> None:
        os.write(self.fd, keys.encode())

    def hang_up(self) -> None:
        """Close the terminal's side."""
        os.close(self.fd)
        self.fd = -1

    @property
    def text(self) -> str:
        """What the screen shows, rows joined by newlines, without spaces at their ends."""
        # The emulator's own text fails on half a wide character, as there is in mid-frame.
        rows = (
            "".join(self.screen.buffer[y][x].data for x in range(self.screen.columns))
            for y in range(self.screen.lines)
        )
        return "\n".join(row.rstrip() for row in rows)

    def wait_until(self, is_reached: Callable[[], bool], *, limit_s: float = 20.0) -> None:
        """Read until the condition holds; fails with the screen when it does not in time."""
        until = time.monotonic() + limit_s
        while not is_reached():
            left = until - time.monotonic()
            assert left > 0, f"not reached; the screen shows:\n{self.text}"
            self._read(left)

    def wait_for_text(self, text: str) -> None:
        self.wait_until(lambda: text in self.text)

    def wait_until_stopped(self) -> None:
        """Return once a signal has stopped it; it is no child of this process."""
        command = ["ps", "-o", "stat=", "-p", str(self.pid)]
        while not subprocess.run(command, capture_output=True, check=True).stdout.startswith(b"T"):
            time.sleep(0.02)

    def wait_for_exit(self, *, limit_s: float = 20.0) -> int:
        """Read to the end and return the exit status (negative: the signal)."""
        until = time.monotonic() + limit_s
        while self.fd >= 0 and self._read(max(0.0, until - time.monotonic())):
            assert time.monotonic() < until, f"still running; the screen shows:\n{self.text}"
        self.exit_status = exit_status(self._result)
        return self.exit_status

    def read_quiet(self, quiet_s: float) -> str:
        """Return what is written until nothing comes for this long."""
        start = len(self.written)
        while self._read(quiet_s):
            pass
        return self.written[start:]

    def local_flags(self) -> int:
        flags: int = termios.tcgetattr(self.fd)[3]
        return flags

    def _read(self, timeout_s: float) -> bool:
        ready, _, _ = select.select([self.fd], [], [], timeout_s)
        if not ready:
            return False
        try:
            read = os.read(self.fd, 65536)
        except OSError:
            return False
        if not read:
            return False
        # A character or a code cut in two by the read is completed by the next one; without this
        # large frames seem to paint wrongly.
        data = self._decode(read)
        self.written += data
        if self._answers_queries and "\x1b[?2026$p" in self._tail + data:
            self.send("\x1b[?2026;2$y")
        self._tail = data[-12:]
        data = self._held + data
        unfinished = _UNFINISHED.search(data)
        cut = unfinished.start() if unfinished else len(data)
        self._held = data[cut:]
        self._stream.feed(_PRIVATE.sub("", data[:cut]))
        return True
