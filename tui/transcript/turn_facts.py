"""Facts about a turn for the line at its end: files, tests, time and cost."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from agent.display import CommandDisplay, DiffDisplay, Display
from tui.transcript.diff.diff_view import diff_texts
from tui.transcript.results.counted_tests import CountedTests, count_tests
from tui.transcript.tool_card import USER_TOOLS, duration

if TYPE_CHECKING:
    from agent.events import AgentEvent

WAYS_BACK = ("esc esc rewind", "/diff")
"""Hints about changed files at the end of the line; without room the first is left out first."""
_SHOWN_S = 1.0
"""A turn without changes and tests that is faster than this needs no line."""


class TurnFacts:
    """Facts that are counted from a prompt to the end of its turn."""

    def __init__(self, cost_usd: float = 0.0) -> None:
        """`cost_usd` is the session's cost before the turn."""
        self._cost_before_usd = cost_usd
        self._changes: dict[str, tuple[str, int, int]] = {}
        """By call id: the file, and the number of added and removed lines."""
        self._tests: CountedTests | None = None
        self._open_questions: set[str] = set()
        self._asked_at_s = 0.0
        self._has_waited = False

    @property
    def has_changes(self) -> bool:
        """Whether files were changed."""
        return bool(self._changes)

    def take_back(self, tool_use_ids: Iterable[str]) -> bool:
        """Remove changes that the user undid; return whether there were any."""
        count = len(self._changes)
        for use_id in tool_use_ids:
            self._changes.pop(use_id, None)
        return len(self._changes) < count

    def take(self, display: Display | None, tool_use_id: str) -> None:
        """Count the result of a call."""
        match display:
            case DiffDisplay():
                diff = diff_texts(display.old, display.new)
                counts = diff.added_count, diff.removed_count
                self._changes[tool_use_id] = (display.path, *counts)
            case CommandDisplay():
                self._tests = count_tests(display.output) or self._tests
            case _:
                pass

    def end_wait(self, event: AgentEvent, at_s: float) -> float:
        """Track questions to the user; if this ends the last one, return how long they waited."""
        match event.type:
            case "permission_requested":
                is_open, key = True, event.request_id
            case "tool_dispatch" if event.name in USER_TOOLS:
                is_open, key = True, event.tool_use_id
            case "permission_resolved":
                is_open, key = False, event.request_id
            case "tool_result":
                is_open, key = False, event.tool_use_id
            case _:
                return 0.0
        had_questions = bool(self._open_questions)
        if is_open:
            self._open_questions.add(key)
            if not had_questions:
                self._asked_at_s = at_s
            return 0.0
        self._open_questions.discard(key)
        if self._open_questions or not had_questions:
            return 0.0
        waited_s = at_s - self._asked_at_s
        self._has_waited = self._has_waited or waited_s >= _SHOWN_S
        return waited_s

    def text(self, elapsed_s: float, cost_usd: float) -> str:
        """Return the line's text; "" if there are no facts to show.

        `elapsed_s` excludes waits for the user.
        """
        facts: list[str] = []
        if self._changes:
            paths, added_counts, removed_counts = zip(*self._changes.values(), strict=True)
            count = len(set(paths))
            facts.append(f"{count} file{'s' if count != 1 else ''}")
            facts.append(f"+{sum(added_counts)} −{sum(removed_counts)}")
        if self._tests is not None:
            facts.append(self._tests.text)
        if not facts and elapsed_s < _SHOWN_S:
            return ""
        facts.append(f"{duration(elapsed_s)}{' working time' if self._has_waited else ''}")
        if (cost := cost_usd - self._cost_before_usd) >= 0.005:
            facts.append(f"${cost:.2f}")
        if self.has_changes:
            facts += WAYS_BACK[::-1]
        return " · ".join(facts)
