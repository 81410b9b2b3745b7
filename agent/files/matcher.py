"""Fuzzy search over many names, in steps that never take longer than a frame. Pure.

Full paths are joined into one string and base names into another, shallow and short ones first.
Substrings are therefore found at the speed of `str.find`, the first matches are the best ones, and
a search can stop early. Matches with gaps between letters come last, one slice of the list at a
time.
"""

from __future__ import annotations

import re
import time
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from typing import Final

STEP_S: Final = 0.006
"""How long one step of a search may take: a frame has 16 ms, and must also be drawn."""
ENOUGH: Final = 200
"""Matches of one kind after which a search looks no further."""
_SLICE_CHARS: Final = 32_768


class NameList:
    """Names to search in; folders end with a slash. Replaced as a whole when files change."""

    def __init__(self, names: Iterable[str]) -> None:
        """Order the names. Takes about a second for a million of them: make it in a thread."""
        unique = set(names)
        self.names = sorted(unique, key=lambda n: (n.rstrip("/").count("/"), len(n), n))
        self._paths, self._path_starts = _join_lines(_fold_name(name) for name in self.names)
        self._lasts, self._last_starts = _join_lines(
            _fold_name(name.rstrip("/").rsplit("/", 1)[-1]) for name in self.names
        )

    def __len__(self) -> int:
        return len(self.names)

    def search(self, query: str) -> Iterator[int | None]:
        """Yield indexes of matches, best kind first; None now and then, to let the caller check the
        time."""
        needle = query.lower()
        if not needle:
            yield from range(min(len(self.names), ENOUGH))
            return
        if "\n" in needle:
            return
        if "/" not in needle:
            yield from _plain(self._lasts, self._last_starts, "\n" + needle)
            yield from _plain(self._lasts, self._last_starts, needle)
        yield from _plain(self._paths, self._path_starts, "\n" + needle)
        yield from _plain(self._paths, self._path_starts, needle)
        if len(needle) > 1:
            yield from self._match_with_gaps(needle)

    def _match_with_gaps(self, needle: str) -> Iterator[int | None]:
        letters = [re.escape(char) for char in needle if not char.isspace()]
        if not letters:
            return
        # One attempt for each name. A gap ends at the first place of the next letter, which leaves
        # the most room for the rest: time is linear, whatever names a project has.
        gaps = "".join(f"[^\n{letter}]*{letter}" for letter in letters)
        pattern = re.compile(f"^{gaps}", re.MULTILINE)
        text, starts = self._paths, self._path_starts
        count = 0
        position = 0
        while position < len(text) and count < ENOUGH:
            end = text.find("\n", position + _SLICE_CHARS)
            end = len(text) if end < 0 else end + 1
            for match in pattern.finditer(text, position, end):
                index = bisect_right(starts, match.start()) - 1
                yield index
                count += 1
                if count >= ENOUGH:
                    return
            yield None
            position = end


class Search:
    """A running query: call `step` once per frame until it is done."""

    def __init__(
        self,
        names: NameList,
        query: str,
        *,
        limit: int = 50,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """Begin; nothing is searched before the first step."""
        self.query = query
        self._names = names
        self._limit = limit
        self._clock = clock
        self._hits: dict[int, None] = {}
        self._steps = names.search(query)
        self.is_done = False

    @property
    def matches(self) -> list[str]:
        """The matches found so far, best first."""
        return [self._names.names[index] for index in self._hits]

    def step(self, budget_s: float = STEP_S) -> bool:
        """Continue for about `budget_s` seconds at most; return whether the search is done."""
        deadline_s = self._clock() + budget_s
        for count, index in enumerate(self._steps):
            if index is not None:
                self._hits.setdefault(index)
                if len(self._hits) >= self._limit:
                    break
            if (index is None or count % 64 == 0) and self._clock() >= deadline_s:
                return False
        self.is_done = True
        return True


def _fold_name(name: str) -> str:
    """Return a name in lower case; a line break in it would look like the end of the name."""
    return name.lower().replace("\n", "␊")


def _plain(text: str, starts: array[int], needle: str) -> Iterator[int | None]:
    """Yield the index of each line that contains a text, then None."""
    count = 0
    position = text.find(needle)
    while position >= 0 and count < ENOUGH:
        # A hit that begins with the line break belongs to the line after it.
        index = bisect_right(starts, position + (needle[0] == "\n")) - 1
        yield index
        count += 1
        following = starts[index + 1] - 1 if index + 1 < len(starts) else len(text)
        position = text.find(needle, following)
    yield None


def _join_lines(lines: Iterable[str]) -> tuple[str, array[int]]:
    """Return the lines in one string, each after a line break, and where each begins."""
    parts: list[str] = []
    starts = array("Q")
    position = 1
    for line in lines:
        parts.append(line)
        starts.append(position)
        position += len(line) + 1
    return "\n" + "\n".join(parts), starts
