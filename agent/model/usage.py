"""Usage records of the endpoint read into `Usage`: absent counts keep what was known before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from agent.events import Usage

MOST_TOKENS: Final = 10**12
"""A larger count makes no sense, and sums of such counts fit no database."""


def read_usage(record: Mapping[str, Any], known: Usage | None = None) -> Usage:
    """Return `known` with every count that the record has; counts that make no sense are skipped.

    Records of one response are cumulative: a later number replaces the earlier one.
    """
    base = known or Usage()
    write_5m, write_1h = _cache_writes(record, base)
    details = record.get("output_tokens_details")
    thinking = _count(details if isinstance(details, Mapping) else {}, "thinking_tokens")
    return Usage(
        input_tokens=_or(_count(record, "input_tokens"), base.input_tokens),
        output_tokens=_or(_count(record, "output_tokens"), base.output_tokens),
        cache_read_tokens=_or(_count(record, "cache_read_input_tokens"), base.cache_read_tokens),
        cache_write_5m_tokens=write_5m,
        cache_write_1h_tokens=write_1h,
        thinking_tokens=_or(thinking, base.thinking_tokens),
    )


def _cache_writes(record: Mapping[str, Any], base: Usage) -> tuple[int, int]:
    """Return the 5-minute and 1-hour writes; a total without its split counts as 5 minutes."""
    known = (base.cache_write_5m_tokens, base.cache_write_1h_tokens)
    split = record.get("cache_creation")
    if isinstance(split, Mapping):
        return (
            _or(_count(split, "ephemeral_5m_input_tokens"), known[0]),
            _or(_count(split, "ephemeral_1h_input_tokens"), known[1]),
        )
    total = _count(record, "cache_creation_input_tokens")
    if total is None or total == sum(known):
        return known
    return max(0, total - known[1]), min(known[1], total)


def _count(record: Mapping[str, Any], name: str) -> int | None:
    value = record.get(name)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_TOKENS:
        return value
    return None


def _or(value: int | None, fallback: int) -> int:
    return fallback if value is None else value
