"""Errors of other providers, converted into `ModelError` with our kinds."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from agent.model.client import ModelError
from agent.model.dialects.json_members import array, record, text
from agent.model.failures import MAX_TEXT, from_status
from permissions.base.text.strict_json import without_surrogates

if TYPE_CHECKING:
    import httpx2

_KINDS: Final[Mapping[str, str]] = {
    "insufficient_quota": "billing_error",
    "insufficient_credits": "billing_error",
    "billing_hard_limit_reached": "billing_error",
    "rate_limit_exceeded": "rate_limit_error",
    "tokens": "rate_limit_error",
    "requests": "rate_limit_error",
    "resource_exhausted": "rate_limit_error",
    "invalid_api_key": "authentication_error",
    "api_key_invalid": "authentication_error",
    "unauthenticated": "authentication_error",
    # LiteLLM without a database knows only its master key, and fails to look up any other.
    "no_db_connection": "authentication_error",
    "permission_denied": "permission_error",
    "model_not_found": "not_found_error",
    "not_found": "not_found_error",
    "server_error": "api_error",
    "internal_server_error": "api_error",
    "internal": "api_error",
    "engine_overloaded": "overloaded_error",
    "server_overloaded": "overloaded_error",
    "slow_down": "overloaded_error",
    "unavailable": "overloaded_error",
    "deadline_exceeded": "timeout_error",
}
"""Code, type or status in lower case to the kind, which decides how to recover."""

_BY_NUMBER: Final[Mapping[int, str]] = {
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    408: "timeout_error",
    429: "rate_limit_error",
    529: "overloaded_error",
}


def response_failure(response: httpx2.Response, content: bytes) -> ModelError:
    """Return the error for a response with an error status."""
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        return from_status(response, content)
    # Gemini reports a failure of a stream as a list.
    first = body[0] if isinstance(body, list) and body else body
    error = record(first, "error") if isinstance(first, Mapping) else {}
    if not error:
        return from_status(response, content)
    status = response.status_code
    headers = dict(response.headers)
    delay = _retry_delay(error)
    if delay is not None:
        headers.setdefault("retry-after", delay)
    return ModelError(
        _kind(error) or f"http_{status}",
        _message(error),
        status=status,
        headers=headers,
        request_id=headers.get("x-request-id"),
        phase="headers",
    )


def stream_failure(error: object) -> ModelError:
    """Return the error that a record within a stream reports."""
    if isinstance(error, str):
        error = {"message": error}
    fields = error if isinstance(error, Mapping) else {}
    number = fields.get("code")
    by_number = _BY_NUMBER.get(number) if isinstance(number, int) else None
    kind = by_number or _kind(fields) or "api_error"
    message = _message(fields) or "The server reported an error without a message."
    return ModelError(kind, message, phase="stream")


def _kind(error: Mapping[str, object]) -> str:
    """Return our most specific kind; the provider's own code if none matches."""
    names = [text(info, "reason") for info in array(error, "details")]
    names += [text(error, name) for name in ("code", "status", "type")]
    for name in names:
        if name.lower() in _KINDS:
            return _KINDS[name.lower()]
    return next((name for name in names if name and not name.isdigit()), "")


def _message(error: Mapping[str, object]) -> str:
    message = str(without_surrogates(text(error, "message"))).strip()
    # OpenRouter puts the message of the upstream provider here.
    raw = text(record(error, "metadata"), "raw")
    if raw and raw not in message:
        message = f"{message} ({without_surrogates(raw).strip()})"
    return message[:MAX_TEXT]


def _retry_delay(error: Mapping[str, object]) -> str | None:
    """Return the delay in seconds that Google asks for, as text; None if there is none."""
    for info in array(error, "details"):
        delay = re.fullmatch(r"(\d+(?:\.\d+)?)s", text(info, "retryDelay"))
        if delay:
            return delay[1]
    return None
