"""The connections to an endpoint: lent for a request, renewed when they have gone stale."""

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

_BROKEN: Final = frozenset({"connection", "unreachable", "cut", "timeout", "stalled"})
"""Failures after which an idle connection of the same pool is not to be trusted either."""


class ConnectionPool:
    """Gives out the connections to one endpoint.

    After a broken connection `renew` makes later requests start on fresh ones; the old ones are
    closed when the last request on them has ended.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        """Build nothing yet."""
        self.endpoint = endpoint
        self._key_header = False
        self._current: Connection | None = None
        self._in_use: dict[int, int] = {}

    @contextlib.asynccontextmanager
    async def lease(self) -> AsyncIterator[Connection]:
        """Lend a connection for one request.

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
        """Return a small JSON answer, asked for with POST where there is a body.

        None for any failure, as nothing depends on the answer.
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
        """Return the one to use: another request may have built one meanwhile."""
        return self._current or new

    async def renew_after(self, error: ModelError) -> None:
        """Let later requests use fresh connections where this failure makes them doubtful."""
        if error.kind in _BROKEN:
            await self.renew()

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
        connection, self._current = self._current, None
        if connection is not None and id(connection) not in self._in_use:
            await connection.aclose()
