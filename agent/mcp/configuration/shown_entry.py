"""Formats an entry for display, without secrets in headers, variables and URL."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from agent.mcp.configuration.server_definition import ServerDefinition
from permissions.base.text.late_pattern import compile_late
from permissions.base.text.redactor import Redactor

HIDDEN: Final = "•••"
_QUERY_VALUE: Final = compile_late(r"=[^&]+")


def shown_entry(definition: ServerDefinition) -> dict[str, object]:
    """Return the entry with `${VAR}` as written, and possible secrets masked."""
    fields: dict[str, object] = {}
    for key, value in definition.entry.items():
        if key in ("headers", "env") and isinstance(value, Mapping):
            fields[key] = {str(name): _hide_value(str(one)) for name, one in value.items()}
        elif key == "url":
            fields[key] = _url(str(value))
        elif key in ("command", "headersHelper"):
            fields[key] = Redactor().text(str(value))
        elif key == "args" and isinstance(value, list):
            fields[key] = [Redactor().text(str(one)) for one in value]
        else:
            fields[key] = value
    return fields


def shown_address(definition: ServerDefinition) -> str:
    """Return the command or URL, on one line."""
    entry = shown_entry(definition)
    if definition.transport == "sdk":
        return "inside the calling program"
    if definition.transport != "stdio":
        return str(entry.get("url", ""))
    args = entry.get("args")
    words = args if isinstance(args, list) else []
    return " ".join([str(entry.get("command", "")), *map(str, words)])


def _hide_value(value: str) -> str:
    return value if "${" in value else HIDDEN


def _url(url: str) -> str:
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")
    query = _QUERY_VALUE.sub(lambda m: m[0] if "${" in m[0] else f"={HIDDEN}", parts.query)
    netloc = f"{HIDDEN}@{host[2]}" if host[1] else parts.netloc
    return urlunsplit((parts.scheme, netloc, parts.path, query, parts.fragment))
