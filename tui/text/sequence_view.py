"""A view of several sequences as one, without copying them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, chain
from typing import TypeVar, overload

Item = TypeVar("Item", covariant=True)


class SequenceView(Sequence[Item]):
    """Behaves like the concatenation of its parts; a slice copies only its own items."""

    def __init__(self, parts: Sequence[Sequence[Item]]) -> None:
        """`parts` must not change."""
        self._parts = parts
        self._ends = list(accumulate(map(len, parts)))

    def __len__(self) -> int:
        """Return the number of items in all parts."""
        return self._ends[-1] if self._ends else 0

    def __iter__(self) -> Iterator[Item]:
        """Iterate over the items of all parts."""
        return chain.from_iterable(self._parts)

    @overload
    def __getitem__(self, index: int) -> Item: ...
    @overload
    def __getitem__(self, index: slice) -> list[Item]: ...
    def __getitem__(self, index: int | slice) -> Item | list[Item]:
        """Return an item, or a list for a slice."""
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            if step != 1:
                return [self[number] for number in range(start, stop, step)]
            items: list[Item] = []
            for part, end in zip(self._parts, self._ends, strict=True):
                first = end - len(part)
                items.extend(part[max(0, start - first) : max(0, stop - first)])
            return items
        number = index + len(self) if index < 0 else index
        if not 0 <= number < len(self):
            raise IndexError(index)
        place = bisect_right(self._ends, number)
        return self._parts[place][number - self._ends[place]]
