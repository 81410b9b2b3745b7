"""The connections to an endpoint: leased for a request, replaced after a failure."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Mapping
from typing import Final

from agent.model.client import ModelError
from agent.model.connection import Connection
from agent.model.endpoint_config import Endpoint

ASK_TIMEOUT_S: Final = 10.0

_BROKEN: Final = frozenset({"connection", "unreachable", "proxy", "cut", "timeout", "stalled"})
"""Failures after which idle connections of the same pool may be broken, too."""


class ConnectionPool:
    """Manages the connections to one endpoint.

    After a failure, `renew` makes later requests use a new connection; the old one is closed when
    its last request has ended.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        """Build nothing yet."""
        self.endpoint = endpoint
        self._key_header = False
        self._current: Connection | None = None
        self._in_use: dict[int, int] = {}

    @contextlib.asynccontextmanager
    async def lease(self) -> AsyncIterator[Connection]:
        """Return a context manager with a connection for one request.

        Raises:
            ModelError: the endpoint has no credentials.
        """
        if self._current is None:
            # Reading certificates takes tens of milliseconds.
            new = await asyncio.to_thread(Connection, self.endpoint, key_header=self._key_header)
            self._current = self._adopt(new)
        connection = self._current
        self._in_use[id(connection)] = self._in_use.get(id(connection), 0) + 1
        try:
            yield connection
        finally:
            self._in_use[id(connection)] -= 1
            if not self._in_use[id(connection)]:
                del self._in_use[id(connection)]
                if connection is not self._current:
                    await connection.aclose()

    async def ask(
        self, path: str, body: Mapping[str, object] | None = None
    ) -> Mapping[str, object] | None:
        """Return the JSON object of a small response; sends POST if there is a body, else GET.

        None for any failure, as no caller depends on the response.
        """
        with contextlib.suppress(ModelError):
            async with self.lease() as connection:
                import httpx2  # with the first request, as in `agent.model.connection`

                method = "GET" if body is None else "POST"
                try:
                    async with asyncio.timeout(ASK_TIMEOUT_S):
                        response = await connection.send(method, path, body)
                        try:
                            content = await response.aread()
                        finally:
                            await response.aclose()
                    record = json.loads(content) if response.is_success else None
                except (TimeoutError, httpx2.HTTPError, ValueError, RecursionError):
                    return None
            return record if isinstance(record, dict) else None
        return None

    def _adopt(self, new: Connection) -> Connection:
        """Return the connection to use: another request may have built one in the meantime."""
        return self._current or new

    async def renew_after(self, error: ModelError) -> None:
        """Make later requests use a new connection if this failure suggests that it is broken."""
        if error.kind in _BROKEN:
            await self.renew()

    async def renew(self, *, key_header: bool | None = None) -> None:
        """Make later requests use a new connection, and `key_header` if it is not None."""
        if key_header is not None:
            self._key_header = key_header
        await self.aclose()

    @property
    def sends_key_header(self) -> bool:
        """Whether the key is sent as `x-api-key` rather than as a bearer token."""
        return self._key_header

    async def aclose(self) -> None:
        """Close connections that no request uses; the others close with their request."""
        connection, self._current = self._current, None
        if connection is not None and id(connection) not in self._in_use:
            await connection.aclose()
