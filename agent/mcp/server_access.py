"""Opens the connection to one server: its program or URL, its start slot, its errors."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from msgspec import Struct

from agent.mcp.auth.headers_helper import helper_headers
from agent.mcp.auth.loopback_receiver import LoopbackReceiver
from agent.mcp.auth.needs_auth_cache import NeedsAuthCache
from agent.mcp.auth.sign_in_surface import SignInAttempt
from agent.mcp.auth.token_store import TokenStore
from agent.mcp.configuration.server_definition import ServerDefinition
from agent.mcp.mcp_errors import ConnectFailed, McpError, NeedsSignIn, RemoteError
from agent.mcp.mcp_limits import McpLimits
from agent.mcp.server_offer import RemoteTool
from agent.mcp.server_program import server_program
from agent.mcp.server_requests import McpPorts
from agent.mcp.server_state import ServerOffer
from agent.mcp.start_turns import StartTurns
from agent.mcp.transport.message_channel import MessageChannel
from agent.mcp.transport.stdio_channel import StdioChannel
from permissions.base.process.spawn import CannotStart

if TYPE_CHECKING:
    from agent.mcp.protocol.http_traffic import RemoteAccess, TrafficLog
    from agent.mcp.protocol.server_session import ListName, ServerSession

SIGN_IN_S: Final = 600.0
PRESENT: Final = "2026-07-28"
_OTHER_ERA: Final = frozenset({-32022, -32601})
"""Error codes of a handshake from servers of the current revision."""


class McpWorld(Struct, frozen=True, kw_only=True):
    """Objects that all servers of a session share."""

    ports: McpPorts
    limits: McpLimits
    env: Mapping[str, str]
    """Environment for programs that this one starts."""
    launch_dir: Path
    agent_home: Path
    version: str
    tokens: TokenStore
    needs_auth: NeedsAuthCache
    client_metadata_url: str | None = None
    """URL of our client metadata document for authorization servers; https."""
    local_turns: StartTurns
    remote_turns: StartTurns


class ServerAccess:
    """Opens connections to one server, one after another."""

    def __init__(self, definition: ServerDefinition, world: McpWorld) -> None:
        """Open nothing yet."""
        self.definition = definition
        self._world = world
        self._program: StdioChannel | None = None
        self._traffic: TrafficLog | None = None
        self._is_modern = definition.protocol == "modern"
        self.attempt: SignInAttempt | None = None
        """The user's sign-in in progress, if there is one."""
        self.asks_anew = False
        """Whether to contact the server although it recently required a sign-in."""

    @property
    def limits(self) -> McpLimits:
        """The time limits."""
        return self._world.limits

    @property
    def idle_s(self) -> float:
        """How long, in seconds, a call may last without progress; 0 means no limit."""
        limits = self._world.limits
        return limits.idle_local_s if self.definition.is_local else limits.idle_remote_s

    @property
    def can_sign_in(self) -> bool:
        """Whether signing in is possible: not if the configuration contains credentials."""
        definition = self.definition
        has_key = any(name.lower() == "authorization" for name in definition.headers)
        return (
            definition.transport in {"http", "sse"}
            and not has_key
            and definition.headers_helper is None
        )

    @property
    def connect_s(self) -> float:
        """Time limit for connecting, in seconds; longer while a user signs in."""
        return SIGN_IN_S if self.attempt is not None else self._world.limits.connect_s

    async def is_signed_in(self) -> bool:
        """Return whether there are tokens for the server."""
        if not self.can_sign_in:
            return False
        entry = await asyncio.to_thread(self._world.tokens.read, self.definition.url)
        return entry.tokens is not None

    async def receiver(self) -> LoopbackReceiver:
        """Return a listening receiver for the browser's redirect, on the required port.

        A registered client keeps its port; if that is in use, another port is chosen and the
        client is registered again.

        Raises:
            ConnectFailed: no port is free, or the configured one is not.
        """
        oauth = self.definition.oauth
        port = oauth.callback_port if oauth is not None else None
        receiver = LoopbackReceiver()
        try:
            await receiver.start(port if port is not None else await self._known_port())
        except OSError as error:
            if port is not None:
                raise ConnectFailed(f"port {port} is not free: {error.strerror}") from error
            receiver = LoopbackReceiver()
            await receiver.start()
        return receiver

    async def _known_port(self) -> int:
        entry = await asyncio.to_thread(self._world.tokens.read, self.definition.url)
        uris = entry.client.get("redirect_uris") if entry.client is not None else None
        return (urlsplit(str(uris[0])).port or 0) if isinstance(uris, list) and uris else 0

    async def sign_out(self) -> None:
        """Remove the tokens. Raises OSError."""
        await asyncio.to_thread(self._world.tokens.sign_out, self.definition.url)

    def turn(self) -> AbstractAsyncContextManager[None]:
        """Return a context manager for its start slot among the servers of its kind."""
        world = self._world
        return (world.local_turns if self.definition.is_local else world.remote_turns).turn()

    async def open(
        self,
        stack: AsyncExitStack,
        *,
        on_loss: Callable[[], None],
        on_change: Callable[[ListName], None],
        waiting: Callable[[int], None],
    ) -> ServerSession:
        """Connect; the stack closes the connection. Raises any exception; see `failure`."""
        await asyncio.to_thread(_load)
        from agent.mcp.protocol.open_session import SessionListeners, open_session

        reach: MessageChannel | RemoteAccess
        if self.definition.is_local:
            reach = await self._channel()
        elif self.definition.transport == "ws":
            reach = await self._web_socket()
        else:
            reach = await self._remote()
        return await stack.enter_async_context(
            open_session(
                self.definition,
                reach,
                self._world.ports,
                SessionListeners(on_loss, on_change, waiting),
                mode=self._mode(),
                version=self._world.version,
            )
        )

    async def _remote(self) -> RemoteAccess:
        """Return headers and authentication for a remote server. Raises McpError."""
        from agent.mcp.protocol.http_traffic import RemoteAccess, TrafficLog
        from agent.mcp.protocol.oauth import WANTS_SIGN_IN, ServerAuth

        definition, world = self.definition, self._world
        traffic = self._traffic = TrafficLog()
        helper = await helper_headers(definition, world.env, world.launch_dir)
        headers = {**definition.headers, **helper}
        if not self.can_sign_in:
            return RemoteAccess(headers, traffic)
        asks = self.attempt is not None or self.asks_anew or await self.is_signed_in()
        if not asks and await asyncio.to_thread(world.needs_auth.wants, definition.url):
            raise NeedsSignIn(WANTS_SIGN_IN)
        auth = ServerAuth(definition, world.tokens, self.attempt, world.client_metadata_url)
        return RemoteAccess(headers, traffic, auth)

    async def _web_socket(self) -> MessageChannel:
        """Open a web socket, which supports authentication only by headers. Raises McpError."""
        from agent.mcp.transport.web_socket import WebSocketChannel

        definition, world = self.definition, self._world
        helper = await helper_headers(definition, world.env, world.launch_dir)
        return await WebSocketChannel.connect(definition.url, {**definition.headers, **helper})

    async def note_auth(self, *, is_wanted: bool) -> None:
        """Record whether the server requires a sign-in, for the next start."""
        change = self._world.needs_auth.note if is_wanted else self._world.needs_auth.forget
        with contextlib.suppress(OSError):
            await asyncio.to_thread(change, self.definition.url)

    async def _channel(self) -> MessageChannel:
        definition, world = self.definition, self._world
        if definition.transport == "sdk":
            if world.ports.open_channel is None:
                raise ConnectFailed("it runs in the calling program, but none called this one")
            return world.ports.open_channel(definition)
        empty_dir = world.agent_home / "mcp" / "empty"
        program = server_program(definition, world.env, world.launch_dir, empty_dir)
        if program.cwd == empty_dir:
            await asyncio.to_thread(_make_directory, empty_dir)
        if definition.plugin is not None:
            await asyncio.to_thread(_make_directory, definition.plugin.data)
        self._program = await StdioChannel.start(await world.ports.confine(definition, program))
        return self._program

    def _mode(self) -> str:
        """Return the revision to try first, as probing makes some local servers do real work."""
        definition = self.definition
        if definition.protocol is not None and definition.protocol != "modern":
            return definition.protocol
        if self._is_modern:
            return PRESENT if definition.protocol == "modern" else "auto"
        return "legacy" if definition.is_local or definition.transport in {"sse", "ws"} else "auto"

    def failure(self, error: Exception) -> McpError:
        """Return our error for a failed attempt."""
        if isinstance(error, CannotStart):
            return ConnectFailed(str(error))
        from agent.mcp.protocol.connect_failure import read_failure

        read = read_failure(error, self._traffic, can_sign_in=self.can_sign_in)
        if isinstance(read, RemoteError) and read.code in _OTHER_ERA and not self._is_modern:
            self._is_modern = True
            return ConnectFailed(str(read), is_transient=True)
        program = self._program
        is_late = isinstance(error, TimeoutError)
        if program is not None and not is_late and (exit_text := program.exit_text):
            return ConnectFailed(exit_text)
        return read

    def filter_offer(self, offer: ServerOffer, tools: tuple[RemoteTool, ...]) -> ServerOffer:
        """Return the offer with these tools, without disabled ones, and with those in `withheld`
        that the user has to accept first."""
        definition = self.definition
        enabled_tools = tuple(
            tool
            for tool in tools
            if tool.name not in definition.disabled_tools
            and (definition.enabled_tools is None or tool.name in definition.enabled_tools)
        )
        withheld = set(self._world.ports.withhold(definition, enabled_tools, offer.instructions))
        return ServerOffer(
            tools=tuple(tool for tool in enabled_tools if tool.name not in withheld),
            withheld=tuple(tool for tool in enabled_tools if tool.name in withheld),
            problems=offer.problems,
            prompts=offer.prompts,
            resources=offer.resources,
            instructions=offer.instructions,
        )

    def take_expiry(self) -> bool:
        """Return whether the server lost the session since the last call of this method."""
        traffic = self._traffic
        if traffic is None or not traffic.lost_session:
            return False
        traffic.lost_session = False
        return True

    def error_text(self) -> str:
        """Return the end of its program's standard error."""
        return self._program.error_text if self._program is not None else ""


def _make_directory(path: Path) -> None:
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ConnectFailed(f"{path} cannot be created: {error.strerror}") from error


def _load() -> None:
    """Import the SDK, which takes half a second: call it in a thread."""
    importlib.import_module("agent.mcp.protocol.open_session")
