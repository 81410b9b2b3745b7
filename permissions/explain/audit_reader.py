"""Reads the audit log: each call of one launch directory, as it was decided then."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from permissions.explain.audit_log import CUT_MARK
from permissions.mode import Mode, parse_mode
from permissions.request import PermissionRequest

_ASKED: Final = frozenset({"user", "bridge", "channel", "hook", "classifier"})


class LoggedCall(Struct, frozen=True):
    """One line of the log."""

    timestamp: str
    session_id: str
    request: PermissionRequest
    mode: Mode
    cwd: Path | None
    """Where its relative paths started; None in lines of older logs."""
    behavior: str
    """What was decided: `allow` or `deny`."""
    source: str
    """Who decided."""
    check_result: str
    """What steps 1 to 3 answered; inferred for older logs."""
    steps: tuple[tuple[str, str, str], ...]
    """Step, answer and rule of its trace; the rule may be empty."""


def logged_calls(
    directory: Path, launch_dir: Path, *, earliest: str | None = None
) -> Iterator[LoggedCall]:
    """Yield the calls decided in a launch directory, oldest first; bad lines are skipped.

    Calls whose input was too long to be logged whole are skipped as well: a cut command is another
    command.

    Args:
        earliest: A date (`2026-01-31`) or any prefix of a time; None reads everything.
    """
    for path in sorted(directory.glob("*.jsonl")):
        with path.open("r", encoding="utf-8", errors="replace") as stream:
            for line in stream:
                result = _read(line, launch_dir, earliest)
                if result is not None:
                    yield result


def _read(line: str, launch_dir: Path, earliest: str | None) -> LoggedCall | None:
    try:
        entry = json.loads(line)
        timestamp, tool, tool_input = str(entry["at"]), str(entry["tool"]), dict(entry["input"])
        cwd = entry.get("cwd")
        directory = entry.get("folder") or cwd
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    if isinstance(directory, str) and directory != str(launch_dir):
        return None
    if timestamp < (earliest or "") or _is_cut(tool_input):
        return None
    behavior, source = str(entry.get("behavior")), str(entry.get("source"))
    return LoggedCall(
        timestamp=timestamp,
        session_id=str(entry.get("session_id")),
        request=PermissionRequest(tool, tool_input),
        mode=parse_mode(str(entry.get("mode"))) or Mode.DEFAULT,
        cwd=Path(cwd) if isinstance(cwd, str) else None,
        behavior=behavior,
        source=source,
        check_result=str(entry.get("checked") or _first_answer(source, behavior)),
        steps=tuple(_steps(entry.get("trace"))),
    )


def _first_answer(source: str, behavior: str) -> str:
    """Infer the answer of steps 1 to 3 for a log that does not contain it."""
    return "ask" if source in _ASKED else behavior


def _steps(trace: object) -> Iterator[tuple[str, str, str]]:
    for entry in trace if isinstance(trace, list) else ():
        if isinstance(entry, Mapping):
            rule = entry.get("rule")
            yield str(entry.get("step")), str(entry.get("answer")), str(rule) if rule else ""


def _is_cut(value: Any) -> bool:
    """Return whether the log has only a part of an input."""
    match value:
        case str():
            return f"{CUT_MARK} (" in value[-40:] and value.endswith(")")
        case dict():
            return any(_is_cut(item) for item in value.values())
        case list():
            return any(_is_cut(item) for item in value)
        case _:
            return False
