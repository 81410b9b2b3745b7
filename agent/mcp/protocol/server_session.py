"""One open connection in plain values: lists, calls, changes. Next: `open_session`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Final, Literal, TypeVar

import mcp_types as types
from mcp import Client, MCPError
from mcp.client.subscriptions import (
    PromptsListChanged,
    ResourcesListChanged,
    SubscriptionLost,
    ToolsListChanged,
)
from pydantic import ValidationError

from agent.mcp.mcp_errors import CallTimedOut, RemoteError, ServerUnavailable
from agent.mcp.protocol.message_guard import MessageGuard
from agent.mcp.protocol.offer_reading import (
    cut,
    read_contents,
    read_messages,
    read_prompts,
    read_resources,
    read_result,
    read_tools,
)
from agent.mcp.server_offer import (
    CallResult,
    RemoteMessage,
    RemotePrompt,
    RemoteResource,
    RemoteTool,
    ResourceContent,
)

LIST_S: Final = 10.0
"""Time limit for one page of a list, in seconds."""
MAX_PAGES: Final = 100
MAX_ENTRIES: Final = 2_000
NO_LIMIT_S: Final = 1e8
ListName = Literal["tools", "prompts", "resources"]
Progress = Callable[[float, float | None, str | None], None]
Page = TypeVar(
    "Page",
    types.ListToolsResult,
    types.ListPromptsResult,
    types.ListResourcesResult,
    types.ListResourceTemplatesResult,
)
Answer = TypeVar("Answer")


class ServerSession:
    """A connected server. Every method raises `McpError` if the server fails."""

    def __init__(self, server: str, client: Client, guard: MessageGuard) -> None:
        """`client` is connected; `server` is the configured name."""
        self._server = server
        self._client = client
        self._guard = guard
        info = client.server_info
        self.server_name = cut(info.title or info.name, 100) if info is not None else ""
        self.server_version = cut(info.version, 40) if info is not None else ""
        self.protocol_version = client.protocol_version
        self.instructions = cut(client.instructions)

    @property
    def is_modern(self) -> bool:
        """Whether the server uses a protocol revision without a handshake."""
        return self._client.session.initialize_result is None

    @property
    def offers(self) -> types.ServerCapabilities:
        """The capabilities that the server declared."""
        return self._client.server_capabilities

    async def list_tools(self) -> tuple[tuple[RemoteTool, ...], tuple[str, ...]]:
        """Return its tools, and sentences about unusable entries."""
        if self.offers.tools is None:
            return (), ()
        self._guard.problems.clear()
        problems: list[str] = []
        tools = [
            tool
            async for page in self._pages(self._client.list_tools, problems)
            for tool in page.tools
        ]
        usable = read_tools(self._server, tools[:MAX_ENTRIES], problems)
        return usable, (*self._guard.problems, *problems)

    async def list_prompts(self) -> tuple[RemotePrompt, ...]:
        """Return its prompts."""
        if self.offers.prompts is None:
            return ()
        pages = self._pages(self._client.list_prompts, [])
        prompts = [prompt async for page in pages for prompt in page.prompts]
        return read_prompts(self._server, prompts[:MAX_ENTRIES])

    async def list_resources(self) -> tuple[RemoteResource, ...]:
        """Return its resources and its templates."""
        if self.offers.resources is None:
            return ()
        pages = self._pages(self._client.list_resources, [])
        resources = [one async for page in pages for one in page.resources]
        templates: list[types.ResourceTemplate] = []
        with suppress(RemoteError):  # servers without templates often lack the method
            more = self._pages(self._client.list_resource_templates, [])
            templates = [one async for page in more for one in page.resource_templates]
        return (
            *read_resources(self._server, resources[:MAX_ENTRIES]),
            *read_resources(self._server, templates[:MAX_ENTRIES]),
        )

    async def _pages(
        self, fetch: Callable[..., Awaitable[Page]], problems: list[str]
    ) -> AsyncIterator[Page]:
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            page = await await_answer(fetch(cursor=cursor, cache_mode="refresh"), LIST_S)
            yield page
            cursor = page.next_cursor
            if cursor is None:
                return
        problems.append(f"the list has more than {MAX_PAGES} pages; the rest was not read")

    async def call_tool(
        self, name: str, arguments: Mapping[str, object], on_progress: Progress
    ) -> CallResult:
        """Call a tool; cancelling the call also cancels it at the server."""

        async def report(progress: float, total: float | None, message: str | None) -> None:
            on_progress(progress, total, message)

        call = self._client.call_tool(name, dict(arguments), NO_LIMIT_S, progress_callback=report)
        return read_result(await await_answer(call))

    async def read_resource(self, uri: str) -> tuple[ResourceContent, ...]:
        """Return the parts of a resource."""
        read = await await_answer(self._client.read_resource(uri, cache_mode="refresh"))
        return read_contents(read.contents)

    async def get_prompt(
        self, name: str, arguments: Mapping[str, str]
    ) -> tuple[RemoteMessage, ...]:
        """Return the messages of a prompt."""
        prompt = await await_answer(self._client.get_prompt(name, dict(arguments)))
        return read_messages(prompt.messages)

    async def complete(
        self,
        of: RemotePrompt | RemoteResource,
        argument: str,
        value: str,
        others: Mapping[str, str],
    ) -> tuple[str, ...]:
        """Return completions for an argument of a prompt or of a template."""
        if self.offers.completions is None:
            return ()
        ref: types.PromptReference | types.ResourceTemplateReference
        if isinstance(of, RemotePrompt):
            ref = types.PromptReference(type="ref/prompt", name=of.name)
        else:
            ref = types.ResourceTemplateReference(type="ref/resource", uri=of.uri)
        request = self._client.complete(ref, {"name": argument, "value": value}, dict(others))
        answer = await await_answer(request, LIST_S)
        return tuple(cut(text, 500) for text in answer.completion.values[:100])

    async def roots_changed(self) -> None:
        """Notify a server of an earlier revision that the roots changed."""
        if not self.is_modern:
            notice = types.RootsListChangedNotification()
            await await_answer(self._client.session.send_notification(notice), LIST_S)

    async def watch(self, on_change: Callable[[ListName], None]) -> None:
        """Report changed lists of a server of the current revision until its stream ends."""
        offers = self.offers
        with suppress(SubscriptionLost, MCPError):
            async with self._client.listen(
                tools_list_changed=_changes(offers.tools),
                prompts_list_changed=_changes(offers.prompts),
                resources_list_changed=_changes(offers.resources),
            ) as events:
                async for event in events:
                    match event:
                        case ToolsListChanged():
                            on_change("tools")
                        case PromptsListChanged():
                            on_change("prompts")
                        case ResourcesListChanged():
                            on_change("resources")
                        case _:
                            pass


def _changes(
    capability: types.ToolsCapability | types.PromptsCapability | types.ResourcesCapability | None,
) -> bool:
    return capability is not None and capability.list_changed is True


async def await_answer(request: Awaitable[Answer], limit_s: float | None = None) -> Answer:
    """Await a server's response; convert errors of the SDK to ours.

    Raises:
        McpError: there is no response, an error, or an invalid response.
    """
    try:
        async with asyncio.timeout(limit_s):
            return await request
    except TimeoutError:
        raise CallTimedOut(f"no answer within {limit_s:g} s") from None
    except MCPError as error:
        if error.code == types.CONNECTION_CLOSED:
            raise ServerUnavailable(f"the connection was lost: {cut(str(error), 300)}") from error
        if error.code == types.REQUEST_TIMEOUT:
            raise CallTimedOut(cut(str(error), 300)) from error
        raise RemoteError(cut(str(error), 1_000), error.code) from error
    except ValidationError as error:
        count = error.error_count()
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise RemoteError(
            f"the answer does not fit the protocol ({count} problems; {where}: {first['msg']})",
            types.INVALID_REQUEST,
        ) from error
    except RuntimeError as error:
        # Raised by the SDK for results that violate the tool's output schema, among others.
        raise RemoteError(cut(str(error), 1_000), types.INTERNAL_ERROR) from error
