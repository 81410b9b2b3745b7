"""An endpoint's address, credentials and timeouts."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from typing import Final, Literal
from urllib.parse import urlsplit

from msgspec import Struct, field

OFFICIAL_URL: Final = "https://api.anthropic.com"

NO_KEY: Final = "none"
"""Token for servers that require none, as the client must send something."""

Dialect = Literal["messages", "responses", "chat", "gemini"]
"""The API that a server speaks: Anthropic's Messages API, OpenAI's Responses API or Chat
Completions, Google's `generateContent`."""


class Timeouts(Struct, frozen=True):
    """How long a request waits, in seconds."""

    connect_s: float = 10.0
    silence_s: float = 90.0
    """Longest pause between bytes, or before the first one."""
    progress_s: float = 600.0
    """Longest time in which only keep-alives arrive."""
    total_s: float = 600.0
    """For sending, and for waiting for a free connection."""


class Endpoint(Struct, frozen=True):
    """Where requests go, and with which credentials."""

    base_url: str = OFFICIAL_URL
    """Without a trailing slash; for the Messages API also without `/v1`."""
    api_key: str | None = None
    auth_token: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    timeouts: Timeouts = Timeouts()
    dialect: Dialect = "messages"
    """Decides which header carries the key."""
    key_source: str = "ANTHROPIC_API_KEY (or ANTHROPIC_AUTH_TOKEN)"
    """Name of the variable or setting that holds the key, for messages."""

    def __repr__(self) -> str:
        """Omit credentials, including those in headers."""
        return f"Endpoint(base_url={self.base_url!r}, timeouts={self.timeouts!r})"

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
