"""A simulation of prompt caching: what a request would read from and write to the cache."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypedDict

from agent.model.scripted.prefix import PrefixChain

LOOK_BACK_UNITS: Final = 20
"""How many blocks before a mark an earlier entry is found (prompt caching documentation)."""

TTL_S: Final[Mapping[str, float]] = {"5m": 300.0, "1h": 3600.0}


class CacheWrites(TypedDict):
    """Tokens written to the cache, by the requested lifetime."""

    ephemeral_5m_input_tokens: int
    ephemeral_1h_input_tokens: int


class CacheUsage(TypedDict):
    """The input side of a response's usage record."""

    input_tokens: int
    cache_creation_input_tokens: int
    cache_read_input_tokens: int
    cache_creation: CacheWrites
    service_tier: str


class CacheSimulation:
    """Remembers marked prefixes for their lifetime."""

    def __init__(self, clock: Callable[[], float], *, min_tokens: int) -> None:
        """`clock` gives seconds; prefixes shorter than `min_tokens` are not cached."""
        self._clock = clock
        self._min_tokens = min_tokens
        self._expiry: dict[tuple[str, str], float] = {}

    def usage(self, body: Mapping[str, object], chain: PrefixChain) -> CacheUsage:
        """Return the input side of this request's usage record, and store its marked prefixes."""
        model = str(body.get("model"))
        now = self._clock()
        ends: list[int] = []
        total = 0
        for unit in chain.units:
            total += unit.tokens
            ends.append(total)
        marks = {
            index: _ttl(unit.block.get("cache_control"))
            for index, unit in enumerate(chain.units)
            if unit.is_marked
        }
        if body.get("cache_control") and ends:
            marks[len(ends) - 1] = _ttl(body["cache_control"])
        marks = {index: ttl for index, ttl in marks.items() if ends[index] >= self._min_tokens}
        read_to = max((self._find_unit(model, chain, mark, now) for mark in marks), default=-1)
        read = ends[read_to] if read_to >= 0 else 0
        writes = {"5m": 0, "1h": 0}
        end = read
        for index, ttl in sorted(marks.items()):
            writes[ttl] += max(0, ends[index] - end)
            end = max(end, ends[index])
            self._expiry[model, chain.units[index].digest] = now + TTL_S[ttl]
        return {
            "input_tokens": total - end,
            "cache_creation_input_tokens": writes["5m"] + writes["1h"],
            "cache_read_input_tokens": read,
            "cache_creation": {
                "ephemeral_5m_input_tokens": writes["5m"],
                "ephemeral_1h_input_tokens": writes["1h"],
            },
            "service_tier": "standard",
        }

    def _find_unit(self, model: str, chain: PrefixChain, mark: int, now: float) -> int:
        """Return the last unit's index of the longest cached prefix for a mark; -1 for none."""
        for index in range(mark, max(-1, mark - LOOK_BACK_UNITS - 1), -1):
            if self._expiry.get((model, chain.units[index].digest), -1.0) >= now:
                return index
        return -1


def _ttl(mark: object) -> str:
    ttl = mark.get("ttl", "5m") if isinstance(mark, Mapping) else "5m"
    return ttl if ttl in TTL_S else "5m"
