"""What a failed model request means: its kind, whether a retry can help, and texts for users."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from msgspec import Struct

from agent.model.client import ModelError
from agent.recovery.overflow import ContextOverflow, parse_output_limit, parse_overflow
from agent.recovery.retry_after import MAX_RETRY_AFTER_S, retry_after_s, wait_words


class FailureKind(StrEnum):
    """What went wrong."""

    OVERLOADED = "overloaded"
    RATE_LIMITED = "rate_limited"
    SERVER = "server"
    TIMEOUT = "timeout"
    CONNECTION = "connection"
    UNREACHABLE = "unreachable"
    PROXY = "proxy"
    STALLED = "stalled"
    CUT = "cut"
    MALFORMED = "malformed"
    CONFLICT = "conflict"
    AUTHENTICATION = "authentication"
    PERMISSION = "permission"
    BILLING = "billing"
    MODEL_NOT_FOUND = "model_not_found"
    NOT_FOUND = "not_found"
    REDIRECTED = "redirected"
    INSECURE = "insecure"
    TOO_LARGE = "too_large"
    CONTEXT_OVERFLOW = "context_overflow"
    UNSUPPORTED = "unsupported"
    INVALID_REQUEST = "invalid_request"
    NOT_CONFIGURED = "not_configured"
    UNKNOWN = "unknown"


CAPACITY: Final = frozenset({FailureKind.OVERLOADED, FailureKind.RATE_LIMITED})
"""Kinds of failure that further requests make worse."""

_TRANSIENT: Final = frozenset(
    {
        FailureKind.OVERLOADED,
        FailureKind.RATE_LIMITED,
        FailureKind.SERVER,
        FailureKind.TIMEOUT,
        FailureKind.CONNECTION,
        FailureKind.UNREACHABLE,
        FailureKind.PROXY,
        FailureKind.STALLED,
        FailureKind.CUT,
        FailureKind.MALFORMED,
        FailureKind.CONFLICT,
    }
)


class Failure(Struct, frozen=True):
    """The classification of one failed request."""

    kind: FailureKind
    retryable: bool
    """Whether the same request, sent again later, may succeed."""
    message: str
    """What failed, for users."""
    hint: str = ""
    """What to do about it; empty if the user can only wait."""
    retry_after_s: float | None = None
    """The wait that the endpoint asks for, in seconds; None if it states none."""
    overflow: ContextOverflow | None = None
    output_limit: int | None = None
    """The model's largest `max_tokens`, when asking for more was the failure."""
    unsupported_field: str | None = None
    """The request field that the endpoint does not accept, if that was the failure."""
    status: int | None = None
    request_id: str | None = None

    @property
    def asks_too_much(self) -> bool:
        """Whether the endpoint asks for a longer wait than a turn allows."""
        return self.retry_after_s is not None and self.retry_after_s > MAX_RETRY_AFTER_S

    @property
    def text(self) -> str:
        """Message and hint as sentences."""
        message = self.message if self.message.endswith((".", "!", "?")) else f"{self.message}."
        return f"{message} {self.hint}".strip()


def classify(error: ModelError, *, now: float = 0.0) -> Failure:
    """Return what the error means.

    Args:
        error: as the client raised it.
        now: Unix time, for `retry-after` headers that hold a date.
    """
    wait_s = retry_after_s(error.headers, now)
    overflow = parse_overflow(str(error)) if error.status in (None, 400, 413, 422, 500) else None
    limit = parse_output_limit(str(error)) if error.status in (400, 422) else None
    unsupported_field = _unsupported_part(error) if error.status in (400, 422) else None
    kind = _kind(error, overflow, unsupported_field)
    return Failure(
        kind=kind,
        retryable=_retryable(error, kind),
        message=_message(kind, error),
        hint=_long_wait(wait_s, now) or _hint(kind, error),
        retry_after_s=wait_s,
        overflow=overflow if kind is FailureKind.CONTEXT_OVERFLOW else None,
        output_limit=limit,
        unsupported_field=unsupported_field if kind is FailureKind.UNSUPPORTED else None,
        status=error.status,
        request_id=error.request_id,
    )


def _hint(kind: FailureKind, error: ModelError) -> str:
    """Return what to do, naming the settings of the endpoint's key and address."""
    schema = re.search(_REFUSED_SCHEMA, str(error), re.IGNORECASE)
    refusals = (FailureKind.INVALID_REQUEST, FailureKind.UNSUPPORTED)
    if kind in refusals and schema is not None:
        answer = "the answer: change it, or use another model."
        tool = f"{schema['tool']}: switch that tool off (--disallowedTools), or use another model."
        whose = tool if schema["tool"] else answer
        return f"This model's server does not accept the schema of {whose}"
    names = error.names
    return _HINTS.get(kind, "").format(key=names.key, address=names.address, api=names.api)


_REFUSED_SCHEMA: Final = (
    r"invalid (?:json )?schema for (?:function ['\"]?(?P<tool>[\w-]*)|response_format)"
)


def _long_wait(wait_s: float | None, now: float) -> str:
    if wait_s is None or wait_s <= MAX_RETRY_AFTER_S:
        return ""
    return f"The server asks to wait {wait_words(wait_s, now)}; send the prompt again then."


def _unsupported_part(error: ModelError) -> str | None:
    """Return the part of the request that the endpoint does not accept, or None."""
    # Codes for signed summaries that the endpoint does not accept back.
    is_signed = error.kind.startswith("compaction_") and error.kind not in _BY_CODE
    return "signed_compaction" if is_signed else unsupported_field(str(error))


def unsupported_field(message: str) -> str | None:
    """Return the optional request field that a rejection names; None for any other text."""
    if re.search(_BROKEN_THINKING, message, re.IGNORECASE):
        return "kept_thinking"
    if re.search(_WANTS_THINKING, message, re.IGNORECASE):
        return "thinking"
    if re.search(_NOT_COMPILED, message, re.IGNORECASE):
        return "strict"
    for name, pattern in _OPTIONAL_FIELDS.items():
        if re.search(pattern, message, re.IGNORECASE) and re.search(_REJECTED, message, re.I):
            return name
    return None


_BROKEN_THINKING: Final = (
    r"\binvalid\b.{0,40}\bsignature\b.{0,40}\bthinking\b"
    r"|\bthinking\b.{0,120}\b(cannot be modified|was modified|invalid signature)\b"
    r"|\bencrypted.?content\b.{0,80}\b(could not|cannot|invalid|not)\b"
    r"|\b'?reasoning'? .{0,60}\bwithout its required\b"
    r"|\bthought.?signature\b.{0,80}\b(invalid|not valid|corrupted)\b"
)
"""The thinking of an earlier answer is no longer accepted; the request works without it."""

_WANTS_THINKING: Final = r"must start with a thinking block|\bexpected `?thinking`?\b"
"""Older models require the thinking of an answer, which was dropped; without thinking they work."""

_NOT_COMPILED: Final = (
    r"\bgrammar\b.{0,40}\b(too (large|complex)|timed out|inefficient)\b"
    r"|\btoo complex for compilation\b"
    r"|\btoo many (optional parameters|strict tools|parameters with union types)\b"
    r"|\btools\.\d+\.\w+\b.{0,40}\bfor '\w+' type\b"
)
"""The Messages API cannot compile the schemas to a grammar, separately or together."""

_REJECTED: Final = (
    r"not permitted|not supported|unsupported|unknown|unexpected|unrecognized|extra"
    r"|unavailable|cannot (?:use|specify)|invalid schema for|expired"
    r"|input should be 'user' or 'assistant'"
)

_OPTIONAL_FIELDS: Final[Mapping[str, str]] = {
    "cache_control": r"\bcache_control\b",
    "output_schema": r"\bresponse_?format\b|\btext\.format\b|\b(response_?)?json_?schema\b"
    r"|\boutput_config\.format\b|\bgrammar\b|\bresponse_?mime_?type\b",
    "stream_options": r"\bstream_options\b",
    "strict": r"\bstrict\b|\binvalid schema for function\b",
    "effort": r"\boutput_config\b|\beffort\b|\breasoning_effort\b|\bthinkingLevel\b",
    "thinking": r"\bthinking\b(?!.*signature)",
    "context_management": r"\bcontext_management\b",
    "signed_compaction": r"\bcompaction\b",
    "system_messages": r"\brole\b.{0,60}\bsystem\b|\brole: input should be 'user' or 'assistant'",
    "code_calls": r"\bcontainer\b|\ballowed_callers\b|\bcode_execution_\d",
    "betas": r"\banthropic-beta\b|\bbeta header\b",
}

_NO_SUCH_MODEL: Final = (
    r"(invalid|unknown|unrecognized|no such) model\b"
    r"|\bmodel\b.{0,80}\b(not found|not exist|is not available|is retired)\b"
)

# Codes are more exact than the status, and inside a stream the status has no meaning.
_BY_CODE: Final[Mapping[str, FailureKind]] = {
    "enforced_spend_limit_reached": FailureKind.BILLING,
    "contract_spend_limit_reached": FailureKind.BILLING,
    "ramp_limit_exceeded": FailureKind.RATE_LIMITED,
    "compaction_unavailable": FailureKind.OVERLOADED,
    "overloaded_error": FailureKind.OVERLOADED,
    "rate_limit_error": FailureKind.RATE_LIMITED,
    "api_error": FailureKind.SERVER,
    "timeout_error": FailureKind.TIMEOUT,
    "timeout": FailureKind.TIMEOUT,
    "authentication_error": FailureKind.AUTHENTICATION,
    # LiteLLM without a database accepts only its master key; it cannot look up any other.
    "no_db_connection": FailureKind.AUTHENTICATION,
    "permission_error": FailureKind.PERMISSION,
    "billing_error": FailureKind.BILLING,
    # From OpenAI, passed on by gateways: retries cannot help before the account is paid.
    "insufficient_quota": FailureKind.BILLING,
    "conflict_error": FailureKind.CONFLICT,
    "request_too_large": FailureKind.TOO_LARGE,
    "connection": FailureKind.CONNECTION,
    "unreachable": FailureKind.UNREACHABLE,
    "proxy": FailureKind.PROXY,
    "stalled": FailureKind.STALLED,
    "cut": FailureKind.CUT,
    "malformed": FailureKind.MALFORMED,
    "redirected": FailureKind.REDIRECTED,
    "insecure": FailureKind.INSECURE,
    "not_configured": FailureKind.NOT_CONFIGURED,
}

_BY_STATUS: Final[Mapping[int, FailureKind]] = {
    401: FailureKind.AUTHENTICATION,
    402: FailureKind.BILLING,
    403: FailureKind.PERMISSION,
    407: FailureKind.PROXY,
    408: FailureKind.TIMEOUT,
    409: FailureKind.CONFLICT,
    413: FailureKind.TOO_LARGE,
    429: FailureKind.RATE_LIMITED,
    504: FailureKind.TIMEOUT,
    529: FailureKind.OVERLOADED,
}


def _kind(
    error: ModelError, overflow: ContextOverflow | None, unsupported_field: str | None
) -> FailureKind:
    if overflow is not None:
        return FailureKind.CONTEXT_OVERFLOW
    if error.kind in _BY_CODE:
        return _BY_CODE[error.kind]
    status = error.status
    if status == 404 or error.kind == "not_found_error":
        speaks_of_model = re.search(r"\bmodel\b", str(error), re.IGNORECASE)
        return FailureKind.MODEL_NOT_FOUND if speaks_of_model else FailureKind.NOT_FOUND
    if status in (400, 422) and re.search(_NO_SUCH_MODEL, str(error), re.IGNORECASE):
        return FailureKind.MODEL_NOT_FOUND
    if status is not None and status in _BY_STATUS:
        return _BY_STATUS[status]
    if status is not None and status >= 500:
        return FailureKind.SERVER
    if unsupported_field is not None:
        return FailureKind.UNSUPPORTED
    if error.kind == "invalid_request_error" or (status is not None and 400 <= status < 500):
        return FailureKind.INVALID_REQUEST
    return FailureKind.UNKNOWN


def _retryable(error: ModelError, kind: FailureKind) -> bool:
    # A web page instead of a response means a wrong address, not a temporary failure.
    if kind is FailureKind.MALFORMED and error.phase == "headers":
        return False
    match error.headers.get("x-should-retry", "").strip().lower():
        case "false":
            return False
        case "true":
            return kind is not FailureKind.CONTEXT_OVERFLOW
        case _:
            return kind in _TRANSIENT


def _message(kind: FailureKind, error: ModelError) -> str:
    # Some servers embed the errors of other servers, over several lines.
    detail = " ".join(str(error).split())
    head = _HEADS.get(kind)
    status = f" (HTTP {error.status})" if error.status else ""
    if head is None:
        return detail or f"The model request failed{status}."
    return f"{head}{status}: {detail}" if detail else f"{head}{status}."


_HEADS: Final[Mapping[FailureKind, str]] = {
    FailureKind.OVERLOADED: "The model is overloaded",
    FailureKind.RATE_LIMITED: "Too many requests",
    FailureKind.SERVER: "The model server failed",
    FailureKind.AUTHENTICATION: "The API key was not accepted",
    FailureKind.PERMISSION: "The API key has no permission for this",
    FailureKind.BILLING: "The account cannot pay for this request",
    FailureKind.MODEL_NOT_FOUND: "The model does not exist here",
    FailureKind.NOT_FOUND: "The server does not know this address",
    FailureKind.TOO_LARGE: "The request is too large",
    FailureKind.CONTEXT_OVERFLOW: "The conversation does not fit the model's context window",
    FailureKind.UNSUPPORTED: "The server does not accept part of the request",
    FailureKind.INVALID_REQUEST: "The server rejected the request",
    FailureKind.CONFLICT: "The request conflicted with another one",
}

_HINTS: Final[Mapping[FailureKind, str]] = {
    FailureKind.INSECURE: (
        "Check {address} (http or https, host and port) and this machine's clock; a "
        "certificate of your own or of your company's proxy goes into the file that "
        "SSL_CERT_FILE names."
    ),
    FailureKind.UNREACHABLE: "Start the server, or check the network and {address}.",
    FailureKind.PROXY: (
        "Check the proxy, its user name and password, and the variables that name it and its "
        "exceptions: HTTPS_PROXY, ALL_PROXY, NO_PROXY."
    ),
    FailureKind.CONNECTION: "Check the network and {address}.",
    FailureKind.TIMEOUT: "Check the network, or try again later.",
    FailureKind.AUTHENTICATION: "Check {key}.",
    FailureKind.PERMISSION: "Use a key with access, or another model.",
    FailureKind.BILLING: "Check the plan and spending limit of the account.",
    FailureKind.MODEL_NOT_FOUND: "Choose another with /model, --model or ANTHROPIC_MODEL.",
    FailureKind.NOT_FOUND: "Check {address}.",
    FailureKind.REDIRECTED: "Set {address} to the address of the {api} itself.",
    FailureKind.TOO_LARGE: "Shorten the conversation with /compact.",
    FailureKind.CONTEXT_OVERFLOW: "Shorten the conversation with /compact.",
    FailureKind.MALFORMED: "Check that {address} is a server of the {api}.",
    FailureKind.NOT_CONFIGURED: "Set {key}, or {address} for another server.",
}
