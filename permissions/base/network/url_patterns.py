"""Patterns of URLs: `*` stands for anything within the part it is written in."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from permissions.base.text.star_pattern import StarPattern

DEFAULT_PORTS = {"http": 80, "https": 443}


def url_matches(pattern: str, url: str) -> bool:
    """Return whether a URL is covered. A `*` in the host never reaches into the path."""
    if pattern == "*":
        return True
    scheme, host, path = _parts(pattern)
    try:
        parsed = urlsplit(url)
        port = parsed.port
    except ValueError:
        return False
    if "@" in parsed.netloc or "\\" in url:
        return False
    url_scheme = parsed.scheme.lower()
    if not _covers(scheme, url_scheme):
        return False
    host_name, _, host_port = (
        host.rpartition(":") if re.search(r":(\d+|\*)$", host) else (host, "", "")
    )
    if not _covers(host_name.strip("[]"), (parsed.hostname or "").rstrip(".")):
        return False
    if host_port not in ("", "*") and int(host_port) != (port or DEFAULT_PORTS.get(url_scheme)):
        return False
    # Without a port a pattern means the usual one; a local server has no usual one.
    usual = port in (None, DEFAULT_PORTS.get(url_scheme))
    if host_port == "" and not usual and host_name not in ("localhost", "127.0.0.1", "*"):
        return False
    rest = parsed.path or "/"
    if parsed.query:
        rest += "?" + parsed.query
    return path in ("", "/*") or _covers(path, rest)


def _parts(pattern: str) -> tuple[str, str, str]:
    scheme, separator, rest = pattern.partition("://")
    if not separator:
        scheme, rest = "*", pattern
    host, slash, path = rest.partition("/")
    return scheme.lower(), host.lower(), slash + path


def _covers(pattern: str, text: str) -> bool:
    return StarPattern(tuple(pattern.split("*"))).matches(text)
