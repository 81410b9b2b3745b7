"""How long the endpoint asks to wait: headers in seconds, fractions, milliseconds or dates."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime


def retry_after_s(headers: Mapping[str, str], now: float) -> float | None:
    """Return the seconds to wait from `now` on (Unix time); None without a usable value.

    `retry-after-ms` goes before `retry-after`. Zero, the past, and what is no number count as no
    preference. There is no upper bound here: the retry policy has one.
    """
    for value, unit_s in (
        (headers.get("retry-after-ms"), 0.001),
        (headers.get("retry-after"), 1.0),
    ):
        seconds = _number(value, unit_s)
        if seconds is None and value is not None and unit_s == 1.0:
            seconds = _until(value, now)
        if seconds is not None and seconds > 0:
            return seconds
    return None


def _number(value: str | None, unit_s: float) -> float | None:
    try:
        number = float(value or "")
    except ValueError:
        return None
    return number * unit_s if math.isfinite(number) else None


def _until(value: str, now: float) -> float | None:
    try:
        when = parsedate_to_datetime(value)
        if when.tzinfo is None:
            when = when.replace(tzinfo=UTC)
        return when.timestamp() - now
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
