"""The SDK: loaded when first needed, built for an endpoint, renewed when connections are stale."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import logging
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from agent.model.client import ModelError
from agent.model.lazy_packages import install

if TYPE_CHECKING:
    from types import ModuleType

    from anthropic import AsyncAnthropic

_NEEDED: Final = (
    "AsyncAnthropic",
    "AsyncStream",
    "DefaultAsyncHttpxClient",
    "APIStatusError",
    "APIConnectionError",
    "Omit",
)
OFFICIAL_URL: Final = "https://api.anthropic.com"


@dataclass(frozen=True, slots=True)
class Timeouts:
    """How long a request waits, in seconds."""

    connect_s: float = 10.0
    silence_s: float = 90.0
    """Longest pause between bytes, also before the first one."""
    progress_s: float = 600.0
    """Longest time in which nothing but signs of life arrives."""
    total_s: float = 600.0
    """For sending, and for waiting on a free connection."""


@dataclass(frozen=True, slots=True)
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


def preload(then: Callable[[], None] = lambda: None) -> threading.Thread:
    """Start to import the SDK in a thread, so that the first request need not wait for it.

    `then` is called in that thread when the import has ended, well or not.
    """

    def load() -> None:
        try:
            load_sdk()
        finally:
            then()

    thread = threading.Thread(target=load, name="sdk-import", daemon=True)
    thread.start()
    return thread


def load_sdk() -> ModuleType:
    """Import the SDK and return it."""
    # More than half of the import's time and memory are for names that no request asks for.
    install("anthropic")
    import anthropic  # still a third of a second: only when a request is near

    # Here rather than where they are used, which is on the event loop.
    for name in _NEEDED:
        getattr(anthropic, name)

    # Its one-line warnings would go to the terminal, over the screen.
    logging.getLogger("anthropic").setLevel(logging.ERROR)
    return anthropic


class SdkPool:
    """Gives out the SDK's client for one endpoint.

    After a broken connection `renew` makes later requests start on fresh connections; the old ones
    are closed when the last request on them has ended.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        """Build nothing yet."""
        self.endpoint = endpoint
        self._sdk: ModuleType | None = None
        self._key_header = False
        self._current: AsyncAnthropic | None = None
        self._in_use: dict[int, int] = {}

    @contextlib.asynccontextmanager
    async def lease(self) -> AsyncIterator[tuple[ModuleType, AsyncAnthropic]]:
        """Lend the SDK module and a client for one request.

        Raises:
            ModelError: the endpoint has no credentials.
        """
        if self._sdk is None:
            self._sdk = await asyncio.to_thread(load_sdk)
        sdk = self._sdk
        if self._current is None:
            # Reading certificates takes tens of milliseconds.
            built = await asyncio.to_thread(_build, sdk, self.endpoint, self._key_header)
            self._current = self._adopted(built)
        client = self._current
        self._in_use[id(client)] = self._in_use.get(id(client), 0) + 1
        try:
            yield sdk, client
        finally:
            self._in_use[id(client)] -= 1
            if not self._in_use[id(client)]:
                del self._in_use[id(client)]
                if client is not self._current:
                    await client.close()

    def _adopted(self, built: AsyncAnthropic) -> AsyncAnthropic:
        """Return the client to use: another request may have built one meanwhile."""
        return self._current or built

    async def renew(self, *, key_header: bool | None = None) -> None:
        """Let later requests use fresh connections, and another way to send the key if given."""
        if key_header is not None:
            self._key_header = key_header
        await self.aclose()

    @property
    def sends_key_header(self) -> bool:
        """Whether the key goes out as `x-api-key` rather than as a bearer token."""
        return self._key_header

    async def aclose(self) -> None:
        """Close connections that no request uses; the others close with their request."""
        client, self._current = self._current, None
        if client is not None and id(client) not in self._in_use:
            await client.close()


def _build(sdk: ModuleType, endpoint: Endpoint, key_header: bool) -> AsyncAnthropic:
    import httpx2  # loaded with the SDK by now

    if not endpoint.api_key and not endpoint.auth_token:
        # Without either, the SDK would look for credentials in places of its own choosing.
        raise ModelError("not_configured", f"There is no API key for {endpoint.base_url}.")
    timeout = httpx2.Timeout(
        endpoint.timeouts.total_s,
        connect=endpoint.timeouts.connect_s,
        read=endpoint.timeouts.silence_s,
    )
    headers: dict[str, Any] = dict(endpoint.headers)
    if key_header:
        headers |= {"Authorization": sdk.Omit(), "x-api-key": endpoint.api_key}
    client: AsyncAnthropic = sdk.AsyncAnthropic(
        api_key=endpoint.api_key,
        auth_token=None if endpoint.api_key else endpoint.auth_token,
        base_url=endpoint.base_url,
        default_headers=headers,
        max_retries=0,
        timeout=timeout,
        # A proxy from the environment can not reach a server on this machine.
        http_client=(
            sdk.DefaultAsyncHttpxClient(
                transport=httpx2.AsyncHTTPTransport(
                    trust_env=False,
                    # Without TLS there is nothing to verify, and no certificates to read.
                    verify=not endpoint.base_url.startswith("http:"),
                ),
                timeout=timeout,
            )
            if endpoint.is_loopback
            else None
        ),
        # Model calls have spans of our own; twice would be once too often.
        open_telemetry=False,
    )
    return client
