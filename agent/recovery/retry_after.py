"""How long the endpoint asks to wait: headers in seconds, fractions, milliseconds or dates."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

MAX_RETRY_AFTER_S: Final = 300.0
"""Longest wait that a turn waits out when an endpoint asks for it; a longer one ends the turn."""

LONGEST_S: Final = 31 * 86_400.0
"""A longer wait is ignored: one of the clocks must be wrong."""


def retry_after_s(headers: Mapping[str, str], now: float) -> float | None:
    """Return the seconds to wait from `now` on (Unix time); None without a usable value.

    `retry-after-ms` takes precedence over `retry-after`. Zero, times in the past, more than 31 days
    and values that cannot be parsed are ignored.
    """
    for value, unit_s in (
        (headers.get("retry-after-ms"), 0.001),
        (headers.get("retry-after"), 1.0),
    ):
        seconds = _number(value, unit_s)
        if seconds is None and value is not None and unit_s == 1.0:
            seconds = _seconds_until(value, now)
        if seconds is not None and 0 < seconds <= LONGEST_S:
            return seconds
    return None


def wait_words(seconds: float, now: float) -> str:
    """Return a wait from `now` on (Unix time) with its end in local time, for users."""
    minutes = math.ceil(seconds / 60)
    hours, rest = divmod(minutes, 60)
    amount = f"{hours} h {rest} min" if hours else f"{minutes} min"
    end = datetime.fromtimestamp(now + seconds, UTC).astimezone()
    return f"until {end:%H:%M} ({amount})" if hours < 24 else f"until {end:%d %B, %H:%M}"


def _number(value: str | None, unit_s: float) -> float | None:
    try:
        number = float(value or "")
    except ValueError:
        return None
    return number * unit_s if math.isfinite(number) else None


def _seconds_until(value: str, now: float) -> float | None:
    try:
        when = parsedate_to_datetime(value)
        if when.tzinfo is None:
            when = when.replace(tzinfo=UTC)
        return when.timestamp() - now
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
