"""Checks whether an endpoint's port accepts connections, without spending a token."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

LIMIT_S: Final = 3.0
_PROXIES: Final = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY")


async def why_unreachable(
    base_url: str, env: Mapping[str, str], *, limit_s: float = LIMIT_S
) -> str | None:
    """Return why a connection fails; None if it succeeds, or if a proxy would be used."""
    if any(env.get(name) or env.get(name.lower()) for name in _PROXIES):
        return None
    try:
        parts = urlsplit(base_url)
        port = parts.port or (80 if parts.scheme == "http" else 443)
    except ValueError as error:
        return f"that is not an address ({error})"
    if not parts.hostname:
        return "that is not an address"
    try:
        async with asyncio.timeout(limit_s):
            _, writer = await asyncio.open_connection(parts.hostname, port)
    except TimeoutError:
        return f"no answer in {limit_s:g} s"
    except socket.gaierror:
        return f"the name {parts.hostname} is not known"
    except (OSError, UnicodeError) as error:
        return _reason(error)
    writer.close()
    return None


def _reason(error: OSError | UnicodeError) -> str:
    if isinstance(error, ConnectionRefusedError):
        return "nothing listens there"
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
