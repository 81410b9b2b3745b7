"""The circuit breaker."""

from __future__ import annotations

from agent.recovery.breaker import WINDOW_S, Breaker, Breakers, BreakerState
from agent.recovery.classify import Failure, FailureKind

DOWN = Failure(FailureKind.SERVER, True, "down")
REJECTED = Failure(FailureKind.INVALID_REQUEST, False, "no")


def opened(at: float = 100.0) -> Breaker:
    breaker = Breaker()
    for _ in range(3):
        breaker = breaker.after_failure(DOWN, at)
    return breaker


def test_three_failed_operations_open_it() -> None:
    assert Breaker().after_failure(DOWN, 0).after_failure(DOWN, 0).state is BreakerState.CLOSED
    assert opened().state is BreakerState.OPEN


def test_it_opens_when_more_than_half_of_the_recent_operations_failed() -> None:
    breaker = Breaker()
    for outcome in (False, True, False, True):
        breaker = breaker.after_failure(DOWN, 0) if outcome else breaker.after_success(0)
    assert breaker.state is BreakerState.CLOSED
    assert breaker.failure_rate(0) == 0.5
    assert breaker.after_failure(DOWN, 0).state is BreakerState.OPEN


def test_operations_of_long_ago_do_not_count() -> None:
    good = Breaker()
    for _ in range(9):
        good = good.after_success(0)
    late = WINDOW_S + 1
    assert (
        good.after_failure(DOWN, 1).after_failure(DOWN, 1).after_failure(DOWN, 1).state
        is BreakerState.CLOSED
    )
    down = good.after_failure(DOWN, late).after_failure(DOWN, late).after_failure(DOWN, late)
    assert down.state is BreakerState.OPEN


def test_an_answer_of_any_kind_closes_it() -> None:
    assert opened().after_failure(REJECTED, 101.0) == Breaker()
    assert opened().after_success(101.0) == Breaker()


def test_while_open_nothing_is_tried() -> None:
    assert opened().admit(129.9) == (opened(), False)


def test_after_the_cooldown_one_probe_is_tried() -> None:
    probing, admitted = opened().admit(130.0)
    assert admitted
    assert probing.state is BreakerState.HALF_OPEN
    assert probing.admit(131.0) == (probing, False)


def test_a_failed_probe_opens_it_again_and_a_good_one_closes_it() -> None:
    probing, _ = opened().admit(130.0)
    again = probing.after_failure(DOWN, 135.0)
    assert (again.state, again.retry_at) == (BreakerState.OPEN, 165.0)
    assert probing.after_success(135.0) == Breaker()


def test_a_probe_that_no_one_reported_does_not_block_for_ever() -> None:
    probing, _ = opened().admit(130.0)
    assert probing.admit(160.0)[1]


def test_models_and_endpoints_have_breakers_of_their_own() -> None:
    breakers = Breakers()
    for _ in range(3):
        breakers.record_failure("a", "opus", DOWN, 0.0)
    assert not breakers.admit("a", "opus", 1.0)
    assert breakers.admit("b", "opus", 1.0)
    assert breakers.admit("a", "haiku", 1.0)
    breakers.record_success("a", "opus", 1.0)
    assert breakers.admit("a", "opus", 1.0)
