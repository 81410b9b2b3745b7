"""HTTP hooks: the payload is posted to a URL whose address was checked, and to no other."""

from __future__ import annotations

import asyncio
import contextlib
import re
import ssl
import threading
from collections.abc import AsyncIterator, Mapping
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from hooks.answers.response import (
    SHOWN_LIMIT_CHARS,
    HandlerOutcome,
    HandlerResult,
    decode,
    first_line,
    judge_json,
)
from hooks.config.spec import HttpHandler
from hooks.execution.handlers.hook_call import HookCall
from permissions.base.network.environment_proxy import proxy_for
from permissions.base.network.guarded_connect import Resolve, Verdict, check_url
from permissions.base.network.url_patterns import url_matches
from permissions.base.text.failure_text import error_reason
from permissions.base.text.late_pattern import compile_late
from permissions.base.text.strict_json import load_json

RESPONSE_LIMIT_BYTES: Final = 4 * 1024 * 1024
VARIABLE: Final = compile_late(r"\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))")


class Response(Struct, frozen=True):
    """The part of a response that hooks use."""

    status: int
    body: bytes
    location: str | None
    is_cut: bool


class HttpHandlerMode:
    """Posts payloads."""

    async def run(self, call: HookCall) -> HandlerResult:
        """Post the payload and judge the response; a status never blocks by itself."""
        handler = call.spec.handler
        assert isinstance(handler, HttpHandler)
        failure = HandlerResult(call.spec, HandlerOutcome.NON_BLOCKING_ERROR)
        if call.allowed_urls is not None and not any(
            url_matches(pattern, handler.url) for pattern in call.allowed_urls
        ):
            return replace(
                failure, error="this URL is not in allowedHttpHookUrls; nothing was sent"
            )
        verdict = await _check_in_thread(handler.url, call.ports.resolve)
        if not verdict.is_allowed:
            return replace(failure, error=f"not sent: {verdict.reason}")
        proxy = proxy_for(handler.url, call.env)
        try:
            response = await post(call, handler, verdict.addresses, proxy)
        except OSError as error:
            return replace(failure, error=f"request failed: {error_reason(error)}")
        return _with_note(_judge(call, failure, response), proxy)


async def _check_in_thread(url: str, resolve: Resolve) -> Verdict:
    """Return the verdict of `check_url`, from a thread of its own.

    A name server that does not answer must neither use up a pool's threads nor prevent the program
    from ending.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Verdict] = loop.create_future()

    def deliver(verdict: Verdict) -> None:
        if not future.done():
            future.set_result(verdict)

    def check() -> None:
        try:
            verdict = check_url(url, resolve)
        except Exception as error:  # noqa: BLE001 - somebody waits for an answer
            verdict = Verdict(False, f"cannot be checked: {error}")
        with contextlib.suppress(RuntimeError):  # the event loop is closed
            loop.call_soon_threadsafe(deliver, verdict)

    threading.Thread(target=check, name="hook url", daemon=True).start()
    return await future


def header_values(
    handler: HttpHandler, env: Mapping[str, str], outer_limit: frozenset[str] | None
) -> dict[str, str]:
    """Expand variables in headers: allowed ones only; any other becomes empty text."""
    names = frozenset(handler.allowed_env_vars)
    if outer_limit is not None:
        names &= outer_limit

    def fill(match: re.Match[str]) -> str:
        name = match.group(1) or match.group(2)
        return env.get(name, "") if name in names else ""

    return {
        name: re.sub(r"[\r\n\x00]", "", VARIABLE.sub(fill, value)).strip()
        for name, value in handler.headers.items()
    }


async def post(
    call: HookCall, handler: HttpHandler, addresses: tuple[str, ...], proxy: str | None
) -> Response:
    """Send the payload to one of `addresses`, under the URL's own name, or through a proxy.

    Raises OSError with a text for users.
    """
    import httpx2  # takes a tenth of a second, only in sessions with HTTP hooks

    url = httpx2.URL(handler.url)
    own_headers = header_values(handler, call.env, call.allowed_env_vars)
    # Names in lower case, so that none is sent twice; the host is that of the checked URL.
    headers = {
        "content-type": "application/json",
        **{name.lower(): value for name, value in own_headers.items()},
        "host": url.netloc.decode("ascii"),
    }
    targets = [None] if proxy is not None else list(addresses)
    last: Exception | None = None
    # `trust_env` off: no proxy, netrc or certificate file that was not checked here.
    async with httpx2.AsyncClient(
        trust_env=False,
        follow_redirects=False,
        timeout=call.timeout_s,
        proxy=proxy,
        verify=_certificates(call.env),
    ) as client:
        for target in targets:
            request = client.build_request(
                "POST",
                url if target is None else url.copy_with(host=target),
                headers=headers,
                content=call.payload_json,
                extensions={} if target is None else {"sni_hostname": url.raw_host.decode("ascii")},
            )
            try:
                response = await client.send(request, stream=True)
            except httpx2.ConnectError as error:
                last = error
                continue
            except httpx2.HTTPError as error:
                raise OSError(_text_of(error)) from error
            try:
                body, is_cut = await _read(response.aiter_bytes())
                return Response(
                    response.status_code, body, response.headers.get("location"), is_cut
                )
            except httpx2.HTTPError as error:
                raise OSError(_text_of(error)) from error
            finally:
                await response.aclose()
    raise OSError(_text_of(last) if last is not None else "no address to connect to")


def _certificates(env: Mapping[str, str]) -> ssl.SSLContext | bool:
    """Return the certificates the environment names, or True for the usual ones. Raises OSError."""
    file, directory = env.get("SSL_CERT_FILE"), env.get("SSL_CERT_DIR")
    if not file and not directory:
        return True
    return ssl.create_default_context(cafile=file or None, capath=directory or None)


async def _read(chunks: AsyncIterator[bytes]) -> tuple[bytes, bool]:
    """Return the body up to the limit, and whether there was more."""
    body = bytearray()
    async for chunk in chunks:
        body += chunk
        if len(body) > RESPONSE_LIMIT_BYTES:
            return bytes(body[:RESPONSE_LIMIT_BYTES]), True
    return bytes(body), False


def _text_of(error: Exception) -> str:
    return str(error) or type(error).__name__


def _judge(call: HookCall, failure: HandlerResult, response: Response) -> HandlerResult:
    text = decode(response.body)
    result = replace(failure, stdout=text[:SHOWN_LIMIT_CHARS])
    if 300 <= response.status < 400:
        where = f" to {first_line(response.location)}" if response.location else ""
        return replace(
            result, error=f"HTTP {response.status}: redirect{where}, which is not followed"
        )
    if not 200 <= response.status < 300:
        line = first_line(text)[:120]
        return replace(result, error=f"HTTP {response.status}" + (f": {line}" if line else ""))
    if response.is_cut:
        return replace(result, error=f"the response is over {RESPONSE_LIMIT_BYTES} bytes")
    if not text.strip():
        return replace(result, outcome=HandlerOutcome.SUCCESS)
    try:
        document = load_json(text)
    except ValueError as error:
        return replace(
            result, error=f"the response is not JSON ({error}): {first_line(text)[:80]!r}"
        )
    if not isinstance(document, Mapping):
        return replace(result, error="the response is JSON, but not an object")
    return replace(judge_json(call.spec, document, payload=call.payload), stdout=result.stdout)


def _with_note(result: HandlerResult, proxy: str | None) -> HandlerResult:
    if proxy is None:
        return result
    where = urlsplit(proxy).hostname or "a proxy"
    note = f"sent through proxy {where}: where it really went could not be checked"
    return replace(result, answer=replace(result.answer, notes=(*result.answer.notes, note)))
