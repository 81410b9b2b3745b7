"""Hosts of WebFetch calls and the patterns that rules have for them."""

from __future__ import annotations

import ipaddress
import re
from functools import lru_cache
from urllib.parse import urlsplit

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
    return _compile(pattern.host).fullmatch(host) is not None


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
def _compile(pattern: str) -> re.Pattern[str]:
    literal = pattern.strip("[]")
    prefix = ""
    if literal.startswith("*."):
        prefix, literal = r"(?:[^.]+\.)+", literal[2:]
    if not literal.isascii():
        literal = literal.encode("idna", "ignore").decode("ascii")
    return re.compile(prefix + "[^.]*".join(re.escape(chunk) for chunk in literal.split("*")))
