"""What a turn did, for the line at its end: files, tests, time and cost."""

from __future__ import annotations

from agent.display import CommandDisplay, DiffDisplay, Display
from tui.transcript.diff.diff_view import diff_texts
from tui.transcript.results.counted_tests import CountedTests, count_tests
from tui.transcript.tool_card import duration

_SHOWN_S = 1.0
"""A turn that only answered, and faster than this, needs no line."""


class TurnFacts:
    """Counted from one prompt to the end of its turn."""

    def __init__(self, cost_usd: float = 0.0) -> None:
        """Take what the session had cost before."""
        self._cost_before_usd = cost_usd
        self._files: set[str] = set()
        self._added_count = self._removed_count = 0
        self._tests: CountedTests | None = None

    @property
    def has_changes(self) -> bool:
        """Whether files were changed."""
        return bool(self._files)

    def take(self, display: Display | None) -> None:
        """Count the result of a call."""
        match display:
            case DiffDisplay():
                diff = diff_texts(display.old, display.new)
                self._files.add(display.path)
                self._added_count += diff.added_count
                self._removed_count += diff.removed_count
            case CommandDisplay():
                self._tests = count_tests(display.output) or self._tests
            case _:
                pass

    def text(self, elapsed_s: float, cost_usd: float) -> str:
        """Return the line; empty where there is nothing to say."""
        facts: list[str] = []
        if self._files:
            count = len(self._files)
            facts.append(f"{count} file{'s' if count != 1 else ''}")
            facts.append(f"+{self._added_count} −{self._removed_count}")
        if self._tests is not None:
            facts.append(self._tests.text)
        if not facts and elapsed_s < _SHOWN_S:
            return ""
        facts.append(duration(elapsed_s))
        if (cost := cost_usd - self._cost_before_usd) >= 0.005:
            facts.append(f"${cost:.2f}")
        if self.has_changes:
            facts.append("/diff · esc esc rewind")
        return " · ".join(facts)
