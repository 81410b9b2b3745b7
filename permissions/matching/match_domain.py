"""Hosts of WebFetch calls and the patterns that rules have for them."""

from __future__ import annotations

import ipaddress
import re
from functools import lru_cache
from urllib.parse import urlsplit

from permissions.base.text.star_pattern import StarPattern
from permissions.rules.grammar import DomainPattern, RuleBehavior
from permissions.rules.rule_set import RuleSet


def host_of(url: object) -> str | None:
    """Return the host of an http(s) address: lower case, no final dot; None when unclear."""
    if not isinstance(url, str) or re.search(r"[\x00-\x20\x7f\\]", url.strip()):
        return None
    try:
        parts = urlsplit(url.strip())
        host = parts.hostname
        _ = parts.port
    except ValueError:
        return None
    if parts.scheme.lower() not in ("http", "https") or not host:
        return None
    host = host.lower().rstrip(".")
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        pass
    try:
        # Compare what is looked up: unicode names by their ASCII form.
        return host.encode("idna").decode("ascii") if not host.isascii() else host or None
    except UnicodeError:
        return None


def matches_host(pattern: DomainPattern, host: str) -> bool:
    """Return whether the host matches. `*.x` means any subdomain of x; another `*` stays inside one
    label."""
    is_below, patterns = _labels(pattern.host)
    labels = host.split(".")
    above, fitting = labels[: -len(patterns)], labels[-len(patterns) :]
    return (
        bool(above) == is_below
        and all(above)
        and len(fitting) == len(patterns)
        and all(map(StarPattern.matches, patterns, fitting))
    )


def named_hosts(rules: RuleSet) -> frozenset[str]:
    """Return the hosts that allow rules for WebFetch name in full, without a `*`."""
    patterns = (
        rule.specifier
        for rule in rules.rules
        if rule.behavior is RuleBehavior.ALLOW and rule.tool.matches("WebFetch")
    )
    return frozenset(
        pattern.host.strip("[]").lower()
        for pattern in patterns
        if isinstance(pattern, DomainPattern) and "*" not in pattern.host
    )


@lru_cache(maxsize=2048)
def _labels(pattern: str) -> tuple[bool, tuple[StarPattern, ...]]:
    """Return whether a pattern is for subdomains only, and a pattern for each of its labels."""
    literal = pattern.strip("[]")
    is_below = literal.startswith("*.")
    if is_below:
        literal = literal[2:]
    if not literal.isascii():
        literal = literal.encode("idna", "ignore").decode("ascii")
    return is_below, tuple(StarPattern(tuple(label.split("*"))) for label in literal.split("."))
