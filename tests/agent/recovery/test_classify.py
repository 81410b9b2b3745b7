"""What a failed request means."""

from __future__ import annotations

import pytest

from agent.model.client import ModelError
from agent.recovery.classify import FailureKind, classify
from agent.recovery.overflow import ContextOverflow


def api(status: int, kind: str = "", message: str = "so", **headers: str) -> ModelError:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return ModelError(kind, message, status=status, headers=named, phase="headers")


K = FailureKind


@pytest.mark.parametrize(
    ("error", "kind", "retryable"),
    [
        (api(400, "invalid_request_error"), K.INVALID_REQUEST, False),
        (api(401, "authentication_error"), K.AUTHENTICATION, False),
        (api(400, "no_db_connection", "No connected db."), K.AUTHENTICATION, False),
        (api(402, "billing_error"), K.BILLING, False),
        (api(429, "insufficient_quota"), K.BILLING, False),
        (api(403, "permission_error"), K.PERMISSION, False),
        (api(404, "not_found_error", "model: gpt"), K.MODEL_NOT_FOUND, False),
        (api(404, "not_found_error", "Not Found"), K.NOT_FOUND, False),
        (api(404, "http_404", "model 'x' not found, try pulling it"), K.MODEL_NOT_FOUND, False),
        (api(400, "invalid_request_error", "Invalid model name 'x'"), K.MODEL_NOT_FOUND, False),
        (api(400, "http_400", "The model `x` does not exist."), K.MODEL_NOT_FOUND, False),
        (api(408, "timeout_error"), K.TIMEOUT, True),
        (api(409, "conflict_error"), K.CONFLICT, True),
        (api(413, "request_too_large"), K.TOO_LARGE, False),
        (api(422, "http_422"), K.INVALID_REQUEST, False),
        (api(429, "rate_limit_error"), K.RATE_LIMITED, True),
        (api(429, "enforced_spend_limit_reached"), K.BILLING, False),
        (api(429, "contract_spend_limit_reached"), K.BILLING, False),
        (api(429, "ramp_limit_exceeded"), K.RATE_LIMITED, True),
        (api(500, "api_error"), K.SERVER, True),
        (api(502, "http_502"), K.SERVER, True),
        (api(504, "http_504"), K.TIMEOUT, True),
        (api(529, "overloaded_error"), K.OVERLOADED, True),
        (api(418, "http_418"), K.INVALID_REQUEST, False),
        (api(500, "api_error", x_should_retry="false"), K.SERVER, False),
        (api(400, "invalid_request_error", x_should_retry="true"), K.INVALID_REQUEST, True),
        (ModelError("overloaded_error", "x", phase="stream"), K.OVERLOADED, True),
        (ModelError("connection", "x"), K.CONNECTION, True),
        (ModelError("unreachable", "x"), K.UNREACHABLE, True),
        (ModelError("timeout", "x"), K.TIMEOUT, True),
        (ModelError("stalled", "x", phase="stream"), K.STALLED, True),
        (ModelError("cut", "x", phase="stream"), K.CUT, True),
        (ModelError("malformed", "x", phase="stream"), K.MALFORMED, True),
        (ModelError("malformed", "a web page", phase="headers"), K.MALFORMED, False),
        (ModelError("not_configured", "x"), K.NOT_CONFIGURED, False),
        (ModelError("brand_new", "x"), K.UNKNOWN, False),
    ],
    ids=lambda value: f"{value.status} {value.kind}" if isinstance(value, ModelError) else None,
)
def test_kinds_and_retryability(error: ModelError, kind: FailureKind, retryable: bool) -> None:
    failure = classify(error)
    assert (failure.kind, failure.retryable) == (kind, retryable)


@pytest.mark.parametrize(
    "message",
    [
        "input length and `max_tokens` exceed context limit: 188,240 + 21333 > 200000, decrease",
        "This model's maximum context length is 200000 tokens. However, you requested 209573 "
        "tokens (188240 in the messages, 21333 in the completion).",
        "request (188240 tokens) exceeds the available context size (200000 tokens), try less",
    ],
)
def test_overflow_numbers_are_read(message: str) -> None:
    failure = classify(api(400, "invalid_request_error", message))
    assert failure.kind is K.CONTEXT_OVERFLOW
    assert failure.overflow == ContextOverflow(188_240, 200_000)
    assert failure.overflow.fitting_max_tokens() == 200_000 - 188_240 - 1_000


@pytest.mark.parametrize("status", [400, 413, 500])
def test_an_overflow_without_numbers_is_one_too(status: int) -> None:
    failure = classify(api(status, "invalid_request_error", "context_length_exceeded"))
    assert failure.overflow == ContextOverflow()
    assert failure.overflow.fitting_max_tokens() is None
    assert not failure.retryable


@pytest.mark.parametrize(
    ("room", "fits"), [(4_000, 3_000), (3_999, None), (100, None), (-5_000, None)]
)
def test_an_answer_under_3000_tokens_is_not_worth_it(room: int, fits: int | None) -> None:
    assert ContextOverflow(200_000 - room, 200_000).fitting_max_tokens() == fits


def test_too_large_a_max_tokens_gives_the_limit() -> None:
    message = "max_tokens: 128000 > 64000, which is the maximum allowed number of output tokens"
    assert classify(api(400, "invalid_request_error", message)).output_limit == 64_000


@pytest.mark.parametrize(
    ("message", "field"),
    [
        ("cache_control: Extra inputs are not permitted", "cache_control"),
        ("output_config: Extra inputs are not permitted", "effort"),
        ("adaptive thinking is not supported on this model", "thinking"),
        ("Unexpected value(s) `x` for the `anthropic-beta` header", "betas"),
    ],
)
def test_rejected_features_are_named(message: str, field: str) -> None:
    failure = classify(api(400, "invalid_request_error", message))
    assert (failure.kind, failure.unsupported_field) == (K.UNSUPPORTED, field)


def test_a_broken_signature_costs_the_earlier_thinking_alone() -> None:
    text = "messages.1.content.0: Invalid `signature` in `thinking` block"
    assert classify(api(400, "invalid_request_error", text)).unsupported_field == "kept_thinking"


def test_a_model_that_wants_lost_thinking_continues_without_any() -> None:
    text = (
        "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found "
        "`tool_use`. A final assistant message must start with a thinking block."
    )
    assert classify(api(400, "invalid_request_error", text)).unsupported_field == "thinking"


NOW = 1_800_000_000.0


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry_after": "7"}, 7.0),
        ({"retry_after": "0.5"}, 0.5),
        ({"retry_after_ms": "250", "retry_after": "7"}, 0.25),
        ({"retry_after": "Fri, 15 Jan 2027 08:00:30 GMT"}, 30.0),
        ({"retry_after": "Fri, 15 Jan 2027 07:00:00 GMT"}, None),
        ({"retry_after": "0"}, None),
        ({"retry_after": "-3"}, None),
        ({"retry_after": "soon"}, None),
        ({"retry_after": "nan"}, None),
        ({"retry_after": "inf"}, None),
        ({"retry_after": "1e400"}, None),
        ({"retry_after": "Fri, 99 Jan 99999 99:99:99 GMT"}, None),
        ({"retry_after": "4233600"}, None),
        ({}, None),
    ],
)
def test_the_wish_of_the_endpoint(headers: dict[str, str], seconds: float | None) -> None:
    error = api(429, "rate_limit_error", **headers)
    assert classify(error, now=NOW).retry_after_s == seconds


def test_nested_errors_are_one_line() -> None:
    assert classify(api(500, "api_error", "one\n\n  two")).message.endswith("(HTTP 500): one two")


@pytest.mark.parametrize("status", [401, 403, 404, 413])
def test_what_waiting_does_not_cure_has_a_hint(status: int) -> None:
    assert classify(api(status, f"http_{status}")).hint
