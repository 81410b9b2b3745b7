"""The `--debug` log: records of the program's loggers and every logged event, in a private file.

Secrets are redacted in each line. Only the newest logs are kept.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final, TextIO

from agent.observe.event_log import LoggedEvent
from agent.observe.sink_thread import SinkThread
from permissions.base.files.private_file import make_private_dir

MAX_LOGS: Final = 20
LOGGERS: Final = ("agent", "hooks", "permissions", "tui", "asyncio", "anthropic")


class DebugLog(logging.Handler):
    """One file for one run. Lines that cannot be written are dropped without an error."""

    def __init__(self, path: Path, *, redact: Callable[[str], str] = lambda text: text) -> None:
        """Open the file (0600, in a directory of 0700) and listen to the program's loggers.

        Raises:
            OSError: the file cannot be created.
        """
        super().__init__(logging.DEBUG)
        make_private_dir(path.parent)
        _remove_old(path.parent)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        self.path = path
        self._stream: TextIO | None = os.fdopen(
            os.open(path, flags, 0o600), "a", encoding="utf-8", errors="backslashreplace"
        )
        self._redact = redact
        self._lines: SinkThread[str] = SinkThread(self._write, name="debug-log")
        self._levels: list[tuple[logging.Logger, int]] = []
        self.setFormatter(
            logging.Formatter("%(asctime)s %(levelname)s %(name)s %(threadName)s: %(message)s")
        )
        for name in LOGGERS:
            logger = logging.getLogger(name)
            self._levels.append((logger, logger.level))
            logger.setLevel(logging.DEBUG)
            logger.addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record of a logger."""
        try:
            self._lines(self.format(record))
        except (ValueError, TypeError):
            # A message that does not match its arguments is a bug, but must not cause a crash.
            return

    def event(self, event: LoggedEvent) -> None:
        """Write a logged event."""
        self._lines(json.dumps(event.as_json()))

    def close(self) -> None:
        """Stop listening, write pending lines, close the file; safe to call twice."""
        for logger, level in self._levels:
            logger.removeHandler(self)
            logger.setLevel(level)
        self._levels.clear()
        self._lines.close()
        if self._stream is not None:
            with contextlib.suppress(OSError):
                self._stream.close()
            self._stream = None
        super().close()

    def _write(self, line: str) -> None:
        if self._stream is None:
            return
        # On a full disk only lines of the log are lost.
        with contextlib.suppress(OSError):
            self._stream.write(self._redact(line).replace("\n", "\n    ") + "\n")
            self._stream.flush()


def debug_path(agent_home: Path, session_id: str) -> Path:
    """Return the path of a session's debug log."""
    return agent_home / "cache" / "debug" / f"{session_id}.log"


def _remove_old(directory: Path) -> None:
    with contextlib.suppress(OSError):
        logs = sorted(directory.glob("*.log"), key=lambda path: path.stat().st_mtime, reverse=True)
        for path in logs[MAX_LOGS - 1 :]:
            path.unlink()
