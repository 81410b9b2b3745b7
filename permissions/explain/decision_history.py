"""Use per rule, recent decisions and denials, and denied calls that may be retried."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Final

from msgspec import Struct

from permissions.decision import Behavior, Decision
from permissions.request import PermissionRequest
from permissions.rules.rule_set import Rule

MAX_DENIALS: Final = 50
"""Denials that are kept; the oldest are dropped first."""
MAX_DECISIONS: Final = 200
"""Decisions that are kept; the oldest are dropped first."""

RuleKey = tuple[str, str, str]
"""A rule's behavior, source and text."""


class RuleUse(Struct, frozen=True):
    """How often a rule decided about a call or a part of one."""

    hits: int = 0
    last_used: datetime | None = None

    def and_at(self, time: datetime) -> RuleUse:
        """Return the use with one more hit."""
        last = time if self.last_used is None else max(time, self.last_used)
        return RuleUse(self.hits + 1, last)


class RuleRow(Struct, frozen=True):
    """One line of the table of all rules."""

    rule: str
    behavior: str
    source: str
    file: str | None
    line: int | None
    hits: int
    last_used: datetime | None


class RecentCall(Struct, frozen=True):
    """A recently decided call."""

    time: datetime
    request: PermissionRequest
    decision: Decision

    @property
    def call(self) -> str:
        """The call in one line, for users."""
        return described_call(self.request.tool, self.request.tool_input)


class History:
    """The recent decisions of one gate."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        """`now` returns the time with its time zone."""
        self._now = now
        self._uses: dict[RuleKey, RuleUse] = {}
        self._denials: deque[RecentCall] = deque(maxlen=MAX_DENIALS)
        self._decisions: deque[RecentCall] = deque(maxlen=MAX_DECISIONS)
        self._retries: set[str] = set()

    @property
    def decisions(self) -> tuple[RecentCall, ...]:
        """Decided calls, newest first."""
        return tuple(reversed(self._decisions))

    @property
    def denials(self) -> tuple[RecentCall, ...]:
        """Denied calls, newest first."""
        return tuple(reversed(self._denials))

    def add(self, decision: Decision, request: PermissionRequest) -> None:
        """Record one final decision."""
        time = self._now()
        for key in _keys(decision):
            self._uses[key] = self._uses.get(key, RuleUse()).and_at(time)
        recent = RecentCall(time, request, decision)
        self._decisions.append(recent)
        if decision.behavior is Behavior.DENY:
            self._denials.append(recent)

    def rows(
        self, rules: Iterable[Rule], usage: Mapping[RuleKey, RuleUse] | None
    ) -> tuple[RuleRow, ...]:
        """Return one row per rule, in their order."""
        uses = self._uses if usage is None else usage
        rows = []
        for rule in rules:
            use = uses.get((str(rule.behavior), str(rule.source), rule.text), RuleUse())
            rows.append(
                RuleRow(
                    rule.text,
                    str(rule.behavior),
                    str(rule.source),
                    rule.file,
                    rule.line,
                    use.hits,
                    use.last_used,
                )
            )
        return tuple(rows)

    def allow_retry(self, denial: RecentCall) -> str:
        """Let exactly this call through once; return the prompt that informs the model."""
        self._retries.add(_identity(denial.request))
        return f"I allow this call now; make it again exactly as before: {denial.call}"

    def take_retry(self, request: PermissionRequest) -> bool:
        """Return whether the user allowed this call in advance, and consume that permission."""
        identity = _identity(request)
        if identity not in self._retries:
            return False
        self._retries.remove(identity)
        return True


def read_usage(directory: Path) -> dict[RuleKey, RuleUse]:
    """Return the use of every rule over all audit logs of a directory; bad lines are skipped."""
    uses: dict[RuleKey, RuleUse] = {}
    for path in sorted(directory.glob("*.jsonl")):
        with path.open(encoding="utf-8", errors="replace") as lines:
            for line in lines:
                for key, time in _logged_rules(line):
                    uses[key] = uses.get(key, RuleUse()).and_at(time)
    return uses


def described_call(tool: str, tool_input: Mapping[str, object]) -> str:
    """Return a call in one line: its tool and what it is about."""
    for name in ("command", "file_path", "notebook_path", "path", "url", "pattern"):
        value = tool_input.get(name)
        if isinstance(value, str):
            return f"{tool}({value})"
    return f"{tool}({json.dumps(dict(tool_input), ensure_ascii=False, default=str)})"


def _keys(decision: Decision) -> set[RuleKey]:
    return {
        (str(entry.step), entry.source, entry.rule)
        for entry in decision.trace
        if entry.rule is not None and entry.source is not None and entry.answer == entry.step
    }


def _logged_rules(line: str) -> Iterator[tuple[RuleKey, datetime]]:
    """Yield each rule that decided about a part of a logged call, with the time."""
    try:
        entry = json.loads(line)
        time = datetime.fromisoformat(entry["at"])
        if time.tzinfo is None:
            return
        steps = {
            (step["step"], step["source"], step["rule"])
            for step in entry["trace"]
            if step["rule"] is not None and step["answer"] == step["step"]
        }
        yield from ((key, time) for key in sorted(steps))
    except (ValueError, KeyError, TypeError, RecursionError):
        return


def _identity(request: PermissionRequest) -> str:
    return json.dumps(
        [request.tool, dict(request.tool_input)], sort_keys=True, ensure_ascii=False, default=str
    )
