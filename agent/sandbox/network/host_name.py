"""Canonical form of hosts, required before a host is matched, asked about or dialed."""

from __future__ import annotations

from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import Final

from msgspec import Struct

from permissions.base.network.guarded_connect import NUMBER
from permissions.base.text.late_pattern import compile_late

IpAddress = IPv4Address | IPv6Address

_UNSAFE: Final = compile_late(r"[\x00-\x20\x7f@/\\?#%]")
_LABEL: Final = r"(?!-)[a-z0-9_-]{1,63}(?<!-)"
_NAME: Final = compile_late(rf"{_LABEL}(?:\.{_LABEL})*")
_MAX_CHARACTERS: Final = 253
_AUTHORITY: Final = compile_late(r"(\[[^\[\]]*\]|[^:\[\]]+)(?::([0-9]{1,5}))?")


class InvalidHost(ValueError):
    """The text is not a host that can be checked; the message says why, for users."""


class HostName(Struct, frozen=True):
    """A host name or a literal address."""

    text: str
    """Lower case, ASCII, no final dot; an address in its shortest form and without brackets."""
    address: IpAddress | None = None
    """The parsed address; None for a name."""


def read_host(text: str) -> HostName:
    """Return the canonical form of a host; an IPv6 address may be in brackets.

    An IPv4 address inside an IPv6 one becomes the IPv4 address. Other spellings of IPv4 addresses
    (`0x7f.1`, `2130706433`, `010.0.0.1`) are refused: programs interpret them differently.

    Raises:
        InvalidHost: the text is not a host name or an address in its usual form.
    """
    if _UNSAFE.search(text):
        raise InvalidHost(f"{text!r} is not a host: a character in it cannot be in a host name")
    if ":" in text or text.startswith("["):
        return _read_ipv6(text)
    name = _in_ascii(text).lower().removesuffix(".")
    if len(name) > _MAX_CHARACTERS or not _NAME.fullmatch(name):
        raise InvalidHost(f"{text!r} is not a host name")
    if not NUMBER.fullmatch(name.rpartition(".")[2]):
        return HostName(name)
    try:
        return HostName(name, IPv4Address(name))
    except AddressValueError:
        raise InvalidHost(f"{text!r} is not an address in its usual form") from None


def host_of_address(address: IpAddress) -> HostName:
    """Return the canonical form of an address."""
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    return HostName(str(address), address)


def read_authority(text: str, default_port: int | None = None) -> tuple[HostName, int]:
    """Return host and port of `host:port`; IPv6 addresses are in brackets.

    Args:
        default_port: Used where the text has no port; None requires one.

    Raises:
        InvalidHost: the host is invalid, or the port is missing or not from 1 to 65535.
    """
    match = _AUTHORITY.fullmatch(text)
    if match is None:
        raise InvalidHost(f"{text!r} is not a host and a port")
    port = int(match[2]) if match[2] is not None else default_port
    if port is None or not 0 < port < 65536:
        raise InvalidHost(f"{text!r} has no port from 1 to 65535")
    return read_host(match[1]), port


def authority(host: HostName, port: int) -> str:
    """Return `host:port` as it is written in a request."""
    return f"[{host.text}]:{port}" if ":" in host.text else f"{host.text}:{port}"


def _read_ipv6(text: str) -> HostName:
    inner = text
    if text.startswith("[") and text.endswith("]"):
        inner = text[1:-1]
    try:
        return host_of_address(IPv6Address(inner))
    except AddressValueError:
        raise InvalidHost(f"{text!r} is not an IPv6 address") from None


def _in_ascii(text: str) -> str:
    """Return the name in IDNA form, as it is looked up. Raises InvalidHost."""
    if text.isascii():
        return text
    try:
        return text.encode("idna").decode("ascii")
    except UnicodeError:
        raise InvalidHost(f"{text!r} is not a host name") from None
