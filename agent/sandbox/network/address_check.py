"""Decides which addresses of a host may be dialed: internal ones only if a rule names them."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final

from msgspec import Struct

from agent.sandbox.network.host_name import HostName, IpAddress, host_of_address
from agent.sandbox.network.host_rules import HostRule, HostRules
from permissions.base.network.guarded_connect import LOCALHOST
from permissions.base.network.private_addresses import METADATA, address_kind

Resolve = Callable[[str], Awaitable[Sequence[str]]]
"""Addresses of a host name, as text. Raises OSError."""

_DISCARD_PORT: Final = 9


class CheckedAddresses(Struct, frozen=True):
    """The result of checking a host's addresses."""

    usable: tuple[str, ...]
    """In the order of the resolver."""
    refusals: tuple[str, ...]
    """Why the other addresses are refused, one sentence each, for users."""


class HostResolver:
    """Calls the system's resolver in its own threads, so that a slow lookup delays no other
    work."""

    def __init__(self) -> None:
        """No thread is started before the first lookup."""
        self._threads = ThreadPoolExecutor(4, thread_name_prefix="worker host names")

    async def __call__(self, host: str) -> Sequence[str]:
        """Return the addresses of a host. Raises OSError."""
        entries = await asyncio.get_running_loop().run_in_executor(self._threads, _look_up, host)
        return list(dict.fromkeys(str(entry[4][0]) for entry in entries))

    def close(self) -> None:
        """Stop accepting lookups; does not wait for pending ones."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def _look_up(host: str) -> Sequence[tuple[object, object, object, object, tuple[object, ...]]]:
    return socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)


def inner_kind(host: HostName) -> str | None:
    """Return the kind of internal address of a host; None for other names and public addresses."""
    if host.text == "localhost":
        return "loopback"
    return None if host.address is None else _kind(host.address)


async def find_addresses(
    host: HostName, port: int, rules: HostRules, resolve: Resolve
) -> CheckedAddresses:
    """Resolve a host once and check each address. Raises OSError if it cannot be resolved."""
    if host.address is not None:
        return _check(host, port, rules, (host.address,))
    # The addresses of this name are fixed, so that no resolver decides where it leads.
    texts = LOCALHOST if host.text == "localhost" else await resolve(host.text)
    return _check(host, port, rules, (ip_address(text.partition("%")[0]) for text in texts))


def _check(
    host: HostName, port: int, rules: HostRules, addresses: Iterable[IpAddress]
) -> CheckedAddresses:
    rule = rules.allowing(host, port) if host.text == "localhost" else None
    is_loopback_named = rule is not None and rule.hosts is not None
    usable: list[str] = []
    refusals: list[str] = []
    for address in addresses:
        reason = _refusal(host_of_address(address), port, rules, is_loopback_named)
        if reason is None:
            usable.append(str(address))
        else:
            leads = "" if host.address is not None else f"{host.text} leads to "
            refusals.append(leads + reason)
    return CheckedAddresses(tuple(usable), tuple(refusals))


def _refusal(host: HostName, port: int, rules: HostRules, is_loopback_named: bool) -> str | None:
    assert host.address is not None
    deny_rule = rules.denying(host, port)
    if deny_rule is not None:
        return f"{host.text}, which the rule {deny_rule.text} denies"
    kind = _kind(host.address)
    if kind is None or (is_loopback_named and kind == "loopback"):
        return None
    rule = rules.naming_address(host.address, port)
    if rule is not None and (host.address not in METADATA or _is_single(rule)):
        return None
    return f"{host.text}, an address that is {kind}; no rule allows this very address"


def _kind(address: IpAddress) -> str | None:
    if address in METADATA:
        return "a metadata service"
    return address_kind(address) or ("this machine's own" if _is_own(address) else None)


def _is_own(address: IpAddress) -> bool:
    """Return whether an interface of this machine has the address. Sends nothing."""
    family = socket.AF_INET6 if isinstance(address, IPv6Address) else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            # The kernel uses the destination as source address only if it is one of its own.
            probe.connect((str(address), _DISCARD_PORT))
            return ip_address(str(probe.getsockname()[0]).partition("%")[0]) == address
    except OSError:
        return False  # no route there


def _is_single(rule: HostRule) -> bool:
    return isinstance(rule.hosts, (IPv4Network, IPv6Network)) and rule.hosts.num_addresses == 1
