"""The escalation ladder: after a failed request, the cheapest action that may still help.

Retry costs time, falling back costs quality, degrading costs a feature, failing costs the turn
(error-recovery). The ladder only decides; the code that sends requests acts on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from agent.recovery.classify import Failure, FailureKind
from agent.recovery.retry import GiveUp, RetryPolicy

OVERLOADS_BEFORE_FALLBACK: Final = 3
"""Overload errors in a row after which another model takes over."""


class RetryAfter(Struct, frozen=True):
    """Send the request again, after a wait and with the changes given here."""

    delay_s: float
    attempt: int
    """The attempt that comes next; 2 after the first failure."""
    reason: str
    max_tokens: int | None = None
    """New value for the next attempt; None keeps the old one."""
    refresh_credentials: bool = False
    """Read the key again first."""
    failure: Failure | None = None
    """What the request failed with."""
    type: Literal["retry"] = "retry"


class SwitchModel(Struct, frozen=True):
    """Send the request to another model, for the rest of the turn."""

    model: str
    reason: str
    type: Literal["fall_back"] = "fall_back"


class Degrade(Struct, frozen=True):
    """Send the request again without a feature that the endpoint does not accept."""

    feature: str
    """A feature as named in `agent.recovery.classify`, such as `cache_control`."""
    reason: str
    type: Literal["degrade"] = "degrade"


class Fail(Struct, frozen=True):
    """Nothing is left to try. `failure.kind` separates an overflow, which compaction can fix, from
    the rest."""

    failure: Failure
    attempts: int
    reason: str
    type: Literal["fail"] = "fail"

    @property
    def text(self) -> str:
        """What failed, how often it was tried and what to do, for users."""
        attempts_text = f" Tried {self.attempts} times." if self.attempts > 1 else ""
        return f"{self.failure.text}{attempts_text}"


RecoveryAction = RetryAfter | SwitchModel | Degrade | Fail


class RetryState(Struct, frozen=True):
    """The failures of one request so far."""

    attempts: int = 0
    """Failed attempts, on the current model."""
    overloads: int = 0
    """How many of the last attempts in a row failed with an overload."""
    elapsed_s: float = 0.0
    """Since the first attempt."""
    is_refreshed: bool = False
    is_resized: bool = False
    fell_back_to: frozenset[str] = frozenset()


def next_action(
    state: RetryState,
    failure: Failure,
    *,
    policy: RetryPolicy,
    rng: Random,
    elapsed_s: float = 0.0,
    fallback_model: str | None = None,
    may_refresh: bool = False,
    without: frozenset[str] = frozenset(),
) -> tuple[RetryState, RecoveryAction]:
    """Return the action after a failed attempt, and the state that results.

    Args:
        state: of this request; a new `RetryState` for its first failure.
        failure: why the attempt failed.
        policy: the policy of the request's source.
        rng: for the jitter.
        elapsed_s: seconds since the request's first attempt.
        fallback_model: another model, different from the one in use; None when there is none left.
        may_refresh: whether reading the credentials again may give another key.
        without: the features that the request was sent without.
    """
    overloads = state.overloads + 1 if failure.kind is FailureKind.OVERLOADED else 0
    state = replace(state, attempts=state.attempts + 1, overloads=overloads, elapsed_s=elapsed_s)
    fix = _fix(state, failure, may_refresh, without)
    if fix is not None:
        return fix
    can_fall_back = fallback_model is not None and fallback_model not in state.fell_back_to
    is_overloaded = state.overloads >= OVERLOADS_BEFORE_FALLBACK and policy.retry_capacity
    if fallback_model is not None and can_fall_back and is_overloaded:
        return _fall_back(state, fallback_model, failure)
    plan = policy.plan(state.attempts, failure, rng, elapsed_s=elapsed_s)
    if not isinstance(plan, GiveUp):
        return state, RetryAfter(plan.delay_s, state.attempts + 1, plan.reason, failure=failure)
    may_fall_back = failure.retryable or failure.kind is FailureKind.MODEL_NOT_FOUND
    if fallback_model is not None and can_fall_back and may_fall_back and policy.retry_capacity:
        return _fall_back(state, fallback_model, failure)
    return state, Fail(failure, state.attempts, plan.reason)


_FEATURES: Final[Mapping[str, str]] = {
    "kept_thinking": "thinking of earlier answers",
    "signed_compaction": "the summary of the conversation as it was signed",
    "output_schema": "a schema for its answer",
    "strict": "strict tool schemas",
    "stream_options": "token counts in the stream",
    "context_management": "clearing of old tool results",
    "code_calls": "calls of tools from code",
}


def _fix(
    state: RetryState, failure: Failure, may_refresh: bool, without: frozenset[str]
) -> tuple[RetryState, RecoveryAction] | None:
    """Return the action for a failure that a changed request can fix; each fix is tried once."""
    next_attempt = state.attempts + 1
    if failure.kind is FailureKind.AUTHENTICATION and may_refresh and not state.is_refreshed:
        action = RetryAfter(0.0, next_attempt, failure.message, refresh_credentials=True)
        return replace(state, is_refreshed=True), action
    fitting = failure.output_limit or (failure.overflow and failure.overflow.fitting_max_tokens())
    if fitting and not state.is_resized:
        action = RetryAfter(0.0, next_attempt, failure.message, max_tokens=fitting, failure=failure)
        return replace(state, is_resized=True), action
    feature = failure.unsupported_field
    if feature == "strict" and feature in without:
        # Tool and answer schemas are compiled together; the error does not say which is too large.
        feature = "output_schema"
    if feature is not None and feature not in without:
        words = _FEATURES.get(feature, feature)
        return state, Degrade(feature, f"The server does not accept {words}.")
    return None


def _fall_back(
    state: RetryState, model: str, failure: Failure
) -> tuple[RetryState, RecoveryAction]:
    models = state.fell_back_to | {model}
    state = replace(state, attempts=0, overloads=0, fell_back_to=models)
    return state, SwitchModel(model, failure.message)
