"""Does one path pattern fit every path that another one fits? Pure, and certain when it is yes.

Both patterns are read as automata over the names of a path; the paths of the narrower one are
followed with all places where the wider one could be. A path that ends for the narrower pattern
alone settles it.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Iterator
from functools import lru_cache

from permissions.paths.path_pattern import compiled_pattern

_OTHER = "\x01"
"""A character that no rule can contain: it represents all that the patterns do not name."""
_MOST_PLACES = 150
"""Places until the question is given up, with no as the answer: two patterns of many wildcards."""
_MAX_CACHED = 2_000
"""Steps of one pattern that are remembered."""
_ANY = "any"
"""Any one character but a slash."""
_RUN = "run"
"""Any number of them."""
_SLASH = "/"
_COMMON = string.ascii_letters + string.digits + string.punctuation.replace("/", "")

_Read = str | re.Pattern[str]
"""What may be read: a character, `_ANY`, or one of a class."""
_Move = tuple[_Read, int]
"""What may be read, and the place that it leads to."""


def fits_all_of(wider: str, wider_floats: bool, narrower: str, narrower_floats: bool) -> bool:
    """Does `wider` fit every path that `narrower` fits? A pattern that floats fits at any depth.

    That `dir/**` also fits the directory itself is left out of the narrower one: it is not
    what it is written for.
    """
    if wider == narrower and wider_floats >= narrower_floats:
        return True
    text = wider + narrower
    part = _automaton(narrower, narrower_floats)
    # One path that the wider pattern does not fit settles nearly every pair of rules.
    if _OTHER in text or not compiled_pattern(wider, wider_floats).fullmatch("".join(part.sample)):
        return False
    whole = _automaton(wider, wider_floats)
    return _never_leaves(part, whole, _letters(text, whole.reads | part.reads))


def _never_leaves(part: _Automaton, whole: _Automaton, letters: list[str]) -> bool:
    """Does `whole` accept every path that `part` is meant for? False where that takes too long."""
    start = (0, whole.closure(1), True)
    seen = {start}
    waiting = [start]
    while waiting:
        place, places, is_name_start = waiting.pop()
        for reached in part.empty_moves(place):
            if reached in part.meant and not is_name_start and not places & whole.accepting:
                return False
            for result in _steps(part.moves[reached], whole, places, letters, is_name_start):
                if result in seen:
                    continue
                if not result[1] or len(seen) > _MOST_PLACES:
                    return False
                seen.add(result)
                waiting.append(result)
    return True


def _steps(
    moves: Iterable[_Move],
    whole: _Automaton,
    places: int,
    letters: Iterable[str],
    is_name_start: bool,
) -> Iterator[tuple[int, int, bool]]:
    """Yield where each letter leads: the place, the wider pattern's places, and is it a slash?"""
    for read, target in moves:
        for letter in letters:
            if _reads(read, letter) and not (is_name_start and letter == _SLASH):
                after = whole.step(places, letter)
                if not after & whole.everything:
                    yield target, after, letter == _SLASH


def _reads(read: _Read, letter: str) -> bool:
    if isinstance(read, str):
        return letter != _SLASH if read is _ANY else letter == read
    return read.fullmatch(letter) is not None


def _letters(text: str, reads: Iterable[_Read]) -> list[str]:
    """Return letters of which each other one is read in the same way as one of them.

    Where there are classes, those are the first letters of each range between two that are named.
    """
    named = {_OTHER, _SLASH, *text}
    if "[" in text:
        named.update(chr(ord(one) + 1) for one in text if one < "\U0010ffff")
        # A slash is in no class: what follows it may be.
        named.add("0")
    return list({tuple(_reads(read, one) for read in reads): one for one in named}.values())


class _Automaton:
    """Places in a pattern, numbered from 0 where a path starts, and the moves between them."""

    def __init__(self) -> None:
        self.moves: list[list[_Move]] = [[]]
        self.reads: set[_Read] = {_ANY, _SLASH}
        self.meant: set[int] = set()
        """Where a path ends that the pattern is meant for: of `dir/**` not the directory itself."""
        self.accepting = 0
        """As bits, where a path ends that fits."""
        self.everything = 0
        """As bits, the places from which every continued path fits."""
        self.sample: list[str] = []
        """Pieces of one path that fits."""
        self._empty: dict[int, int] = {}
        self._steps: dict[tuple[int, str], int] = {}

    def read(self, read: _Read) -> None:
        """Append one character."""
        if isinstance(read, str):
            self.sample.append(_OTHER if read is _ANY else read)
        else:
            self.sample.append(next(filter(read.fullmatch, _COMMON), ""))
        self.reads.add(read)
        self.moves[-1].append((read, len(self.moves)))
        self.moves.append([])

    def loop(self) -> None:
        """Append any characters but slashes."""
        here = len(self.moves) - 1
        self.moves[here].append((_ANY, here))
        self.moves.append([])
        self._empty[here] = here + 1
        self.sample.append(_OTHER)

    def directories(self) -> None:
        """Append any number of whole names, each with its slash."""
        here = len(self.moves) - 1
        name = here + 1
        self.moves[here].extend([(_ANY, name), (_SLASH, here)])
        self.moves.append([(_ANY, name), (_SLASH, here)])
        self.moves.append([])
        self._empty[here] = name + 1
        self.sample.append(f"{_OTHER}/{_OTHER}/")

    def end(self, components: list[str]) -> None:
        """End the pattern: what it names fits, with everything below, or only the latter."""
        here = len(self.moves) - 1
        below = here + 1
        self.moves[here].append((_SLASH, below))
        self.moves.append([(_ANY, below), (_SLASH, below)])
        self.sample.append(f"/{_OTHER}")
        self.everything = 1 << below
        self.accepting = self.everything if components[-2:] == ["**", "**"] else 3 << here
        self.meant = {below} if components[-1:] == ["**"] else {here, below}

    def empty_moves(self, place: int) -> Iterator[int]:
        """Yield `place` and all that is reached from it without reading anything."""
        at: int | None = place
        while at is not None:
            yield at
            at = self._empty.get(at)

    def closure(self, places: int) -> int:
        """Return the places (bits) together with what they reach without reading anything."""
        result = 0
        for place in _bits(places):
            for reached in self.empty_moves(place):
                result |= 1 << reached
        return result

    def step(self, places: int, letter: str) -> int:
        """Return the places (bits) after `letter` was read in one of `places`."""
        known = self._steps.get((places, letter))
        if known is not None:
            return known
        result = 0
        for place in _bits(places):
            for read, target in self.moves[place]:
                if _reads(read, letter):
                    result |= 1 << target
        result = self.closure(result)
        if len(self._steps) < _MAX_CACHED:
            self._steps[(places, letter)] = result
        return result


def _bits(places: int) -> Iterator[int]:
    while places:
        lowest = places & -places
        yield lowest.bit_length() - 1
        places ^= lowest


@lru_cache(maxsize=1024)
def _automaton(pattern: str, floating: bool) -> _Automaton:
    """Read a pattern as `compiled_pattern` does."""
    result = _Automaton()
    components = [part for part in pattern.strip("/").split("/") if part not in ("", ".")]
    names = [part for part in components if part != "**"]
    if floating or components[:1] == ["**"] or not names:
        result.directories()
    if not names:
        result.loop()
        result.end([])
        return result
    is_first, skipped = True, False
    for component in components:
        if component == "**":
            skipped = True
            continue
        if not is_first:
            result.read(_SLASH)
            if skipped:
                result.directories()
        _name(result, component)
        is_first, skipped = False, False
    result.end(components)
    return result


def _name(found: _Automaton, component: str) -> None:
    pieces = list(_pieces(component))
    if None in pieces:
        # A class that cannot be read (`[z-a]`) leaves the whole name as it is written.
        pieces = list(component)
    for piece in pieces:
        if piece is _RUN:
            found.loop()
        elif piece is not None:
            found.read(piece)


def _pieces(component: str) -> Iterator[_Read | None]:
    """Yield `_RUN`, `_ANY`, classes and characters; None for a class that cannot be read."""
    position = 0
    while position < len(component):
        character = component[position]
        position += 1
        if character == "\\" and position < len(component):
            yield component[position]
            position += 1
        elif character == "*":
            yield _RUN
        elif character == "?":
            yield _ANY
        elif character == "[" and (end := _class_end(component, position)):
            yield _class(component[position - 1 : end])
            position = end
        else:
            yield character


def _class_end(component: str, position: int) -> int:
    """Return where a class ends that was opened just before `position`; 0 where it does not."""
    start = position + (2 if component[position : position + 1] in ("!", "^") else 1)
    return component.find("]", start) + 1


def _class(wild: str) -> re.Pattern[str] | None:
    fits = compiled_pattern(wild, False)
    return None if fits.fullmatch(wild) else fits
