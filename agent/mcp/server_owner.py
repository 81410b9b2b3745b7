"""The life cycle of one server: the task that owns its connection, and the calls through it.

One task owns a connection: the SDK's cancel scopes must be entered and left in the same task, and a
failing transport cancels that task. Callers never run inside it.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Final, TypeVar

from msgspec.structs import replace

from agent.mcp.configuration.server_definition import ServerDefinition
from agent.mcp.mcp_errors import McpError, NeedsSignIn, ServerUnavailable
from agent.mcp.restart_plan import RestartPlan
from agent.mcp.server_access import ServerAccess
from agent.mcp.server_offer import CallResult
from agent.mcp.server_state import ServerOffer, ServerState, ServerView
from agent.mcp.timed_call import CallClock

if TYPE_CHECKING:
    from agent.mcp.protocol.server_session import ListName, ServerSession

MAX_CALLS: Final = 64
"""Most concurrent calls of one server."""
OnProgress = Callable[[float, float | None, str | None], None]
Answer = TypeVar("Answer")


class ServerOwner:
    """Owns the connection to one server."""

    def __init__(self, access: ServerAccess, on_change: Callable[[ServerView], None]) -> None:
        """Start nothing yet; `on_change` is called with each new view."""
        self.access = access
        definition = access.definition
        self.view = ServerView(
            definition=definition, state=ServerState.PENDING, can_sign_in=access.can_sign_in
        )
        self._on_change = on_change
        self._task: asyncio.Task[None] | None = None
        self._session: ServerSession | None = None
        self._wake = asyncio.Event()
        self._stale: set[ListName] = set()
        self._is_lost = self._is_signed_in = False
        self._settled_event = asyncio.Event()
        self._calls = asyncio.Semaphore(MAX_CALLS)
        self._writing = asyncio.Lock()
        self._clocks: set[CallClock] = set()
        self._restarts = RestartPlan(is_local=definition.is_local)

    @property
    def definition(self) -> ServerDefinition:
        """The server's definition."""
        return self.access.definition

    def start(self) -> None:
        """Start to connect, unless that is in progress."""
        if self._task is None or self._task.done():
            self._restarts = RestartPlan(is_local=self.definition.is_local)
            self._set(ServerState.PENDING)
            self._task = asyncio.create_task(
                self._maintain_connection(), name=f"mcp {self.definition.name}"
            )

    async def stop(self, state: ServerState = ServerState.DISABLED, reason: str = "") -> None:
        """Close the connection."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait({task})
        self._set(state, reason)

    async def wait_until_settled(self) -> None:
        """Wait until connecting has ended."""
        await self._settled_event.wait()

    def show(self, state: ServerState, reason: str) -> None:
        """Show the server in a state without a connection."""
        self._set(state, reason)

    def list_again(self) -> None:
        """Reload its tools, as the withheld ones may have changed."""
        self._wake_owner("tools")

    async def session(self) -> ServerSession:
        """Return the open connection; wait while connecting.

        Raises:
            ServerUnavailable: there is no connection.
        """
        if self.view.state is ServerState.PENDING:
            await self._settled_event.wait()
        if self._session is None:
            raise ServerUnavailable(unavailable_text(self.view))
        return self._session

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, object],
        *,
        on_progress: OnProgress = lambda _amount, _total, _message: None,
        is_alone: bool,
    ) -> CallResult:
        """Call a tool. Cancelling the call also cancels it at the server; the connection stays.

        Args:
            is_alone: Whether no other call with this flag may run at the same time.

        Raises:
            McpError: the server or the connection failed.
        """

        async def call_once(clock: CallClock) -> CallResult:
            def progress(amount: float, total: float | None, message: str | None) -> None:
                clock.touch()
                on_progress(amount, total, message)

            session = await self.session()
            return await session.call_tool(name, arguments, progress)

        async with self._calls, self._writing if is_alone else contextlib.nullcontext():
            return await self._retry_after_expiry(call_once)

    async def ask(self, request: Callable[[ServerSession], Awaitable[Answer]]) -> Answer:
        """Send any other request, with the limits of a call. Raises McpError."""

        async def ask_once(_clock: CallClock) -> Answer:
            return await request(await self.session())

        async with self._calls:
            return await self._retry_after_expiry(ask_once)

    async def _retry_after_expiry(
        self, request: Callable[[CallClock], Awaitable[Answer]]
    ) -> Answer:
        """Run a request; repeat it once if the server had lost the session and did not run it."""
        generation = self.view.generation
        try:
            return await self._run_timed(request)
        except McpError:
            if not self.access.take_expiry():
                raise
        if self.view.generation == generation:
            self._mark_lost()
        return await self._run_timed(request)

    async def _run_timed(self, request: Callable[[CallClock], Awaitable[Answer]]) -> Answer:
        clock = CallClock(
            self.definition.timeout_s or self.access.limits.call_s, self.access.idle_s
        )
        self._clocks.add(clock)
        try:
            return await clock.run(request(clock))
        except ServerUnavailable:
            # This is the only sign that a server's program died during a call.
            self._mark_lost()
            raise
        finally:
            self._clocks.discard(clock)

    async def _maintain_connection(self) -> None:
        while True:
            self._is_lost = False
            failure = await self._connect_once()
            if isinstance(failure, NeedsSignIn):
                await self.access.note_auth(is_wanted=True)
                self._is_signed_in = False
                self._set(ServerState.NEEDS_AUTH, str(failure))
                return
            wait_s = self._restarts.next_wait_s(failure)
            if wait_s is None:
                self._set(ServerState.FAILED, str(failure or "the connection was lost"))
                return
            self._set(ServerState.PENDING, str(failure or "the connection was lost"))
            await asyncio.sleep(wait_s)

    async def _connect_once(self) -> McpError | None:
        """Connect and maintain the connection until it ends; return why connecting failed, or None
        if the connection was lost."""
        try:
            async with AsyncExitStack() as stack:
                async with self.access.turn(), asyncio.timeout(self.access.connect_s):
                    session = await self.access.open(
                        stack,
                        on_loss=self._mark_lost,
                        on_change=self._wake_owner,
                        waiting=self._pause_clocks,
                    )
                    offer = await self._offer(session)
                if self.access.can_sign_in:
                    await self.access.note_auth(is_wanted=False)
                    self._is_signed_in = await self.access.is_signed_in()
                self._publish_connection(session, offer)
                watching = asyncio.create_task(self._watch(session))
                try:
                    await self._process_changes(session)
                finally:
                    watching.cancel()
                    await asyncio.wait({watching})
        except Exception as error:  # noqa: BLE001 - any error of a connection becomes a state
            return self.access.failure(error)
        finally:
            self._session = None
        return None

    def _publish_connection(self, session: ServerSession, offer: ServerOffer) -> None:
        self._session = session
        self._restarts.record_connection()
        self.view = replace(
            self.view,
            offer=offer,
            server_name=session.server_name,
            server_version=session.server_version,
            protocol_version=session.protocol_version,
            generation=self.view.generation + 1,
        )
        self._set(ServerState.CONNECTED)

    async def _process_changes(self, session: ServerSession) -> None:
        """Read changed lists until the connection is lost."""
        while not self._is_lost:
            await self._wake.wait()
            self._wake.clear()
            stale, self._stale = self._stale, set()
            if stale and not self._is_lost:
                self.view = replace(self.view, offer=await self._refresh(session, stale))
                self._on_change(self.view)

    async def _offer(self, session: ServerSession) -> ServerOffer:
        self._stale.clear()
        offer = ServerOffer(instructions=session.instructions)
        return await self._read(session, offer, {"tools", "prompts", "resources"})

    async def _refresh(self, session: ServerSession, stale: set[ListName]) -> ServerOffer:
        return await self._read(session, self.view.offer, stale)

    async def _read(
        self, session: ServerSession, offer: ServerOffer, stale: set[ListName]
    ) -> ServerOffer:
        """Return the offer with these lists reloaded; an unreadable list stays unchanged."""
        problems: list[str] = []
        for name in sorted(stale):
            try:
                match name:
                    case "tools":
                        tools, tool_problems = await session.list_tools()
                        problems.extend(tool_problems)
                        offer = self.access.filter_offer(offer, tools)
                    case "prompts":
                        offer = replace(offer, prompts=await session.list_prompts())
                    case "resources":
                        offer = replace(offer, resources=await session.list_resources())
            except ServerUnavailable:
                raise
            except McpError as error:
                problems.append(f"its {name} cannot be listed: {error}")
        return replace(offer, problems=tuple(problems))

    async def _watch(self, session: ServerSession) -> None:
        """Receive change notifications; reopen their stream if it ends early."""
        if not session.is_modern:
            return
        with contextlib.suppress(McpError):
            await self._restarts.repeat(lambda: session.watch(self._wake_owner))

    def _wake_owner(self, name: ListName) -> None:
        self._stale.add(name)
        self._wake.set()

    def _mark_lost(self) -> None:
        self._is_lost = True
        self._wake.set()
        if self._session is not None:
            self._session = None
            self._set(ServerState.PENDING, "the connection was lost")

    def _pause_clocks(self, count: int) -> None:
        for clock in self._clocks:
            clock.pause(count > 0)

    def _set(self, state: ServerState, reason: str = "") -> None:
        offer = self.view.offer if state is ServerState.CONNECTED else ServerOffer()
        self.view = replace(
            self.view,
            state=state,
            reason=reason,
            offer=offer,
            detail=self.access.error_text() if state is ServerState.FAILED else "",
            attempt=self._restarts.attempt,
            is_signed_in=self._is_signed_in,
        )
        if state is ServerState.PENDING:
            self._settled_event.clear()
        else:
            self._settled_event.set()
        self._on_change(self.view)


def unavailable_text(view: ServerView) -> str:
    """Return the model's text on why a server cannot be called."""
    name = view.name
    match view.state:
        case ServerState.NEEDS_AUTH:
            return f"The MCP server {name} wants the user to sign in (with /mcp) first."
        case ServerState.DISABLED:
            return f"The MCP server {name} is disabled."
        case _:
            reason = view.reason or "the connection was lost"
            return f"The MCP server {name} is not connected: {reason}."
