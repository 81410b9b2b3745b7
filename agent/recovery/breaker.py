"""A circuit breaker per endpoint: while it is open, requests are not even tried."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from agent.recovery.classify import Failure, FailureKind

FAILURE_LIMIT: Final = 3
"""Operations in a row, each with its retries used up, that open the breaker."""

COOLDOWN_S: Final = 30.0


class BreakerState(StrEnum):
    """Closed lets requests through, open none, half-open one."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


class Breaker(Struct, frozen=True):
    """State of one endpoint, replaced at every change. Times are seconds of a monotonic clock.

    It counts operations, not attempts: it is above the retries of one operation and prevents the
    next one from spending its own on a server that is known to be down.
    """

    state: BreakerState = BreakerState.CLOSED
    failures: int = 0
    retry_at: float = 0.0
    """When an open breaker lets a probe through."""
    cooldown_s: float = COOLDOWN_S
    failure_limit: int = FAILURE_LIMIT

    def admit(self, now: float) -> tuple[Breaker, bool]:
        """Return the next state and whether a request may be tried now.

        The one request that a cooled-down breaker admits is a probe: until it is recorded as a
        success or a failure no other is admitted, and for one more cool-down at most.
        """
        if self.state is BreakerState.CLOSED:
            return self, True
        if now < self.retry_at:
            return self, False
        probing = replace(self, state=BreakerState.HALF_OPEN, retry_at=now + self.cooldown_s)
        return probing, True

    def succeeded(self) -> Breaker:
        """Return the closed breaker."""
        return replace(self, state=BreakerState.CLOSED, failures=0, retry_at=0.0)

    def failed(self, failure: Failure, now: float) -> Breaker:
        """Return the state after an operation failed for good; only outages count."""
        if failure.kind not in OUTAGES:
            # The endpoint answered: it is there, whatever it thought of the request.
            return self.succeeded()
        failures = self.failures + 1
        if self.state is BreakerState.HALF_OPEN or failures >= self.failure_limit:
            return replace(
                self,
                state=BreakerState.OPEN,
                failures=failures,
                retry_at=now + self.cooldown_s,
            )
        return replace(self, failures=failures)


OUTAGES: Final = frozenset(
    {
        FailureKind.OVERLOADED,
        FailureKind.SERVER,
        FailureKind.TIMEOUT,
        FailureKind.CONNECTION,
        FailureKind.UNREACHABLE,
        FailureKind.STALLED,
        FailureKind.CUT,
        FailureKind.MALFORMED,
    }
)


class Breakers:
    """The breakers of all endpoints in use, by base URL."""

    def __init__(self) -> None:
        """Start with every endpoint closed."""
        self._by_endpoint: dict[str, Breaker] = {}

    def get(self, endpoint: str) -> Breaker:
        """Return the endpoint's breaker."""
        return self._by_endpoint.get(endpoint, Breaker())

    def admit(self, endpoint: str, now: float) -> bool:
        """Return whether a request to the endpoint may be tried now."""
        self._by_endpoint[endpoint], admitted = self.get(endpoint).admit(now)
        return admitted

    def succeeded(self, endpoint: str) -> None:
        """Note that an operation succeeded."""
        self._by_endpoint[endpoint] = self.get(endpoint).succeeded()

    def failed(self, endpoint: str, failure: Failure, now: float) -> None:
        """Note that an operation failed for good."""
        self._by_endpoint[endpoint] = self.get(endpoint).failed(failure, now)
