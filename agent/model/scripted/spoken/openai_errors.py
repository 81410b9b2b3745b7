"""Errors in the format of OpenAI and compatible servers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

_CODES: Final[Mapping[str, str]] = {
    "authentication_error": "invalid_api_key",
    "not_found_error": "model_not_found",
    "rate_limit_error": "rate_limit_exceeded",
    "billing_error": "insufficient_quota",
    "api_error": "server_error",
    "overloaded_error": "server_overloaded",
}


def openai_error(status: int, error_type: str, message: str) -> dict[str, object]:
    """Return the record of an error."""
    kind = "invalid_request_error" if status < 500 and status != 429 else "server_error"
    is_overflow = "maximum context length" in message or "context window" in message
    code = "context_length_exceeded" if is_overflow else _CODES.get(error_type)
    return {"message": message, "type": kind, "param": None, "code": code}


def openai_error_body(status: int, error_type: str, message: str) -> str:
    """Return the body of a response with an error status."""
    return json.dumps({"error": openai_error(status, error_type, message)})
