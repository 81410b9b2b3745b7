"""Opens a connection to a server: its transport, the SDK's client, and the callbacks."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import httpx2
import mcp_types as types
from mcp import Client
from mcp.client._transport import TransportStreams
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from msgspec import Struct

from agent.mcp.configuration.server_definition import ServerDefinition
from agent.mcp.protocol.channel_streams import channel_transport
from agent.mcp.protocol.http_traffic import RemoteAccess, http_client
from agent.mcp.protocol.message_guard import MessageGuard, guard_transport
from agent.mcp.protocol.server_callbacks import ServerCallbacks
from agent.mcp.protocol.server_session import ListName, ServerSession
from agent.mcp.server_requests import McpPorts
from agent.mcp.transport.message_channel import MAX_MESSAGE_BYTES, MessageChannel

for _name in ("mcp", "client", "httpx2", "httpcore2"):
    # Without a handler, their lines would be printed over the screen.
    logging.getLogger(_name).addHandler(logging.NullHandler())
logging.getLogger("mcp").propagate = False
logging.getLogger("client").propagate = False


class SessionListeners(Struct, frozen=True):
    """Listeners of a connection; all are cheap and never raise."""

    on_close: Callable[[], None]
    """No more messages will come."""
    on_change: Callable[[ListName], None]
    """The server's tools, prompts or resources changed."""
    waiting: Callable[[int], None]
    """Called with the number of open questions to the user."""


@asynccontextmanager
async def open_session(
    definition: ServerDefinition,
    reach: MessageChannel | RemoteAccess,
    ports: McpPorts,
    listeners: SessionListeners,
    *,
    mode: str,
    version: str,
) -> AsyncIterator[ServerSession]:
    """Connect and negotiate a revision of the protocol; close the connection at the end.

    Args:
        mode: `auto` tries the current revision first, `legacy` one up to 2025-11-25; or the
            current revision itself.
        version: Version of this program.

    Raises:
        BaseExceptionGroup: the SDK's errors; single exceptions are possible, too.
    """

    def log(level: str, text: str) -> None:
        ports.log(definition.name, level, text)

    guard = MessageGuard(log)
    callbacks = ServerCallbacks(definition, ports, listeners.waiting)
    list_changes = _ListChanges(listeners.on_change)
    may_sample = ports.sample is not None and ports.may_sample(definition)
    client = Client(
        guard_transport(_transport(definition, reach, guard), guard, listeners.on_close),
        mode=mode,
        client_info=types.Implementation(name="agent-tui", version=version, title="agent-tui"),
        elicitation_callback=callbacks.elicit if ports.elicit is not None else None,
        sampling_callback=callbacks.sample if may_sample else None,
        list_roots_callback=callbacks.roots if ports.roots is not None else None,
        logging_callback=callbacks.log,
        message_handler=list_changes,
        cache=None,
    )
    async with client as open_client:
        yield ServerSession(definition.name, open_client, guard)


def _transport(
    definition: ServerDefinition, reach: MessageChannel | RemoteAccess, guard: MessageGuard
) -> AbstractAsyncContextManager[TransportStreams]:
    if not isinstance(reach, RemoteAccess):
        return channel_transport(reach, guard)
    if definition.transport == "sse":
        return sse_client(
            definition.url,
            sse_read_timeout=1e8,
            httpx_client_factory=lambda headers=None, timeout=None, auth=None: _client(
                definition, reach
            ),
        )
    return _streamable(definition, reach)


@asynccontextmanager
async def _streamable(
    definition: ServerDefinition, reach: RemoteAccess
) -> AsyncIterator[TransportStreams]:
    async with (
        _client(definition, reach) as client,
        streamable_http_client(
            definition.url, http_client=client, max_sse_event_size=MAX_MESSAGE_BYTES
        ) as streams,
    ):
        yield streams


def _client(definition: ServerDefinition, reach: RemoteAccess) -> httpx2.AsyncClient:
    return http_client(
        reach.headers, reach.traffic, auth=reach.auth, timeout_s=definition.timeout_s
    )


class _ListChanges:
    """Receives the notifications of a server."""

    def __init__(self, on_change: Callable[[ListName], None]) -> None:
        self._on_change = on_change

    async def __call__(self, message: types.ServerNotification | Exception) -> None:
        match message:
            case types.ToolListChangedNotification():
                self._on_change("tools")
            case types.PromptListChangedNotification():
                self._on_change("prompts")
            case types.ResourceListChangedNotification():
                self._on_change("resources")
            case _:
                pass
