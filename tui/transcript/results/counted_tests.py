"""Reads from the end of a command's output how many tests it ran."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from msgspec import Struct

from permissions.base.text.late_pattern import compile_late

_END_CHARS: Final = 4_000
"""Size of the end of the output that is searched for a summary."""


class CountedTests(Struct, frozen=True):
    """The outcome of a test run."""

    passed_count: int
    failed_count: int

    @property
    def text(self) -> str:
        """As text: `3 tests passed`, `2 of 5 tests failed`."""
        total = self.passed_count + self.failed_count
        tests = "test" if total == 1 else "tests"
        if self.failed_count:
            return f"{self.failed_count} of {total} {tests} failed"
        return f"{total} {tests} passed"


def count_tests(output: str) -> CountedTests | None:
    """Return the counts from output of pytest, unittest, Jest, Vitest, Mocha or Cargo, or None."""
    end = output[-_END_CHARS:]
    for pattern, read in _FORMS:
        matches = list(pattern.finditer(end))
        if matches and (counts := read(matches)) is not None:
            return counts
    return None


def _words(matches: list[re.Match[str]]) -> CountedTests | None:
    """Return the counts of `1 failed, 4 passed`, in any order, from the last such line, or None."""
    counts = {"passed": 0, "failed": 0}
    for number, word in _COUNT.findall(matches[-1][1]):
        kind = "passed" if word == "passed" else "failed"
        counts[kind] += int(number)
    return CountedTests(counts["passed"], counts["failed"]) if any(counts.values()) else None


def _unittest(matches: list[re.Match[str]]) -> CountedTests | None:
    last = matches[-1]
    failed_count = sum(
        int(number) for number in re.findall(r"(?:failures|errors)=(\d+)", last[2] or "")
    )
    return CountedTests(max(0, int(last[1]) - failed_count), failed_count) if int(last[1]) else None


def _sum_matches(matches: list[re.Match[str]]) -> CountedTests | None:
    passed_count, failed_count = (sum(int(match[group]) for match in matches) for group in (1, 2))
    return CountedTests(passed_count, failed_count) if passed_count or failed_count else None


def _mocha(matches: list[re.Match[str]]) -> CountedTests | None:
    return CountedTests(int(matches[-1][1]), int(matches[-1][2] or 0))


_COUNT: Final = compile_late(r"(\d+) (passed|failed|errors?)\b")
_Read = Callable[[list[re.Match[str]]], CountedTests | None]
_FORMS: Final[tuple[tuple[re.Pattern[str], _Read], ...]] = (
    (compile_late(r"^test result: \w+\. (\d+) passed; (\d+) failed", re.MULTILINE), _sum_matches),
    (compile_late(r"^ *Tests:? +(.*\d (?:passed|failed).*)$", re.MULTILINE), _words),
    (
        compile_late(r"^=*((?: ?\d+ [a-z]+,?)+)(?: in [\d.]+s.*)?=*$", re.MULTILINE),
        _words,
    ),
    (
        compile_late(r"^Ran (\d+) tests? in [\d.]+s\n\n(?:OK|(FAILED \(.*\)))", re.MULTILINE),
        _unittest,
    ),
    (compile_late(r"^ *(\d+) passing\b.*(?:\n *(\d+) failing)?", re.MULTILINE), _mocha),
)
"""Patterns with functions that read their matches, the most specific first."""
