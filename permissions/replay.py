"""Judge the audit log's calls again: what today's rules would decide differently."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from permissions.cascade import decide
from permissions.context import PermissionContext
from permissions.mode import Mode, parse_mode
from permissions.request import PermissionRequest


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

    @property
    def is_changed(self) -> bool:
        """Whether today's rules answer otherwise; a yes or no by a person was an ask before."""
        asked = self.source in {"user", "bridge", "channel", "hook", "classifier"}
        return self.now != ("ask" if asked else self.before)

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
                "now": self.now,
                "message": self.message,
            },
            ensure_ascii=False,
        )


def replay(
    folder: Path, context: PermissionContext, *, since: str | None = None
) -> Iterator[Difference]:
    """Yield every logged decision of a folder of audit logs, oldest first; bad lines are skipped.

    `since` is a date (`2026-01-31`) or any prefix of a time; None reads everything.
    """
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
    except (ValueError, KeyError, TypeError):
        return None
    if since is not None and at < since:
        return None
    mode = parse_mode(str(entry.get("mode"))) or Mode.DEFAULT
    cwd = Path(entry["cwd"]) if isinstance(entry.get("cwd"), str) else context.launch_dir
    decision = decide(PermissionRequest(tool, tool_input), context.with_mode(mode), cwd=cwd)
    shown = tool_input.get("command") or tool_input.get("file_path") or tool_input.get("url") or ""
    return Difference(
        at=at,
        tool=tool,
        call=f"{tool}({str(shown)[:120]})",
        before=str(entry.get("behavior")),
        source=str(entry.get("source")),
        now=str(decision.behavior),
        message=decision.message,
    )
