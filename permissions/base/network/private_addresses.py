"""Which addresses are internal: private, link-local, shared, reserved, loopback.

Also those inside a mapped, translated, 6to4, NAT64 or ISATAP address, in every spelling that
resolvers accept (`0x0a000001`, `10.1`).
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from socket import inet_aton
from typing import Final

from permissions.base.text.late_pattern import compile_late

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
METADATA: Final = frozenset(
    ip_address(text)
    for text in (
        "100.100.100.200",
        "168.63.129.16",
        "169.254.169.254",
        "169.254.170.2",
        "192.0.0.192",
        "fd00:ec2::254",
        "fd20:ce::254",
    )
)
"""Metadata services, which hand out the credentials of a cloud machine."""
LOOPBACK_V4: Final = IPv4Network("127.0.0.0/8")
LOOPBACK_V6: Final = IPv6Address("::1")
NAT64: Final = IPv6Network("64:ff9b::/96")
SIX_TO_FOUR: Final = IPv6Network("2002::/16")
TRANSLATED: Final = IPv6Network("::ffff:0:0:0/96")
ISATAP: Final = 0x00005EFE
"""The upper half of the interface identifier; one bit of it may differ."""
GLOBAL_V6: Final = IPv6Network("2000::/3")
"""The only range of public addresses; the rest is not allocated."""


def inside_kind(host: str) -> str | None:
    """Return the kind of internal address of a host; None for names and public addresses.

    Also None for loopback in its usual spelling (`127.…`, `::1`).
    """
    address = literal_address(host.partition("%")[0])
    if address is None:
        return None
    kind = literal_kind(host, address)
    return None if kind == "loopback" and is_plain_loopback(host, address) else kind


def literal_address(host: str) -> IPv4Address | IPv6Address | None:
    """Return the address of a host in any spelling that resolvers accept; None for names."""
    if ":" in host:
        try:
            return IPv6Address(host.partition("%")[0])
        except ValueError:
            return None
    return _inet_aton(host)


def _inet_aton(host: str) -> IPv4Address | None:
    """Read an IPv4 address of one to four decimal, octal or hexadecimal parts, as resolvers do."""
    try:
        return IPv4Address(inet_aton(host))
    except (OSError, ValueError):
        return None


def literal_kind(host: str, address: IPv4Address | IPv6Address) -> str | None:
    """Return why a host that spells out `address` is refused, with leading zeros as decimal,
    too."""
    return address_kind(address) or _blocked_as_decimal(host)


def _blocked_as_decimal(host: str) -> str | None:
    """Check `010.0.0.1` as 10.0.0.1 too: not every resolver reads leading zeros as octal."""
    parts = [part.lstrip("0") or "0" for part in host.split(".")]
    if len(parts) != 4 or not all(_DECIMAL.fullmatch(part) for part in parts):
        return None
    numbers = list(map(int, parts))
    if max(numbers) > 255:
        return None
    return address_kind(IPv4Address(".".join(map(str, numbers))))


_DECIMAL = compile_late(r"[0-9]{1,3}")


def is_plain_loopback(host: str, address: IPv4Address | IPv6Address) -> bool:
    """Return whether a loopback address has its usual spelling."""
    match address:
        case IPv4Address():
            return host == str(address)
        case IPv6Address():
            mapped_v4 = address.ipv4_mapped
            return address == LOOPBACK_V6 or (mapped_v4 is not None and mapped_v4 in LOOPBACK_V4)


def address_kind(address: IPv4Address | IPv6Address) -> str | None:
    """Return why an address is refused, `loopback` included, or None when it is public."""
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
                return address_kind(inner)
            blocked_kind = next((kind for network, kind in BLOCKED_V6 if address in network), None)
            return blocked_kind or (None if address in GLOBAL_V6 else "reserved")


def _inner_v4(address: IPv6Address) -> IPv4Address | None:
    """Return the IPv4 address in a mapped, translated, 6to4, NAT64 or ISATAP address, or None."""
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address in SIX_TO_FOUR:
        return address.sixtofour
    is_isatap = (int(address) >> 32) & 0xFDFFFFFF == ISATAP
    if address in NAT64 or address in TRANSLATED or is_isatap:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return None
