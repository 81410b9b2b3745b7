"""Which hosts commands may reach: `host`, `*.host`, an address or a network, optional `:port`.

A host without a rule is not allowed. Without a port, an allow rule covers the usual ports, and a
deny rule all ports.
"""

from __future__ import annotations

from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Final

from msgspec import Struct

from agent.sandbox.network.host_name import (
    HostName,
    InvalidHost,
    IpAddress,
    host_of_address,
    read_host,
)
from permissions.base.text.late_pattern import compile_late
from permissions.matching.match_domain import matches_host
from permissions.rule import RuleSource
from permissions.rules.grammar import DomainPattern

USUAL_PORTS: Final = frozenset({22, 80, 443, 9418})
"""Ports of SSH, HTTP, HTTPS and git."""

_RULE: Final = compile_late(r"(\[[^\[\]]+\]|[^:\[\]]+)(?::([0-9]{1,5}|\*))?")
_WITH_STARS: Final = compile_late(r"[a-z0-9_.*-]+")


class HostRule(Struct, frozen=True):
    """One entry of an allow or deny list."""

    text: str
    """As written."""
    hosts: DomainPattern | IPv4Network | IPv6Network | None
    """None: every host. A single address is a network of one."""
    port: int | None = None
    """None: the usual ports where it allows, every port where it denies."""
    every_port: bool = False
    """Whether the rule ends in `:*`."""
    source: RuleSource | None = None
    """None: granted in this session."""

    def matches_host(self, host: HostName) -> bool:
        """Return whether the rule is about this host."""
        match self.hosts:
            case None:
                return True
            case DomainPattern():
                return host.address is None and matches_host(self.hosts, host.text)
            case _:
                return host.address is not None and host.address in self.hosts

    def allows_port(self, port: int) -> bool:
        """Return whether the rule covers a port if it is an allow rule."""
        return self.every_port or port == self.port or (self.port is None and port in USUAL_PORTS)

    def denies_port(self, port: int) -> bool:
        """Return whether the rule covers a port if it is a deny rule."""
        return self.port in (None, port)


class HostRules(Struct, frozen=True):
    """The current lists of all sources, merged."""

    allow: tuple[HostRule, ...] = ()
    deny: tuple[HostRule, ...] = ()

    def denying(self, host: HostName, port: int) -> HostRule | None:
        """Return the first rule that denies a host, or None."""
        return next(
            (rule for rule in self.deny if rule.matches_host(host) and rule.denies_port(port)), None
        )

    def allowing(self, host: HostName, port: int) -> HostRule | None:
        """Return the first rule that allows a host at a port, or None."""
        return next(
            (rule for rule in self.allow if rule.matches_host(host) and rule.allows_port(port)),
            None,
        )

    def naming_address(self, address: IpAddress, port: int) -> HostRule | None:
        """Return the first allow rule that names this address or a network around it, or None."""
        host = host_of_address(address)
        return next(
            (
                rule
                for rule in self.allow
                if isinstance(rule.hosts, (IPv4Network, IPv6Network))
                and rule.matches_host(host)
                and rule.allows_port(port)
            ),
            None,
        )


def parse_host_rule(text: str, source: RuleSource | None = None) -> HostRule:
    """Read a rule: `host`, `*.host`, `*`, `10.0.0.1`, `10.0.0.0/8`, `[::1]`; `:port` or `:*` may
    follow.

    Raises:
        InvalidHost: the text is not such a rule.
    """
    match = _RULE.fullmatch(text.strip())
    if match is None:
        raise InvalidHost(f"{text!r} is not a host, or a host and a port")
    port = None if match[2] in (None, "*") else int(match[2])
    if port is not None and not 0 < port < 65536:
        raise InvalidHost(f"{text!r} has no port from 1 to 65535")
    return HostRule(text, _read_hosts(match[1]), port, match[2] == "*", source)


def rule_for(host: HostName, port: int) -> HostRule:
    """Return the rule that allows a host at a port; for a usual port, at all usual ports."""
    text = f"[{host.text}]" if ":" in host.text else host.text
    return parse_host_rule(text if port in USUAL_PORTS else f"{text}:{port}")


def _read_hosts(text: str) -> DomainPattern | IPv4Network | IPv6Network | None:
    if text == "*":
        return None
    if "/" in text:
        try:
            return ip_network(text.strip("[]"), strict=False)
        except ValueError:
            raise InvalidHost(f"{text!r} is not a network") from None
    prefix, rest = ("*.", text[2:]) if text.startswith("*.") else ("", text)
    if "*" in rest:
        name = rest.lower().removesuffix(".")
        if not _WITH_STARS.fullmatch(name):
            raise InvalidHost(f"{text!r} is not a pattern of host names")
        return DomainPattern(prefix + name)
    host = read_host(rest)
    if host.address is None:
        return DomainPattern(prefix + host.text)
    if prefix:
        raise InvalidHost(f"{text!r}: an address has no subdomains")
    return ip_network(host.address)
