"""Where requests go, what opens the door, and how long to wait there."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import field
from typing import Final
from urllib.parse import urlsplit

from permissions.base.lazy_dataclass import lazy_dataclass

OFFICIAL_URL: Final = "https://api.anthropic.com"


@lazy_dataclass(frozen=True, slots=True)
class Timeouts:
    """How long a request waits, in seconds."""

    connect_s: float = 10.0
    silence_s: float = 90.0
    """Longest pause between bytes, also before the first one."""
    progress_s: float = 600.0
    """Longest time in which nothing but signs of life arrives."""
    total_s: float = 600.0
    """For sending, and for waiting on a free connection."""


@lazy_dataclass(frozen=True, slots=True)
class Endpoint:
    """Where requests go and what opens the door."""

    base_url: str = OFFICIAL_URL
    """Without `/v1` and without a slash at the end."""
    api_key: str | None = field(default=None, repr=False)
    auth_token: str | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    timeouts: Timeouts = Timeouts()

    @property
    def is_official(self) -> bool:
        """Whether this is the vendor's own endpoint."""
        return urlsplit(self.base_url).hostname == urlsplit(OFFICIAL_URL).hostname

    @property
    def is_loopback(self) -> bool:
        """Whether the server runs on this machine."""
        return is_loopback(self.base_url)


def is_loopback(url: str) -> bool:
    """Return whether the URL's host is this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
