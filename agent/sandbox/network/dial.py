"""Connect to a host that was allowed: to a checked address, or through the machine's own proxy."""

from __future__ import annotations

import asyncio
import base64
import ssl
from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import SplitResult, unquote, urlsplit

from msgspec import Struct

from agent.sandbox.network.address_check import Resolve, find_addresses
from agent.sandbox.network.host_name import authority
from agent.sandbox.network.host_rules import HostRules
from agent.sandbox.network.proxy_target import ProxyRefusal, ProxyTarget, Stream
from permissions.base.network.environment_proxy import proxy_for
from permissions.base.text.late_pattern import compile_late

RESOLVE_S: Final = 20.0
CONNECT_S: Final = 15.0
"""For each address."""
_STATUS: Final = compile_late(rb"HTTP/1\.[01] ([0-9]{3})(?: |\r\n)")


class Dialed(Struct, frozen=True):
    """A connection to where a client wanted to go."""

    server: Stream
    is_another_proxy: bool = False
    """Whether a plain request goes to the machine's own proxy, which expects the whole URL."""
    authorization: str | None = None
    """Value of `Proxy-Authorization` for that proxy."""


async def dial(
    target: ProxyTarget, rules: HostRules, env: Mapping[str, str], resolve: Resolve
) -> Dialed:
    """Connect to a host whose name is allowed.

    Args:
        env: Its proxy variables name the machine's own proxy; through it a name is not resolved
            here, so that only literal addresses are checked.

    Raises:
        ProxyRefusal: no address may be dialed, or none answers.
    """
    scheme = "http" if target.is_plain_http else "https"
    where = authority(target.host, target.port)
    proxy = proxy_for(f"{scheme}://{where}", env)
    if proxy is None:
        addresses = await _addresses(target, rules, resolve)
        return Dialed(await _connect_any(addresses, target))
    if target.host.address is not None:
        await _addresses(target, rules, resolve)
    url = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
    server = await _connect_to_proxy(url, target)
    authorization = _authorization(url)
    if target.is_plain_http:
        return Dialed(server, True, authorization)
    try:
        await _ask_for_tunnel(server, where, authorization, target)
    except BaseException:
        server.writer.transport.abort()
        raise
    return Dialed(server)


async def _addresses(target: ProxyTarget, rules: HostRules, resolve: Resolve) -> Sequence[str]:
    try:
        async with asyncio.timeout(RESOLVE_S):
            addresses = await find_addresses(target.host, target.port, rules, resolve)
    except (OSError, ValueError) as error:  # a time-out is an OSError
        reason = f"{target.host.text} cannot be resolved: {error or 'no answer'}"
        raise _refusal("name-not-resolved", reason, target) from None
    if addresses.usable:
        return addresses.usable
    if not addresses.refusals:
        reason = f"{target.host.text} cannot be resolved: no addresses"
        raise _refusal("name-not-resolved", reason, target)
    raise _refusal("blocked-by-address", "; ".join(addresses.refusals), target)


async def _connect_any(addresses: Sequence[str], target: ProxyTarget) -> Stream:
    last: Exception | None = None
    for address in addresses:
        try:
            async with asyncio.timeout(CONNECT_S):
                return Stream(*await asyncio.open_connection(address, target.port))
        except OSError as error:
            last = error
    where = authority(target.host, target.port)
    reason = f"{where} cannot be reached: {last or 'no answer'}"
    raise _refusal("unreachable", reason, target)


async def _connect_to_proxy(url: SplitResult, target: ProxyTarget) -> Stream:
    name = f"the proxy {url.hostname} of this machine"
    if url.scheme not in ("http", "https") or not url.hostname:
        reason = f"{name} speaks {url.scheme or 'nothing'}, not http or https"
        raise _refusal("unreachable", reason, target)
    try:
        port = url.port or (443 if url.scheme == "https" else 80)
        context = ssl.create_default_context() if url.scheme == "https" else None
        async with asyncio.timeout(CONNECT_S):
            return Stream(*await asyncio.open_connection(url.hostname, port, ssl=context))
    except (OSError, ValueError) as error:
        reason = f"{name} cannot be reached: {error or 'no answer'}"
        raise _refusal("unreachable", reason, target) from None


async def _ask_for_tunnel(
    server: Stream, where: str, authorization: str | None, target: ProxyTarget
) -> None:
    credentials = f"Proxy-Authorization: {authorization}\r\n" if authorization else ""
    request = f"CONNECT {where} HTTP/1.1\r\nHost: {where}\r\n{credentials}\r\n"
    try:
        async with asyncio.timeout(CONNECT_S):
            server.writer.write(request.encode())
            await server.writer.drain()
            head = await server.reader.readuntil(b"\r\n\r\n")
    except (OSError, EOFError, asyncio.LimitOverrunError) as error:
        reason = f"the proxy of this machine does not answer for {where}: {error}"
        raise _refusal("unreachable", reason, target) from None
    status = _STATUS.match(head)
    if status is None or not status[1].startswith(b"2"):
        first_line = head.split(b"\r\n", 1)[0][:80].decode("latin-1")
        reason = f"the proxy of this machine refuses {where}: {first_line!r}"
        raise _refusal("unreachable", reason, target)


def _authorization(url: SplitResult) -> str | None:
    if url.username is None:
        return None
    credentials = f"{unquote(url.username)}:{unquote(url.password or '')}"
    return "Basic " + base64.b64encode(credentials.encode()).decode()


def _refusal(code: str, reason: str, target: ProxyTarget) -> ProxyRefusal:
    return ProxyRefusal(code, reason, (target.host.text, target.port))
