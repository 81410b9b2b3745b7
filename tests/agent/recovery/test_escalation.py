"""The escalation ladder."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agent.recovery.classify import Failure, FailureKind
from agent.recovery.escalation import (
    Degrade,
    Fail,
    RecoveryAction,
    RetryAfter,
    RetryState,
    SwitchModel,
    next_action,
)
from agent.recovery.overflow import ContextOverflow
from agent.recovery.retry import RequestSource, RetryPolicy, policy_for

OVERLOADED = Failure(FailureKind.OVERLOADED, True, "Overloaded.")
SERVER = Failure(FailureKind.SERVER, True, "Down.")
REJECTED = Failure(FailureKind.INVALID_REQUEST, False, "No.")
OVERFLOW = Failure(
    FailureKind.CONTEXT_OVERFLOW, False, "Too long.", overflow=ContextOverflow(190, 200)
)
FITTING = replace(OVERFLOW, overflow=ContextOverflow(180_000, 200_000))
NO_KEY = Failure(FailureKind.AUTHENTICATION, False, "Bad key.")
MAIN = policy_for(RequestSource.MAIN)


def actions(
    *failures: Failure,
    policy: RetryPolicy = MAIN,
    fallback: str | None = None,
    may_refresh: bool = False,
    without: frozenset[str] = frozenset(),
) -> list[RecoveryAction]:
    state = RetryState()
    taken: list[RecoveryAction] = []
    for failure in failures:
        state, action = next_action(
            state,
            failure,
            policy=policy,
            rng=Random(7),
            fallback_model=fallback,
            may_refresh=may_refresh,
            without=without,
        )
        if isinstance(action, Degrade):
            without |= {action.feature}
        taken.append(action)
    return taken


def kinds(taken: list[RecoveryAction]) -> list[str]:
    return [action.type for action in taken]


def test_a_passing_failure_is_retried_and_counted() -> None:
    first, second = actions(SERVER, SERVER)
    assert isinstance(first, RetryAfter)
    assert isinstance(second, RetryAfter)
    assert (first.attempt, second.attempt) == (2, 3)
    assert second.delay_s > first.delay_s


def test_three_overloads_in_a_row_call_another_model() -> None:
    taken = actions(OVERLOADED, SERVER, OVERLOADED, OVERLOADED, OVERLOADED, fallback="haiku")
    assert kinds(taken) == ["retry", "retry", "retry", "retry", "fall_back"]
    assert isinstance(taken[-1], SwitchModel)
    assert taken[-1].model == "haiku"


def test_one_fallback_is_all_there_is() -> None:
    taken = actions(*[OVERLOADED] * 14, fallback="haiku")
    assert kinds(taken) == ["retry"] * 2 + ["fall_back"] + ["retry"] * 10 + ["fail"]


def test_a_model_that_vanished_is_replaced() -> None:
    gone = Failure(FailureKind.MODEL_NOT_FOUND, False, "Gone.")
    assert kinds(actions(gone, fallback="haiku")) == ["fall_back"]
    assert kinds(actions(gone)) == ["fail"]


def test_background_requests_fail_at_once_and_never_fall_back() -> None:
    policy = policy_for(RequestSource.MEMORY)
    assert kinds(actions(OVERLOADED, policy=policy, fallback="haiku")) == ["fail"]


def test_an_overflow_with_room_asks_for_less_once() -> None:
    taken = actions(FITTING, FITTING)
    assert isinstance(taken[0], RetryAfter)
    assert (taken[0].max_tokens, taken[0].delay_s) == (19_000, 0.0)
    assert isinstance(taken[1], Fail)
    assert taken[1].failure.kind is FailureKind.CONTEXT_OVERFLOW


def test_an_overflow_without_room_fails_for_compaction_to_cure() -> None:
    assert kinds(actions(OVERFLOW)) == ["fail"]


def test_the_output_limit_of_the_model_is_learned() -> None:
    (action,) = actions(replace(REJECTED, output_limit=64_000))
    assert isinstance(action, RetryAfter)
    assert action.max_tokens == 64_000


def test_credentials_are_read_anew_once() -> None:
    taken = actions(NO_KEY, NO_KEY, may_refresh=True)
    assert isinstance(taken[0], RetryAfter)
    assert taken[0].refresh_credentials
    assert kinds(taken) == ["retry", "fail"]
    assert kinds(actions(NO_KEY)) == ["fail"]


def test_rejected_features_are_given_up_one_by_one() -> None:
    effort = Failure(FailureKind.UNSUPPORTED, False, "effort?", unsupported_field="effort")
    cache = replace(effort, unsupported_field="cache_control")
    taken = actions(effort, cache, effort)
    assert [action.feature for action in taken if isinstance(action, Degrade)] == [
        "effort",
        "cache_control",
    ]
    assert kinds(taken)[-1] == "fail"


def test_what_a_request_was_sent_without_is_not_given_up_again() -> None:
    effort = Failure(FailureKind.UNSUPPORTED, False, "effort?", unsupported_field="effort")
    assert kinds(actions(effort, without=frozenset({"effort"}))) == ["fail"]


def test_a_grammar_that_stays_too_large_costs_the_answers_schema() -> None:
    grammar = Failure(FailureKind.UNSUPPORTED, False, "grammar?", unsupported_field="strict")
    taken = actions(grammar, grammar, grammar)
    assert [action.feature for action in taken if isinstance(action, Degrade)] == [
        "strict",
        "output_schema",
    ]
    assert kinds(taken)[-1] == "fail"


def test_failing_says_how_often_it_was_tried() -> None:
    last = actions(*[SERVER] * 11)[-1]
    assert isinstance(last, Fail)
    assert last.text == "Down. Tried 11 times."


FAILURES = st.sampled_from([OVERLOADED, SERVER, FITTING, OVERFLOW, NO_KEY, REJECTED])


@given(st.lists(FAILURES, min_size=40, max_size=40), st.none() | st.just("haiku"), st.booleans())
def test_every_climb_ends(failures: list[Failure], fallback: str | None, refresh: bool) -> None:
    assert "fail" in kinds(actions(*failures, fallback=fallback, may_refresh=refresh))
