"""The audit log: one JSON line per final decision, with its trace and without secrets.

Append-only, 0600. A disk that takes nothing never holds up a decision; it is told once.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from permissions.decision import Decision
from permissions.request import PermissionRequest

FORMAT_VERSION: Final = 1
MAX_VALUE_CHARS: Final = 10_000
"""Longest string of an input that is kept; more is cut and said so."""


class AuditLog:
    """Writes decisions of one session."""

    def __init__(
        self,
        path: Path,
        *,
        session_id: str,
        redact: Callable[[str], str] = lambda text: text,
        mode: Callable[[], str] = lambda: "",
        cwd: Callable[[], Path] | None = None,
        folder: Path | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """Write to `path`, made with the first decision.

        Args:
            redact: Takes secrets out of every string.
            cwd: Where a relative path of a call starts at the time of the decision.
            folder: The launch folder, which is the scope; replays judge in the same one.
        """
        self._path = path
        self._session_id = session_id
        self._redact = redact
        self._mode = mode
        self._cwd = cwd
        self._folder = folder
        self._now = now
        self.problem: str | None = None
        """Why the last line could not be written; None while all is well."""

    def write(self, decision: Decision, request: PermissionRequest) -> None:
        """Append one line; never raises for the disk."""
        line = {
            "v": FORMAT_VERSION,
            "at": self._now().isoformat(timespec="milliseconds"),
            "session_id": self._session_id,
            "request_id": request.request_id,
            "tool_use_id": request.tool_use_id,
            "agent_id": request.agent_id,
            "mode": self._mode(),
            "folder": str(self._folder) if self._folder is not None else None,
            "cwd": str(self._cwd()) if self._cwd is not None else None,
            "tool": request.tool,
            "input": self._plain(request.tool_input),
            **self._plain(decision.as_json()),
            "feedback": self._redact(decision.feedback) if decision.feedback else None,
            "stored": list(decision.stored),
        }
        data = (json.dumps(line, ensure_ascii=False, default=str) + "\n").encode(
            "utf-8", "backslashreplace"
        )
        try:
            self._append(data)
            self.problem = None
        except OSError as error:
            self.problem = f"the audit log {self._path} cannot be written: {error.strerror}"

    def _append(self, data: bytes) -> None:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(self._path, flags, 0o600)
        try:
            # One write per line: two sessions appending at once never mix their lines.
            os.write(descriptor, data)
        finally:
            os.close(descriptor)

    def _plain(self, value: Any) -> Any:
        if isinstance(value, str):
            text = self._redact(value)
            if len(text) > MAX_VALUE_CHARS:
                return f"{text[:MAX_VALUE_CHARS]}… ({len(text) - MAX_VALUE_CHARS} more)"
            return text
        if isinstance(value, Mapping):
            return {str(key): self._plain(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self._plain(item) for item in value]
        return value
