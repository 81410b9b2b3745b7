"""When to try again: backoff with jitter, the endpoint's own delay, and when to stop."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from random import Random
from typing import Final

from msgspec import Struct

from agent.recovery.classify import CAPACITY, Failure, FailureKind

BASE_DELAY_S: Final = 0.5
MAX_DELAY_S: Final = 32.0
JITTER: Final = 0.25
"""Largest random part, as a share of the delay (error-recovery)."""

MAX_RETRIES: Final = 10
"""Retries if neither a kind of failure nor the user sets another number."""

FEW_RETRIES: Final = 4
"""Retries if nothing listens or the response is malformed: enough for a server that is starting,
too few to delay a user whose server does not exist."""

_FEW: Final = frozenset({FailureKind.UNREACHABLE, FailureKind.PROXY, FailureKind.MALFORMED})

PERSISTENT_LIMIT_S: Final = 6 * 3600.0
"""When an unattended run gives up (error-recovery)."""

HEARTBEAT_S: Final = 30.0
"""Longest sleep in an unattended run without a sign of life (error-recovery)."""


class RequestSource(StrEnum):
    """Who waits for a request's answer."""

    MAIN = "main_agent"
    SUB_AGENT = "sub_agent"
    COMPACTION = "compaction"
    CLASSIFIER = "classifier"
    HOOK = "hook"
    MEMORY = "memory"


FOREGROUND: Final = frozenset(
    {RequestSource.MAIN, RequestSource.SUB_AGENT, RequestSource.COMPACTION}
)
"""Sources whose answer a user waits for. All others fail at once when the endpoint is short of
capacity: retrying them would make it worse, and no user would notice the gain."""


class PlannedRetry(Struct, frozen=True):
    """Try again after the delay."""

    delay_s: float
    reason: str


class GiveUp(Struct, frozen=True):
    """Do not try again."""

    reason: str


class RetryPolicy(Struct, frozen=True):
    """How often a request is retried, and for how long."""

    max_retries: int = MAX_RETRIES
    retry_capacity: bool = True
    persistent: bool = False
    """Unattended run: the time is limited, not the number of retries."""
    probes_at_once: bool = False
    """Try once although the breaker is open, because a user has just asked."""

    def plan(
        self, attempt: int, failure: Failure, rng: Random, *, elapsed_s: float = 0.0
    ) -> PlannedRetry | GiveUp:
        """Return what to do after a failed attempt.

        Args:
            attempt: the one that failed, from 1.
            failure: why.
            rng: for the jitter.
            elapsed_s: since the first attempt.
        """
        if not failure.retryable:
            return GiveUp("another attempt would not help")
        if failure.kind in CAPACITY and not self.retry_capacity:
            return GiveUp(
                "the endpoint is short of capacity, and no user is waiting for this answer"
            )
        if self.persistent:
            left_s = PERSISTENT_LIMIT_S - elapsed_s
            if left_s <= 0:
                return GiveUp("the request was retried for six hours")
            return PlannedRetry(min(self._delay_s(attempt, failure, rng), left_s), failure.message)
        if failure.asks_too_much:
            return GiveUp("the endpoint asks for a longer wait than a turn allows")
        if attempt > self.retries(failure.kind):
            return GiveUp(f"failed {attempt} times")
        return PlannedRetry(self._delay_s(attempt, failure, rng), failure.message)

    def retries(self, kind: FailureKind) -> int:
        """Return how often a request is sent again after failures of this kind."""
        return min(FEW_RETRIES, self.max_retries) if kind in _FEW else self.max_retries

    def _delay_s(self, attempt: int, failure: Failure, rng: Random) -> float:
        if failure.retry_after_s is not None:
            return failure.retry_after_s
        return backoff_s(attempt, rng)


def backoff_s(attempt: int, rng: Random) -> float:
    """Return the wait after the `attempt`-th failure: 0.5 s doubling to 32 s, up to 25 % more."""
    # The exponent is bounded before it is used: 2.0**2000 does not fit a float.
    delay = min(BASE_DELAY_S * 2.0 ** min(attempt - 1, 16), MAX_DELAY_S)
    return delay + rng.random() * JITTER * delay


def policy_for(
    source: RequestSource, *, persistent: bool = False, max_retries: int = MAX_RETRIES
) -> RetryPolicy:
    """Return the policy of a source; only those listed as foreground are retried."""
    if source in FOREGROUND:
        is_main = source is RequestSource.MAIN
        return RetryPolicy(max_retries, persistent=persistent, probes_at_once=is_main)
    return RetryPolicy(max_retries=0, retry_capacity=False)


def heartbeat_chunks(delay_s: float) -> Iterator[float]:
    """Yield sleeps of at most 30 s that add up to a wait; nothing for a wait of zero."""
    remaining_s = delay_s
    while remaining_s > 0:
        yield min(HEARTBEAT_S, remaining_s)
        remaining_s -= HEARTBEAT_S
