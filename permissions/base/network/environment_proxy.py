"""The proxy that environment variables name for a URL."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit


def proxy_for(url: str, env: Mapping[str, str]) -> str | None:
    """Return the proxy that the environment names for a URL, or None."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if host == "localhost" or host.startswith("127.") or host == "::1":
        return None
    variables = {name.lower(): value for name, value in env.items()}
    if _is_excluded(host, variables.get("no_proxy", "")):
        return None
    return variables.get(f"{parts.scheme.lower()}_proxy") or variables.get("all_proxy") or None


def _is_excluded(host: str, no_proxy: str) -> bool:
    entries = filter(None, (part.strip().lstrip(".") for part in no_proxy.split(",")))
    return any(entry == "*" or f".{host}".endswith(f".{entry}") for entry in entries)
