"""When to try again, and when to stop."""

from __future__ import annotations

from datetime import UTC, datetime
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agent.model.client import ModelError
from agent.recovery.classify import Failure, FailureKind, classify
from agent.recovery.retry import (
    GiveUp,
    PlannedRetry,
    RequestSource,
    RetryPolicy,
    backoff_s,
    heartbeat_chunks,
    policy_for,
)

OVERLOADED = Failure(FailureKind.OVERLOADED, True, "The model is overloaded.")
SERVER = Failure(FailureKind.SERVER, True, "The server failed.")


class Lowest(Random):
    def random(self) -> float:
        return 0.0


@pytest.mark.parametrize(
    ("attempt", "delay_s"), [(1, 0.5), (2, 1), (3, 2), (6, 16), (7, 32), (8, 32), (5000, 32)]
)
def test_delays_double_to_32_seconds(attempt: int, delay_s: float) -> None:
    assert backoff_s(attempt, Lowest()) == delay_s


@given(st.integers(1, 100), st.integers())
def test_jitter_adds_up_to_a_quarter(attempt: int, seed: int) -> None:
    base = backoff_s(attempt, Lowest())
    assert base <= backoff_s(attempt, Random(seed)) <= base * 1.25


def test_the_endpoints_wish_goes_first() -> None:
    for wish in (7.0, 300.0):
        planned = RetryPolicy().plan(1, replace(OVERLOADED, retry_after_s=wish), Random(1))
        assert isinstance(planned, PlannedRetry)
        assert planned.delay_s == wish


def test_a_wait_of_more_than_five_minutes_is_not_begun() -> None:
    long = replace(OVERLOADED, retry_after_s=301.0)
    assert isinstance(RetryPolicy().plan(1, long, Random(1)), GiveUp)
    waited = RetryPolicy(persistent=True).plan(1, long, Random(1))
    assert isinstance(waited, PlannedRetry)
    assert waited.delay_s == 301.0


def test_a_long_wait_is_named_with_its_end() -> None:
    error = ModelError("rate_limit_error", "Slow down", status=429, headers={"retry-after": "7800"})
    failure = classify(error, now=1_790_000_000)
    assert failure.asks_too_much
    end = datetime.fromtimestamp(1_790_007_800, UTC).astimezone()
    assert f"asks to wait until {end:%H:%M} (2 h 10 min)" in failure.text


def test_ten_retries_are_enough() -> None:
    policy = RetryPolicy()
    assert isinstance(policy.plan(10, SERVER, Random(1)), PlannedRetry)
    assert isinstance(policy.plan(11, SERVER, Random(1)), GiveUp)


def test_no_one_waits_long_where_nothing_listens() -> None:
    nothing = replace(SERVER, kind=FailureKind.UNREACHABLE)
    assert isinstance(RetryPolicy().plan(4, nothing, Random(1)), PlannedRetry)
    assert isinstance(RetryPolicy().plan(5, nothing, Random(1)), GiveUp)
    assert isinstance(RetryPolicy(persistent=True).plan(99, nothing, Random(1)), PlannedRetry)


def test_the_number_of_retries_depends_on_the_failure() -> None:
    assert RetryPolicy().retries(FailureKind.UNREACHABLE) == 4
    assert RetryPolicy().retries(FailureKind.OVERLOADED) == 10
    assert RetryPolicy(max_retries=2).retries(FailureKind.PROXY) == 2


def test_what_cannot_succeed_is_not_tried_again() -> None:
    failure = replace(SERVER, retryable=False)
    assert isinstance(RetryPolicy(persistent=True).plan(1, failure, Random(1)), GiveUp)


@pytest.mark.parametrize("source", list(RequestSource))
def test_only_listed_sources_are_retried(source: RequestSource) -> None:
    planned = policy_for(source).plan(1, OVERLOADED, Random(1))
    foreground = {RequestSource.MAIN, RequestSource.SUB_AGENT, RequestSource.COMPACTION}
    assert isinstance(planned, PlannedRetry) is (source in foreground)


def test_an_unattended_run_tries_for_six_hours() -> None:
    policy = RetryPolicy(persistent=True)
    long_wish = replace(OVERLOADED, retry_after_s=1e9)
    assert isinstance(policy.plan(10_000, SERVER, Random(1), elapsed_s=21_599), PlannedRetry)
    last = policy.plan(5, long_wish, Random(1), elapsed_s=21_000)
    assert isinstance(last, PlannedRetry)
    assert last.delay_s == 600
    assert isinstance(policy.plan(5, SERVER, Random(1), elapsed_s=21_600), GiveUp)


@given(st.floats(0, 100_000))
def test_long_waits_show_signs_of_life(delay_s: float) -> None:
    chunks = list(heartbeat_chunks(delay_s))
    assert sum(chunks) == pytest.approx(delay_s)
    assert all(0 < chunk <= 30 for chunk in chunks)
