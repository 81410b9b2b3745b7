"""A circuit breaker per endpoint and model: while it is open, no user waits for a server that is
known to be down."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from agent.recovery.classify import Failure, FailureKind

FAILURE_RATE: Final = 0.5
"""Share of failed operations above which it opens."""

MIN_OPERATIONS: Final = 3
"""With fewer recent operations the breaker stays closed."""

WINDOW_S: Final = 300.0
"""How long an operation counts."""

MAX_OPERATIONS: Final = 20
COOLDOWN_S: Final = 30.0


class BreakerState(StrEnum):
    """Closed admits all requests, open none, half-open one."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


class Operation(Struct, frozen=True):
    """How one request ended, its retries included."""

    at_s: float
    is_failure: bool


class Breaker(Struct, frozen=True):
    """The breaker of one model of an endpoint; immutable. Times are from a monotonic clock.

    It counts operations, not attempts: an operation includes its retries, and the breaker spares
    the next operation retries against a server that is known to be down.
    """

    state: BreakerState = BreakerState.CLOSED
    operations: tuple[Operation, ...] = ()
    """The latest ones, oldest first."""
    retry_at: float = 0.0
    """When an open breaker lets a probe through."""
    last_failure: Failure | None = None
    cooldown_s: float = COOLDOWN_S

    def failure_rate(self, now: float) -> float:
        """Return the share of recent operations that failed; 0 if there are too few."""
        recent = [o.is_failure for o in self.operations if now - o.at_s <= WINDOW_S]
        return sum(recent) / len(recent) if len(recent) >= MIN_OPERATIONS else 0.0

    def admit(self, now: float) -> tuple[Breaker, bool]:
        """Return the next state and whether a request may be tried now.

        The one request that a cooled-down breaker admits is a probe: until it is recorded as a
        success or a failure no other is admitted, and for one more cool-down at most.
        """
        if self.state is BreakerState.CLOSED:
            return self, True
        if now < self.retry_at:
            return self, False
        return self.probing(now), True

    def probing(self, now: float) -> Breaker:
        """Return the state while one request tries whether the server is back."""
        return replace(self, state=BreakerState.HALF_OPEN, retry_at=now + self.cooldown_s)

    def after_success(self, now: float) -> Breaker:
        """Return the state after a success; that of a probe closes the breaker."""
        if self.state is not BreakerState.CLOSED:
            return Breaker(cooldown_s=self.cooldown_s)
        return self._with_operation(Operation(now, is_failure=False))

    def after_failure(self, failure: Failure, now: float) -> Breaker:
        """Return the state after an operation failed for good; only outages count."""
        if failure.kind not in OUTAGES:
            # The endpoint responded, so it is up, even if it rejected the request.
            return self.after_success(now)
        next_state = replace(
            self._with_operation(Operation(now, is_failure=True)), last_failure=failure
        )
        is_probe = self.state is BreakerState.HALF_OPEN
        if is_probe or next_state.failure_rate(now) > FAILURE_RATE:
            return replace(next_state, state=BreakerState.OPEN, retry_at=now + self.cooldown_s)
        return next_state

    def _with_operation(self, operation: Operation) -> Breaker:
        return replace(self, operations=(*self.operations, operation)[-MAX_OPERATIONS:])


OUTAGES: Final = frozenset(
    {
        FailureKind.OVERLOADED,
        FailureKind.SERVER,
        FailureKind.TIMEOUT,
        FailureKind.CONNECTION,
        FailureKind.UNREACHABLE,
        FailureKind.PROXY,
        FailureKind.STALLED,
        FailureKind.CUT,
        FailureKind.MALFORMED,
    }
)


class Breakers:
    """The breakers of all models in use, by base URL and model."""

    def __init__(self) -> None:
        """Start with every one closed."""
        self._by_model: dict[tuple[str, str], Breaker] = {}

    def get(self, endpoint: str, model: str) -> Breaker:
        """Return the model's breaker."""
        return self._by_model.get((endpoint, model), Breaker())

    def admit(self, endpoint: str, model: str, now: float) -> bool:
        """Return whether a request may be tried now."""
        next_state, is_admitted = self.get(endpoint, model).admit(now)
        self._by_model[endpoint, model] = next_state
        return is_admitted

    def probe(self, endpoint: str, model: str, now: float) -> None:
        """Record that one request is tried although the breaker is open."""
        self._by_model[endpoint, model] = self.get(endpoint, model).probing(now)

    def record_success(self, endpoint: str, model: str, now: float) -> None:
        """Record that an operation succeeded."""
        self._by_model[endpoint, model] = self.get(endpoint, model).after_success(now)

    def record_failure(self, endpoint: str, model: str, failure: Failure, now: float) -> None:
        """Record that an operation failed for good."""
        self._by_model[endpoint, model] = self.get(endpoint, model).after_failure(failure, now)
