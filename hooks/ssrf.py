"""Where a request may go: the addresses behind a URL decide, not its name.

Refused when any address is private, link-local, shared (carrier-grade NAT), unique-local,
unspecified, multicast or reserved, also inside a mapped, 6to4 or NAT64 address, in whatever
spelling. Loopback is the one exception, when it is written plainly (`127.…`, `::1`, `localhost`):
a local audit server is the common use. See "Safety: SSRF and execution boundaries" in
hooks-and-extensions.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final
from urllib.parse import unquote, urlsplit

Resolve = Callable[[str], Sequence[str]]

BLOCKED_V4: Final = tuple(
    (IPv4Network(network), kind)
    for network, kind in (
        ("0.0.0.0/8", "unspecified"),
        ("10.0.0.0/8", "private"),
        ("100.64.0.0/10", "shared (carrier-grade NAT)"),
        ("169.254.0.0/16", "link-local"),
        ("172.16.0.0/12", "private"),
        ("192.0.0.0/24", "reserved"),
        ("192.0.2.0/24", "reserved (documentation)"),
        ("192.88.99.0/24", "reserved (6to4 relay)"),
        ("192.168.0.0/16", "private"),
        ("198.18.0.0/15", "reserved (benchmarking)"),
        ("198.51.100.0/24", "reserved (documentation)"),
        ("203.0.113.0/24", "reserved (documentation)"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved"),
    )
)
BLOCKED_V6: Final = tuple(
    (IPv6Network(network), kind)
    for network, kind in (
        ("::/128", "unspecified"),
        ("::/96", "reserved (IPv4-compatible)"),
        ("64:ff9b:1::/48", "private (local NAT64)"),
        ("100::/64", "reserved (discard)"),
        ("2001::/23", "reserved"),
        ("2001:db8::/32", "reserved (documentation)"),
        ("3fff::/20", "reserved (documentation)"),
        ("5f00::/16", "reserved (segment routing)"),
        ("fc00::/7", "unique-local"),
        ("fe80::/10", "link-local"),
        ("fec0::/10", "private (site-local)"),
        ("ff00::/8", "multicast"),
    )
)
LOOPBACK_V4: Final = IPv4Network("127.0.0.0/8")
LOOPBACK_V6: Final = IPv6Address("::1")
NAT64: Final = IPv6Network("64:ff9b::/96")
SIX_TO_FOUR: Final = IPv6Network("2002::/16")
TRANSLATED: Final = IPv6Network("::ffff:0:0:0/96")
ISATAP: Final = 0x00005EFE
"""The upper half of the interface part; one bit of it may differ."""
GLOBAL_V6: Final = IPv6Network("2000::/3")
"""All there is that may be reached; the rest is not given out."""
NUMBER: Final = re.compile(r"[0-9]+|0x[0-9a-f]*")
"""A last label like this makes a host an address, or nothing (URL standard)."""
BRACKETED: Final = re.compile(r"\[[^\[\]]*\](?::[0-9]*)?")
LOCALHOST: Final = ("127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a request may go to a URL."""

    allowed: bool
    reason: str
    """For people; says the address that decided."""
    addresses: tuple[str, ...] = ()
    """When allowed: connect to these and to nothing else, in this order."""


def check_url(url: str, resolve: Resolve) -> Verdict:
    """Judge a URL. Pure but for `resolve`, which is called at most once and never for literals.

    Args:
        resolve: Returns every address of a host name; may raise OSError. No answer blocks.
    """
    named = _host_of(url)
    if isinstance(named, Verdict):
        return named
    host = named.name
    literal = _literal(host)
    if literal is not None:
        return _judge_literal(named, literal)
    if named.is_bracketed or NUMBER.fullmatch(host.rpartition(".")[2]):
        return Verdict(False, f"{host!r} looks like an address and is none")
    if host == "localhost" and named.is_plain:
        # Pinned, so that no resolver decides where this name leads.
        return Verdict(True, "loopback (localhost)", LOCALHOST)
    try:
        found = tuple(dict.fromkeys(resolve(host)))
    except Exception as error:  # noqa: BLE001 - whatever breaks while resolving, nothing is sent
        return Verdict(False, f"{host} cannot be resolved: {error}")
    if not found:
        return Verdict(False, f"{host} cannot be resolved: no addresses")
    for text in found:
        try:
            address = ip_address(text.partition("%")[0])
        except ValueError:
            return Verdict(False, f"{host} resolves to {text!r}, which is no address", found)
        kind = _blocked_kind(address)
        if kind is not None:
            return Verdict(False, f"{host} resolves to {text}, which is {kind}", found)
    return Verdict(True, f"{host} resolves to public addresses only", found)


def address_kind(address: IPv4Address | IPv6Address) -> str | None:
    """Return why an address is refused, `loopback` included, or None when it is public."""
    return _blocked_kind(address)


@dataclass(frozen=True, slots=True)
class _Host:
    """A URL's host as it will be understood."""

    name: str
    is_plain: bool
    """Whether it is written as it is understood: no escapes, no look-alike characters."""
    is_bracketed: bool


def _host_of(url: str) -> _Host | Verdict:
    if any(ord(c) <= 0x20 or ord(c) == 0x7F or c == "\\" for c in url):
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
        return Verdict(False, "port 0 is no port")
    folded = unicodedata.normalize("NFKC", unquote(host)).replace("。", ".").lower()
    plain = folded.removesuffix(".")
    if not plain or any(c in "/@?#\\[]" or ord(c) <= 0x20 or ord(c) == 0x7F for c in plain):
        return Verdict(False, f"{host!r} is not a host name")
    bracket = parts.netloc.rpartition("@")[2]
    if bracket.startswith("[") and not BRACKETED.fullmatch(bracket):
        return Verdict(False, f"{bracket!r} is not an address in brackets")
    is_plain = plain == host.lower().removesuffix(".")
    return _Host(plain, is_plain, bracket.startswith("["))


def _literal(host: str) -> IPv4Address | IPv6Address | None:
    """Return the address a host is the spelling of, in every form that resolvers accept."""
    if ":" in host:
        try:
            return IPv6Address(host.partition("%")[0])
        except ValueError:
            return None
    return _inet_aton(host)


def _inet_aton(host: str) -> IPv4Address | None:
    """Read an IPv4 address of one to four decimal, octal or hexadecimal parts."""
    parts = host.split(".")
    if len(parts) > 4:
        return None
    numbers: list[int] = []
    for part in parts:
        number = _c_number(part)
        if number is None:
            return None
        numbers.append(number)
    *leading, last = numbers
    if any(number > 255 for number in leading) or last >= 256 ** (4 - len(leading)):
        return None
    value = last
    for index, number in enumerate(leading):
        value += number << (8 * (3 - index))
    return IPv4Address(value)


def _c_number(text: str) -> int | None:
    if not text or not text.isascii():
        return None
    try:
        if text.startswith("0x"):
            return int(text[2:] or "0", 16) if "_" not in text else None
        if text.startswith("0") and len(text) > 1:
            return int(text, 8) if text.isdigit() else None
        return int(text) if text.isdigit() else None
    except ValueError:
        return None


def _judge_literal(named: _Host, address: IPv4Address | IPv6Address) -> Verdict:
    host = named.name
    if "%" in host:
        return Verdict(False, f"{host!r} names a network interface")
    kind = _blocked_kind(address) or _blocked_as_decimal(host)
    if kind is None:
        return Verdict(True, f"{address} is a public address", (str(address),))
    if kind == "loopback" and named.is_plain and _is_plain_loopback(host, address):
        return Verdict(True, f"{address} is loopback", (str(address),))
    spelled = "" if str(address) == host else f" (spelled {host!r})"
    return Verdict(False, f"{address} is {kind}{spelled}", (str(address),))


def _blocked_as_decimal(host: str) -> str | None:
    """Judge `010.0.0.1` as 10.0.0.1 too: not every resolver takes leading zeros for octal."""
    parts = host.split(".")
    if len(parts) != 4 or not all(part.isdigit() and int(part) < 256 for part in parts):
        return None
    return _blocked_kind(IPv4Address(".".join(str(int(part)) for part in parts)))


def _is_plain_loopback(host: str, address: IPv4Address | IPv6Address) -> bool:
    match address:
        case IPv4Address():
            return host == str(address)
        case IPv6Address():
            mapped = address.ipv4_mapped
            return address == LOOPBACK_V6 or (mapped is not None and mapped in LOOPBACK_V4)


def _blocked_kind(address: IPv4Address | IPv6Address) -> str | None:
    match address:
        case IPv4Address():
            if address in LOOPBACK_V4:
                return "loopback"
            return next((kind for network, kind in BLOCKED_V4 if address in network), None)
        case IPv6Address():
            if address == LOOPBACK_V6:
                return "loopback"
            inner = _inner_v4(address)
            if inner is not None:
                return _blocked_kind(inner)
            blocked = next((kind for network, kind in BLOCKED_V6 if address in network), None)
            return blocked or (None if address in GLOBAL_V6 else "reserved")


def _inner_v4(address: IPv6Address) -> IPv4Address | None:
    """Return the IPv4 address that a mapped, translated, 6to4, NAT64 or ISATAP address stands
    for."""
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address in SIX_TO_FOUR:
        return address.sixtofour
    is_isatap = (int(address) >> 32) & 0xFDFFFFFF == ISATAP
    if address in NAT64 or address in TRANSLATED or is_isatap:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return None
