"""Converts failures of the server and of the connection into `ModelError`, with texts for users."""

from __future__ import annotations

import json
import os
import re
import socket
from typing import TYPE_CHECKING, Final

from agent.model.client import ModelError
from permissions.base.network.environment_proxy import proxy_for
from permissions.base.text.strict_json import without_surrogates

if TYPE_CHECKING:
    import httpx2

MAX_TEXT: Final = 600


def from_status(response: httpx2.Response, content: bytes) -> ModelError:
    """Return the error for a response with an error status and this body."""
    status = response.status_code
    if 300 <= status < 400:
        return _redirect_error(response)
    body = _json_or_text(content)
    error = _member(body, "error")
    kind = _clean_text(_member(_member(error, "details"), "error_code"))
    kind = kind or _clean_text(_member(error, "type")) or f"http_{status}"
    text = _clean_text(_member(error, "message"))
    if not text and isinstance(body, str) and body.strip():
        content_type = response.headers.get("content-type", "").partition(";")[0]
        text = describe_html(content_type, content)
    text = text or _clean_text(_openai_style(body))
    return ModelError(
        kind,
        text[:MAX_TEXT],
        status=status,
        headers=dict(response.headers),
        request_id=response.headers.get("request-id"),
        phase="headers",
    )


def _json_or_text(content: bytes) -> object:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return content.decode("utf-8", "replace")


def _member(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, dict) else None


def _clean_text(value: object) -> str:
    """Return a text of the server, stripped and without surrogates; "" for any other value."""
    return without_surrogates(value).strip() if isinstance(value, str) else ""


def _redirect_error(response: httpx2.Response) -> ModelError:
    """Return the error for a redirect: the key is not sent to another host."""
    where = response.headers.get("location", "")
    target = f" to {where}"[:200] if where else ""
    return ModelError(
        "redirected",
        f"The server redirects{target}, which is not followed.",
        status=response.status_code,
        headers=dict(response.headers),
        phase="headers",
    )


def from_connection(error: Exception, base_url: str) -> ModelError:
    """Return the error for a connection that failed before a response began."""
    place = _with_proxy(base_url)
    cause = _root_cause(error)
    name = type(cause).__name__
    refusal = _tls_refusal(error)
    if refusal is not None:
        return ModelError("insecure", f"No secure connection to {place}: {refusal}."[:MAX_TEXT])
    if "Timeout" in name or "Timeout" in type(error).__name__:
        if "Connect" in name:
            return ModelError("timeout", f"{place} did not accept a connection in time.")
        return ModelError("timeout", f"{place} did not respond in time.")
    if (proxy := _proxy_name(base_url)) and (refusal := _proxy_failure(error, cause)):
        return ModelError("proxy", f"The proxy {proxy} {refusal}."[:MAX_TEXT])
    # The host exists, but no server listens on the port.
    if _is_caused_by(error, ConnectionRefusedError):
        return ModelError("unreachable", f"No server responds at {place}.")
    if _is_caused_by(error, socket.gaierror):
        text = f"No connection to {place}: its host name cannot be resolved."
        return ModelError("connection", text[:MAX_TEXT])
    # Without the error number, which means nothing to a user.
    detail = cause.strerror if isinstance(cause, OSError) else str(cause).strip()
    detail = detail or "the connection broke before an answer"
    return ModelError("connection", f"No connection to {place}: {detail}"[:MAX_TEXT])


def _proxy_failure(error: Exception, cause: BaseException) -> str:
    """Return what the proxy did instead of connecting; "" if the failure is not the proxy's."""
    if _is_caused_by(error, ConnectionRefusedError):
        return "does not respond"
    if _is_caused_by(error, socket.gaierror):
        return "cannot be found: its host name cannot be resolved"
    return f"refuses the connection: {cause}" if type(cause).__name__ == "ProxyError" else ""


def _with_proxy(base_url: str) -> str:
    """Return an address with its proxy, if there is one."""
    proxy = _proxy_name(base_url)
    return f"{base_url} through the proxy {proxy}" if proxy else base_url


def _proxy_name(base_url: str) -> str:
    """Return the proxy of an address without its credentials; "" without a proxy."""
    scheme, separator, rest = (proxy_for(base_url, os.environ) or "").rpartition("://")
    return f"{scheme}{separator}{rest.rpartition('@')[2]}"


def from_stream(error: httpx2.HTTPError, silence_s: float) -> ModelError:
    """Return the error for a connection that failed while a response was read."""
    if "Timeout" in type(error).__name__:
        text = f"The server went silent for {silence_s:g} s in the middle of its answer."
        return ModelError("stalled", text, phase="stream")
    detail = str(error).strip().rstrip(".")
    where = "The connection broke in the middle of the answer"
    return ModelError("cut", f"{where}: {detail}." if detail else f"{where}.", phase="stream")


def describe_html(content_type: str, body: bytes) -> str:
    """Return a sentence about a response that is not JSON of the Messages API, with its title."""
    text = body[:20_000].decode("utf-8", "replace")
    title = re.search(r"<title[^>]*>(.*?)</title>", text, re.IGNORECASE | re.DOTALL)
    excerpt = title[1] if title else re.sub(r"<[^>]*>", " ", text)
    excerpt = " ".join(excerpt.split())[:120]
    detail = f" ({excerpt})" if excerpt else ""
    what = "something" if "json" in content_type else content_type or "something"
    return f"The server answered with {what} instead of the Messages API's JSON{detail}."


def _openai_style(body: object) -> str:
    """Return an error's message from the forms that other servers use; empty if there is none."""
    if isinstance(body, dict):
        for name in ("message", "detail", "error"):
            value = body.get(name)
            if isinstance(value, str) and value:
                return value
            if isinstance(value, dict) and isinstance(value.get("message"), str):
                return str(value["message"])
    return ""


def _is_caused_by(error: BaseException | None, kind: type[OSError]) -> bool:
    if isinstance(error, BaseExceptionGroup):
        return any(_is_caused_by(each, kind) for each in error.exceptions)
    if error is None or isinstance(error, kind):
        return error is not None
    return _is_caused_by(error.__cause__ or error.__context__, kind)


def _tls_refusal(error: BaseException | None) -> str | None:
    """Return why a TLS connection fails permanently; None for any other failure."""
    import ssl  # loaded with every connection, but not at the start

    if isinstance(error, BaseExceptionGroup):
        return next(filter(None, map(_tls_refusal, error.exceptions)), None)
    if error is None:
        return None
    if isinstance(error, ssl.SSLCertVerificationError):
        return getattr(error, "verify_message", "") or "the certificate is not accepted"
    if isinstance(error, ssl.SSLError) and "WRONG_VERSION_NUMBER" in str(error):
        return "the server there does not use TLS"
    return _tls_refusal(error.__cause__ or error.__context__)


def _root_cause(error: BaseException) -> BaseException:
    """Return the exception at the bottom of the chain of causes that explains most."""
    while error.__cause__ is not None and str(error.__cause__):
        error = error.__cause__
    return error
