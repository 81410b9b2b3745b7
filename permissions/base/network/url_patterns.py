"""Patterns of URLs: `*` matches anything within its part (scheme, host, port or path)."""

from __future__ import annotations

import re
from urllib.parse import SplitResult, urlsplit

from permissions.base.text.star_pattern import StarPattern

DEFAULT_PORTS = {"http": 80, "https": 443}


def url_matches(pattern: str, url: str) -> bool:
    """Return whether a URL is covered. A `*` in the host never reaches into the path."""
    if pattern == "*":
        return True
    scheme, host, path = _parts(pattern)
    try:
        url_parts = urlsplit(url)
        port = url_parts.port
    except ValueError:
        return False
    if "@" in url_parts.netloc or "\\" in url:
        return False
    usual = DEFAULT_PORTS.get(url_parts.scheme.lower())
    host_name, host_port = _host_and_port(host)
    return (
        _covers(scheme, url_parts.scheme.lower())
        and _covers(host_name.strip("[]"), (url_parts.hostname or "").rstrip("."))
        and _covers_port(host_name, host_port, port, usual)
        and _covers_path(path, url_parts)
    )


def _host_and_port(host: str) -> tuple[str, str]:
    if not re.search(r":(\d+|\*)$", host):
        return host, ""
    name, _, port = host.rpartition(":")
    return name, port


def _covers_port(host_name: str, host_port: str, port: int | None, usual: int | None) -> bool:
    if host_port == "*":
        return True
    if host_port:
        return int(host_port) == (port or usual)
    # A pattern without a port means the default one; a local server has no default.
    return port in (None, usual) or host_name in ("localhost", "127.0.0.1", "*")


def _covers_path(path: str, url_parts: SplitResult) -> bool:
    rest = url_parts.path or "/"
    if url_parts.query:
        rest += "?" + url_parts.query
    return path in ("", "/*") or _covers(path, rest)


def _parts(pattern: str) -> tuple[str, str, str]:
    scheme, separator, rest = pattern.partition("://")
    if not separator:
        scheme, rest = "*", pattern
    host, slash, path = rest.partition("/")
    return scheme.lower(), host.lower(), slash + path


def _covers(pattern: str, text: str) -> bool:
    return StarPattern(tuple(pattern.split("*"))).matches(text)
