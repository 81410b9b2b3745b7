"""Get one page from the public web, from exactly the address that was checked.

Refused: anything but http and https, and every address that is not public (safety rules, "SSRF");
loopback is allowed if an allow rule names the host in full. Redirects are followed on the same
host only; another host is reported, because the permission was for this one.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from ipaddress import ip_address
from typing import TYPE_CHECKING, Final
from urllib.parse import urljoin, urlsplit

from msgspec import Struct

from agent.tools.base import ToolError
from hooks.ports import system_resolve
from permissions.base.network.environment_proxy import proxy_for
from permissions.base.network.guarded_connect import Verdict, check_url
from permissions.base.network.private_addresses import address_kind
from permissions.matching.match_domain import host_of

if TYPE_CHECKING:
    import httpx2

MAX_BYTES: Final = 5 * 1024 * 1024
TIMEOUT_S: Final = 30.0
CONNECT_TIMEOUT_S: Final = 10.0
MAX_REDIRECTS: Final = 5
USER_AGENT: Final = "agent-tui (coding agent in a terminal)"

Judge = Callable[[str], Verdict]
"""Decides whether a URL may be fetched, and from which addresses. May block; runs in a thread."""


class Page(Struct, frozen=True):
    """The response of a server."""

    url: str
    """After redirects on the same host."""
    status: int
    reason: str
    content_type: str
    """Lower case, without parameters; empty when the server sent none."""
    charset: str | None
    body: bytes
    is_cut: bool
    """The body was longer than `MAX_BYTES`."""
    redirect: str | None = None
    """Another host that the server points to; the body is empty then."""
    proxy: str | None = None
    """Host of the proxy in between, if any: the address of the server is then unknown."""


def judge_public(url: str, named_hosts: Collection[str] = ()) -> Verdict:
    """Allow a URL whose every address is public, or loopback under one of the `named_hosts`."""
    verdict = check_url(url, system_resolve)
    host = host_of(url)
    for text in verdict.addresses if verdict.is_allowed and host not in named_hosts else ():
        if address_kind(ip_address(text)) is not None:
            reason = f"{text} is this machine, and no rule WebFetch(domain:{host}) allows it"
            return Verdict(False, reason, verdict.addresses)
    return verdict


async def fetch(url: str, *, env: Mapping[str, str], judge: Judge = judge_public) -> Page:
    """Get a page.

    Raises:
        ToolError: the URL is refused, unreachable or too slow, or redirects too often.
    """
    try:
        async with asyncio.timeout(TIMEOUT_S):
            for _ in range(MAX_REDIRECTS + 1):
                page = await _get(url, env, judge)
                if page.redirect is None or not _is_same_site(url, page.redirect):
                    return page
                url = page.redirect
    except TimeoutError as error:
        raise ToolError(f"{url} did not answer within {TIMEOUT_S:g} s.") from error
    raise ToolError(f"{url} redirects more than {MAX_REDIRECTS} times.")


def _is_same_site(url: str, target: str) -> bool:
    """Return whether both name the same server; http may become https, but not the reverse."""
    old, new = urlsplit(url), urlsplit(target)
    if old.hostname != new.hostname:
        return False
    if old.scheme == new.scheme:
        return old.port == new.port
    return (old.scheme, new.scheme) == ("http", "https") and not (old.port or new.port)


async def _get(url: str, env: Mapping[str, str], judge: Judge) -> Page:
    # Takes 0.1 s to import, and most sessions fetch nothing.
    import httpx2

    verdict = await asyncio.to_thread(judge, url)
    if not verdict.is_allowed:
        raise ToolError(f"{url} is not fetched: {verdict.reason}.")
    proxy = proxy_for(url, env)
    target = httpx2.URL(url)
    headers = {
        "Host": target.netloc.decode("ascii"),
        "User-Agent": USER_AGENT,
        "Accept": "text/markdown, text/html;q=0.9, text/*;q=0.8, */*;q=0.5",
        # The size of a compressed body is only known after decompression.
        "Accept-Encoding": "identity",
    }
    failure: Exception | None = None
    # `trust_env` off: use no proxy, netrc or certificate file that was not checked here.
    async with httpx2.AsyncClient(
        trust_env=False,
        follow_redirects=False,
        timeout=httpx2.Timeout(TIMEOUT_S, connect=CONNECT_TIMEOUT_S),
        proxy=proxy,
    ) as client:
        for address in [None] if proxy else verdict.addresses:
            request = client.build_request(
                "GET",
                target if address is None else target.copy_with(host=address),
                headers=headers,
                extensions={} if address is None else {"sni_hostname": target.host},
            )
            try:
                response = await client.send(request, stream=True)
            except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
                failure = error
                continue
            except httpx2.HTTPError as error:
                raise ToolError(f"{url} could not be fetched: {_error_text(error)}.") from error
            try:
                return await _page(url, response, proxy)
            except httpx2.HTTPError as error:
                raise ToolError(f"{url} broke off: {_error_text(error)}.") from error
            finally:
                await response.aclose()
    raise ToolError(f"{url} could not be reached: {_error_text(failure)}.")


async def _page(url: str, response: httpx2.Response, proxy: str | None) -> Page:
    redirect = None
    location = response.headers.get("location")
    if response.status_code in (301, 302, 303, 307, 308) and location:
        redirect = urljoin(url, location)
    body, is_cut = b"", False
    if redirect is None:
        encoding = response.headers.get("content-encoding", "identity").strip().lower()
        body, is_cut = await _read(response.aiter_raw(), encoding)
    content_type = response.headers.get("content-type", "")
    return Page(
        url=url,
        status=response.status_code,
        reason=response.reason_phrase,
        content_type=content_type.partition(";")[0].strip().lower(),
        charset=response.charset_encoding,
        body=body,
        is_cut=is_cut,
        redirect=redirect,
        proxy=urlsplit(proxy).hostname if proxy else None,
    )


async def _read(chunks: AsyncIterator[bytes], encoding: str) -> tuple[bytes, bool]:
    """Return the decompressed body, at most `MAX_BYTES` of it, and whether it was cut."""
    if encoding not in ("", "identity", "gzip", "x-gzip", "deflate"):
        raise ToolError(f"The server compressed the page as {encoding!r}, which was not requested.")
    # Adding 32 to `wbits` selects gzip or zlib by the header.
    unpacker = None if encoding in ("", "identity") else zlib.decompressobj(wbits=47)
    body = bytearray()
    async for chunk in chunks:
        room = MAX_BYTES + 1 - len(body)
        try:
            body += unpacker.decompress(chunk, room) if unpacker else chunk[:room]
        except zlib.error as error:
            raise ToolError(f"The server sent a damaged {encoding} body.") from error
        if len(body) > MAX_BYTES:
            return bytes(body[:MAX_BYTES]), True
    return bytes(body), False


def _error_text(error: Exception | None) -> str:
    if error is None:
        return "it has no address"
    return str(error).rstrip(".") or type(error).__name__
