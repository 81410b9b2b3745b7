"""Judge the audit log's calls again: what today's rules would decide differently."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from permissions.audit import CUT_MARK
from permissions.cascade import decide
from permissions.context import PermissionContext
from permissions.history import described_call
from permissions.mode import Mode, parse_mode
from permissions.request import PermissionRequest

_SHOWN_CHARS = 120
_ASKED = frozenset({"user", "bridge", "channel", "hook", "classifier"})


@dataclass(frozen=True, slots=True)
class Difference:
    """One logged decision beside the answer of today's rules."""

    at: str
    tool: str
    call: str
    """The call in short, for people."""
    before: str
    """What was decided then: `allow` or `deny`."""
    source: str
    """Who decided then."""
    now: str
    """What steps 1 to 3 answer today: `allow`, `ask` or `deny`."""
    message: str
    checked: str = ""
    """What steps 1 to 3 answered then; empty in lines of older logs."""

    @property
    def is_changed(self) -> bool:
        """Whether today's rules answer otherwise than those of then did."""
        expected = self.checked or ("ask" if self.source in _ASKED else self.before)
        return self.now != expected

    def describe(self) -> str:
        """Return the difference in one line."""
        return (
            f"{self.at}  {self.call}: {self.before} by {self.source} → {self.now} ({self.message})"
        )

    def to_json(self) -> str:
        """Return the difference as one JSON line."""
        return json.dumps(
            {
                "at": self.at,
                "tool": self.tool,
                "call": self.call,
                "before": self.before,
                "source": self.source,
                "checked": self.checked or None,
                "now": self.now,
                "message": self.message,
            },
            ensure_ascii=False,
        )


def replay(
    folder: Path, context: PermissionContext, *, since: str | None = None
) -> Iterator[Difference]:
    """Yield the logged decisions of this launch folder, oldest first; bad lines are skipped.

    Calls whose input was too long to be kept whole are skipped as well: a part of a command is
    another command.

    Args:
        since: A date (`2026-01-31`) or any prefix of a time; None reads everything.
    """
    # A call that was made in a mode behind a gate found the gate open.
    context = replace(context, bypass_available=True)
    for path in sorted(folder.glob("*.jsonl")):
        with path.open("r", encoding="utf-8", errors="replace") as stream:
            for line in stream:
                found = _difference(line, context, since)
                if found is not None:
                    yield found


def _difference(line: str, context: PermissionContext, since: str | None) -> Difference | None:
    try:
        entry = json.loads(line)
        at, tool, tool_input = str(entry["at"]), str(entry["tool"]), dict(entry["input"])
        mode = parse_mode(str(entry.get("mode"))) or Mode.DEFAULT
        cwd = entry.get("cwd")
        folder = entry.get("folder") or cwd
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    is_elsewhere = isinstance(folder, str) and folder != str(context.launch_dir)
    if is_elsewhere or (since is not None and at < since) or _is_cut(tool_input):
        return None
    shell = Path(cwd) if isinstance(cwd, str) else context.launch_dir
    decision = decide(PermissionRequest(tool, tool_input), context.with_mode(mode), cwd=shell)
    return Difference(
        at=at,
        tool=tool,
        call=described_call(tool, tool_input)[:_SHOWN_CHARS],
        before=str(entry.get("behavior")),
        source=str(entry.get("source")),
        now=str(decision.behavior),
        message=decision.message,
        checked=str(entry.get("checked") or ""),
    )


def _is_cut(value: Any) -> bool:
    """Return whether the log kept only a part of an input."""
    match value:
        case str():
            return f"{CUT_MARK} (" in value[-40:] and value.endswith(")")
        case dict():
            return any(_is_cut(item) for item in value.values())
        case list():
            return any(_is_cut(item) for item in value)
        case _:
            return False
