"""The audit log: one JSON line per final decision, with its trace and without secrets.

Append-only, 0600. A failing disk never delays a decision; it is reported once.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from permissions.base.text.named_secrets import (
    PLACEHOLDER,
    is_secret_name,
    may_name_secrets,
    without_named_secrets,
)
from permissions.decision import STRICTNESS, Behavior, Decision, DecisionSource
from permissions.request import PermissionRequest

FORMAT_VERSION: Final = 1
MAX_VALUE_CHARS: Final = 10_000
"""Longest string of an input that is stored; more is cut and marked."""
_BEYOND_CHARS: Final = 20_000
"""How much text after the cut is searched, to recognize a secret that crosses it."""
MAX_ITEMS: Final = 1_000
MAX_DEPTH: Final = 20
CUT_MARK: Final = "…"
"""Start of the text that replaces something that was cut."""


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
        directory: Path | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        notify: Callable[[str], None] = lambda _text: None,
    ) -> None:
        """Write to `path`, made with the first decision.

        Args:
            redact: Takes secrets out of every string.
            cwd: Where a relative path of a call starts at the time of the decision.
            directory: The launch directory, which is the scope; replays decide in the same one.
            notify: Receives the reason of a write error, once until a write succeeds again.
        """
        self._path = path
        self._session_id = session_id
        self._redact_known = redact
        self._mode = mode
        self._cwd = cwd
        self._directory = directory
        self._now = now
        self._notify = notify
        self._may_be_torn = True
        self.problem: str | None = None
        """Why the last line could not be written; None after a success."""

    def write(self, decision: Decision, request: PermissionRequest) -> None:
        """Append one line; never raises OSError."""
        facts: dict[str, Any] = {
            "v": FORMAT_VERSION,
            "at": self._now().isoformat(timespec="milliseconds"),
            "session_id": self._session_id,
            "request_id": request.request_id,
            "tool_use_id": request.tool_use_id,
            "agent_id": request.agent_id,
            "mode": self._mode(),
            "folder": str(self._directory) if self._directory is not None else None,
            "cwd": str(self._cwd()) if self._cwd is not None else None,
            "tool": request.tool,
            "input": request.tool_input,
            "checked": str(answer_of_checks(decision)),
        }
        self._write_line(self._line(facts, decision))

    def write_event(self, kind: str, facts: Mapping[str, object]) -> None:
        """Append one line about something other than a decision; never raises OSError."""
        line = {
            "v": FORMAT_VERSION,
            "at": self._now().isoformat(timespec="milliseconds"),
            "session_id": self._session_id,
            "kind": kind,
            **_Cleaner(self._redact).plain(facts),
        }
        self._write_line(_encode(line))

    def _write_line(self, line: str) -> None:
        try:
            self._append((line + "\n").encode("utf-8", "backslashreplace"))
            self.problem = None
        except OSError as error:
            is_new = self.problem is None
            reason = error.strerror or error
            self.problem = f"The audit log {self._path} cannot be written: {reason}."
            if is_new:
                self._notify(self.problem)

    def _append(self, data: bytes) -> None:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        # Without O_NONBLOCK a pipe in its place would delay the decision.
        descriptor = os.open(self._path, flags | os.O_NONBLOCK, 0o600)
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise OSError(None, "it is not a regular file")
            if self._may_be_torn and status.st_size:
                # A full disk or a crash may have cut the last line, which must not corrupt this
                # one. Another session in the middle of its line looks the same; that leaves an
                # empty line.
                last = os.pread(descriptor, 1, status.st_size - 1)
                data = data if last == b"\n" else b"\n" + data
            self._may_be_torn = True
            # One write per line: two sessions appending at once never mix their lines.
            if os.write(descriptor, data) < len(data):
                raise OSError(None, "the disk took only a part of a line")
            self._may_be_torn = False
        finally:
            os.close(descriptor)

    def _line(self, facts: Mapping[str, Any], decision: Decision) -> str:
        answer, feedback = decision.as_json(), decision.feedback or None
        answer["write_dirs"] = decision.write_dirs
        try:
            line = _encode(
                {**facts, **answer, "feedback": feedback, "stored": decision.stored_rules}
            )
            if (
                _is_short(_encode(facts["input"]))
                and not may_name_secrets(line)
                and self._redact_known(line) == line
            ):
                return line
        except RecursionError:
            pass  # nested too deeply
        cleaner = _Cleaner(self._redact)
        safe = {
            "input": cleaner.plain(facts["input"]),
            **cleaner.plain(answer),
            "feedback": self._redact(feedback) if feedback else None,
            "stored": cleaner.plain(decision.stored_rules),
        }
        return _encode({**facts, **safe})

    def _redact(self, text: str) -> str:
        return without_named_secrets(self._redact_known(text))


def _encode(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _is_short(text: str) -> bool:
    """Return whether nothing of an input has to be cut."""
    return (
        len(text) <= MAX_VALUE_CHARS
        and text.count(",") < MAX_ITEMS
        and text.count("[") + text.count("{") <= MAX_DEPTH
    )


class _Cleaner:
    """Redacts one line, with a cache: a trace repeats most of its texts."""

    def __init__(self, redact: Callable[[str], str]) -> None:
        self._redact = redact
        self._texts: dict[str, str] = {}
        self._is_secret: dict[str, bool] = {}

    def plain(self, value: Any, depth: int = 0) -> Any:
        """Return JSON without secrets, cut where it is very long."""
        if isinstance(value, str):
            if value not in self._texts:
                self._texts[value] = self._redact_value(value)
            return self._texts[value]
        if depth > MAX_DEPTH and isinstance(value, Mapping | list | tuple):
            return f"{CUT_MARK} (nested too deeply)"
        if isinstance(value, Mapping):
            items = list(value.items())[:MAX_ITEMS]
            return {self.plain(str(key)): self._field(key, item, depth) for key, item in items}
        if isinstance(value, list | tuple):
            items = [self.plain(item, depth + 1) for item in value[:MAX_ITEMS]]
            remaining = len(value) - MAX_ITEMS
            return [*items, f"{CUT_MARK} ({remaining} more)"] if remaining > 0 else items
        return value

    def _field(self, key: object, item: Any, depth: int) -> Any:
        if isinstance(item, str) and item and self._names_secret(str(key)):
            return PLACEHOLDER
        return self.plain(item, depth + 1)

    def _names_secret(self, name: str) -> bool:
        if name not in self._is_secret:
            self._is_secret[name] = is_secret_name(name)
        return self._is_secret[name]

    def _redact_value(self, text: str) -> str:
        # Text far beyond the stored part is not searched: a decision waits for this line.
        items = self._redact(text[: MAX_VALUE_CHARS + _BEYOND_CHARS])
        if len(text) > MAX_VALUE_CHARS:
            return f"{items[:MAX_VALUE_CHARS]}{CUT_MARK} ({len(text) - MAX_VALUE_CHARS} more)"
        return items


_AFTER_CHECKS: Final = frozenset(
    {
        DecisionSource.HOOK,
        DecisionSource.CLASSIFIER,
        DecisionSource.USER,
        DecisionSource.BRIDGE,
        DecisionSource.CHANNEL,
    }
)


def answer_of_checks(decision: Decision) -> Behavior:
    """Return the answer of rules, scope and mode, before hooks, classifier or a user answered."""
    if not decision.parts:
        return Behavior.ASK if decision.source in _AFTER_CHECKS else decision.behavior
    answers = [
        Behavior.ASK if part.source is DecisionSource.CLASSIFIER else part.behavior
        for part in decision.parts
    ]
    return max(answers, key=STRICTNESS.__getitem__)
