"""Decides where a request may go, by the addresses of a URL's host and not by its name.

Refused when any address is private, link-local, shared (carrier-grade NAT), unique-local,
unspecified, multicast or reserved, also inside a mapped, 6to4 or NAT64 address, in any spelling.
Loopback is the only exception, in its usual spelling (`127.…`, `::1`, `localhost`): a local audit
server is the common use."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from permissions.base.network.private_addresses import (
    address_kind,
    is_plain_loopback,
    literal_address,
    literal_kind,
)
from permissions.base.text.late_pattern import compile_late

Resolve = Callable[[str], Sequence[str]]

NUMBER: Final = compile_late(r"[0-9]+|0x[0-9a-f]*")
"""A last label like this makes a host an address, or invalid (URL standard)."""
BRACKETED: Final = compile_late(r"\[[^\[\]]*\](?::[0-9]*)?")
LOCALHOST: Final = ("127.0.0.1", "::1")


class Verdict(Struct, frozen=True):
    """Whether a request may go to a URL."""

    is_allowed: bool
    reason: str
    """For users; names the address that decided."""
    addresses: tuple[str, ...] = ()
    """When allowed: connect to these and to nothing else, in this order."""


def check_url(url: str, resolve: Resolve) -> Verdict:
    """Check a URL. Pure except for `resolve`, which is called at most once and never for literals.

    Args:
        resolve: Returns every address of a host name; may raise OSError. An empty result refuses
            the URL.
    """
    url_host = _host_of(url)
    if isinstance(url_host, Verdict):
        return url_host
    host = url_host.name
    literal = literal_address(host)
    if literal is not None:
        return _judge_literal(url_host, literal)
    if url_host.is_bracketed or NUMBER.fullmatch(host.rpartition(".")[2]):
        return Verdict(False, f"{host!r} looks like an address but is not one")
    if host == "localhost" and url_host.is_plain:
        # Fixed addresses, so that no resolver decides where this name leads.
        return Verdict(True, "loopback (localhost)", LOCALHOST)
    try:
        addresses = tuple(dict.fromkeys(resolve(host)))
    except Exception as error:  # noqa: BLE001 - whatever breaks while resolving, nothing is sent
        return Verdict(False, f"{host} cannot be resolved: {error}")
    return _judge_resolved(host, addresses)


def _judge_resolved(host: str, addresses: tuple[str, ...]) -> Verdict:
    if not addresses:
        return Verdict(False, f"{host} cannot be resolved: no addresses")
    for text in addresses:
        try:
            address = ip_address(text.partition("%")[0])
        except ValueError:
            return Verdict(
                False, f"{host} resolves to {text!r}, which is not an address", addresses
            )
        kind = address_kind(address)
        if kind is not None:
            return Verdict(False, f"{host} resolves to {text}, which is {kind}", addresses)
    return Verdict(True, f"{host} resolves to public addresses only", addresses)


class _Host(Struct, frozen=True):
    """A URL's host as clients interpret it."""

    name: str
    is_plain: bool
    """Whether the spelling is already normalized: no escapes, no look-alike characters."""
    is_bracketed: bool


_BLANK_OR_BACKSLASH: Final = compile_late(r"[\x00-\x20\x7f\\]")
_NOT_IN_HOST: Final = compile_late(r"[\x00-\x20\x7f/@?#\\\[\]]")


def _host_of(url: str) -> _Host | Verdict:
    if _BLANK_OR_BACKSLASH.search(url):
        return Verdict(False, "the URL has blanks, control characters or backslashes in it")
    try:
        parts = urlsplit(url)
        port = parts.port
        host = parts.hostname
    except ValueError as error:
        return Verdict(False, f"not a usable URL: {error}")
    if parts.scheme.lower() not in ("http", "https"):
        return Verdict(False, f"only http and https are allowed, not {parts.scheme or 'nothing'!r}")
    if not host:
        return Verdict(False, "the URL has no host")
    if port == 0:
        return Verdict(False, "port 0 is not valid")
    folded_host = unicodedata.normalize("NFKC", unquote(host)).replace("。", ".").lower()
    plain = folded_host.removesuffix(".")
    if not plain or _NOT_IN_HOST.search(plain):
        return Verdict(False, f"{host!r} is not a host name")
    bracket = parts.netloc.rpartition("@")[2]
    if bracket.startswith("[") and not BRACKETED.fullmatch(bracket):
        return Verdict(False, f"{bracket!r} is not an address in brackets")
    is_plain = plain == host.lower().removesuffix(".")
    return _Host(plain, is_plain, bracket.startswith("["))


def _judge_literal(url_host: _Host, address: IPv4Address | IPv6Address) -> Verdict:
    host = url_host.name
    if "%" in host:
        return Verdict(False, f"{host!r} names a network interface")
    kind = literal_kind(host, address)
    if kind is None:
        return Verdict(True, f"{address} is a public address", (str(address),))
    if kind == "loopback" and url_host.is_plain and is_plain_loopback(host, address):
        return Verdict(True, f"{address} is loopback", (str(address),))
    spelling_note = "" if str(address) == host else f" (spelled {host!r})"
    return Verdict(False, f"{address} is {kind}{spelling_note}", (str(address),))
