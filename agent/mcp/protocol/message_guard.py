"""Checks every message between a transport and the SDK.

The SDK rejects a whole list for one malformed entry; here the entry is dropped and reported.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from contextvars import Context
from typing import Final

import anyio
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from mcp.client._transport import ReadStream, TransportStreams, WriteStream
from mcp.shared.message import SessionMessage
from mcp_types import (
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    Prompt,
    Resource,
)
from mcp_types import ResourceTemplate as WireTemplate
from mcp_types import Tool as WireTool
from pydantic import BaseModel, ValidationError

from permissions.base.text.sanitize import sanitize

MAX_WAITING: Final = 10_000
"""Most pending requests; older ones are forgotten."""
MAX_PROBLEMS: Final = 50
DEFINITION: Final = "agent-tui/definition"
"""In the metadata of a tool: all that the server sent of it."""
LINES_PER_S: Final = 100
"""Most log messages per second; more are dropped."""

_LISTS: Final[Mapping[str, tuple[str, str, type[BaseModel]]]] = {
    "tools/list": ("tools", "name", WireTool),
    "prompts/list": ("prompts", "name", Prompt),
    "resources/list": ("resources", "uri", Resource),
    "resources/templates/list": ("resourceTemplates", "uriTemplate", WireTemplate),
}


class _Allowance:
    """Rate limit of a server's log lines."""

    def __init__(self) -> None:
        self._remaining = float(LINES_PER_S)
        self._last_time_s = time.monotonic()

    def take(self) -> bool:
        now = time.monotonic()
        self._remaining = min(
            LINES_PER_S, self._remaining + (now - self._last_time_s) * LINES_PER_S
        )
        self._last_time_s = now
        if self._remaining < 1:
            return False
        self._remaining -= 1
        return True


class MessageGuard:
    """Checks the messages of one connection."""

    def __init__(self, log: Callable[[str, str], None]) -> None:
        """`log` is called with a level and a text."""
        self.problems: list[str] = []
        """A sentence for each dropped entry."""
        self._log = log
        self._methods: dict[str | int, str] = {}
        self._junk = 0
        self._lines = _Allowance()

    def sending(self, item: SessionMessage) -> None:
        """Record a request's method."""
        if isinstance(item.message, JSONRPCRequest):
            self._methods[item.message.id] = item.message.method
            if len(self._methods) > MAX_WAITING:
                del self._methods[next(iter(self._methods))]

    def filter_message(self, item: SessionMessage | Exception) -> SessionMessage | Exception | None:
        """Return a message that is safe for the SDK; None to drop it."""
        if isinstance(item, Exception):
            self._unreadable(item)
            return None
        message = item.message
        if isinstance(message, JSONRPCResponse):
            method = self._request_method(message.id)
            if method is None:
                self._unreadable(ValueError(f"an answer without a request: {message.id!r}"))
                return None
            if (list_fields := _LISTS.get(method)) is not None:
                self._check_list(message.result, *list_fields)
        elif isinstance(message, JSONRPCError) and message.id is not None:
            self._request_method(message.id)
        elif isinstance(message, JSONRPCNotification) and message.method == "notifications/message":
            return item if self._lines.take() else None
        return item

    def _request_method(self, answer_id: str | int) -> str | None:
        """Return the method of the request that an answer belongs to."""
        if isinstance(answer_id, str) and answer_id.isdecimal() and answer_id not in self._methods:
            answer_id = int(answer_id[:20])
        return self._methods.pop(answer_id, None)

    def junk(self, line: bytes) -> None:
        """Record a line that is not a message."""
        self._unreadable(ValueError(f"not a message: {line[:200]!r}"))

    def _unreadable(self, problem: Exception) -> None:
        self._junk += 1
        if self._junk <= MAX_PROBLEMS:
            self._log("warning", sanitize(str(problem))[:500])

    def _check_list(
        self, result: dict[str, object], field: str, key: str, kind: type[BaseModel]
    ) -> None:
        entries = result.get(field)
        if not isinstance(entries, list):
            return
        result[field] = [entry for entry in entries if self._is_usable(entry, key, kind)]

    def _is_usable(self, entry: object, key: str, kind: type[BaseModel]) -> bool:
        if not isinstance(entry, dict) or not isinstance(entry.get(key), str) or not entry[key]:
            self._report(f"an entry without a {key}")
            return False
        name = str(entry[key])
        for optional in ("description", "title"):
            if not isinstance(entry.get(optional, ""), str):
                entry.pop(optional)
        try:
            kind.model_validate(entry, by_name=False)
        except (ValidationError, RecursionError) as error:
            self._report(f"{name}: {_first_problem(error)}")
            return False
        if kind is WireTool:
            if entry["inputSchema"].get("type") != "object":
                self._report(f"{name}: its input schema is not that of an object")
                return False
            # With the tool itself, so that what is compared is what is used.
            definition = {key: value for key, value in entry.items() if key != "_meta"}
            entry["_meta"] = {**(entry.get("_meta") or {}), DEFINITION: definition}
        return True

    def _report(self, problem: str) -> None:
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(sanitize(problem).replace("\n", " ")[:300])


def _first_problem(error: ValidationError | RecursionError) -> str:
    if isinstance(error, RecursionError):
        return "its definition is nested too deeply"
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"


class GuardedReader(ObjectReceiveStream[SessionMessage | Exception]):
    """Reads and checks the messages of a server."""

    def __init__(
        self,
        inner: ReadStream[SessionMessage | Exception],
        guard: MessageGuard,
        on_loss: Callable[[], None],
    ) -> None:
        """`on_loss` is called when no more messages will come."""
        self._inner = inner
        self._guard = guard
        self._on_loss = on_loss

    @property
    def last_context(self) -> Context | None:
        """The context in which the last message was received, if the transport provides it."""
        context = getattr(self._inner, "last_context", None)
        return context if isinstance(context, Context) else None

    async def receive(self) -> SessionMessage | Exception:
        """Return the next message; raises anyio.EndOfStream."""
        while True:
            try:
                item = self._guard.filter_message(await self._inner.receive())
            except (anyio.EndOfStream, anyio.ClosedResourceError):
                self._on_loss()
                raise
            if item is not None:
                return item
            # A flood of dropped messages must not block other tasks.
            await asyncio.sleep(0)

    async def aclose(self) -> None:
        """Close the stream."""
        await self._inner.aclose()


class GuardedWriter(ObjectSendStream[SessionMessage]):
    """Records and writes the messages to a server."""

    def __init__(self, inner: WriteStream[SessionMessage], guard: MessageGuard) -> None:
        """Everything sent is passed to `inner`."""
        self._inner = inner
        self._guard = guard

    async def send(self, item: SessionMessage, /) -> None:
        """Send a message."""
        self._guard.sending(item)
        await self._inner.send(item)

    async def aclose(self) -> None:
        """Close the stream."""
        await self._inner.aclose()


@asynccontextmanager
async def guard_transport(
    transport: AbstractAsyncContextManager[TransportStreams],
    guard: MessageGuard,
    on_loss: Callable[[], None],
) -> AsyncIterator[TransportStreams]:
    """Open a transport whose messages pass the guard."""
    async with transport as (reader, writer):
        yield GuardedReader(reader, guard, on_loss), GuardedWriter(writer, guard)
