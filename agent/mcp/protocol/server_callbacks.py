"""Answers a server's requests to the client, in the SDK's types, with the ports."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

import mcp_types as types
from mcp.client.session import ClientRequestContext
from pydantic import FileUrl

from agent.mcp.configuration.server_definition import ServerDefinition
from agent.mcp.elicited_values import complete_values
from agent.mcp.server_requests import (
    ElicitationAnswer,
    ElicitationRequest,
    McpPorts,
    SamplingRequest,
)
from permissions.base.network.web_address import web_host
from permissions.base.text.sanitize import sanitize

MAX_OPEN: Final = 5
"""Most open questions of one server to the user; further ones are declined automatically."""
MAX_TEXT: Final = 4_000
MAX_SAMPLE_TOKENS: Final = 4_000


class ServerCallbacks:
    """Answers the requests of one server."""

    def __init__(
        self, definition: ServerDefinition, ports: McpPorts, on_waiting: Callable[[int], None]
    ) -> None:
        """`on_waiting` is called with the number of open questions at each change."""
        self._server = definition
        self._ports = ports
        self._on_waiting = on_waiting
        self._open = 0
        self._sampling = asyncio.Lock()

    async def elicit(
        self, context: ClientRequestContext, params: types.ElicitRequestParams
    ) -> types.ElicitResult | types.ErrorData:
        """Ask the user."""
        elicit = self._ports.elicit
        if elicit is None:
            return types.ErrorData(code=types.INVALID_REQUEST, message="no user can answer")
        if self._open >= MAX_OPEN:
            return types.ElicitResult(action="decline")
        if isinstance(params, types.ElicitRequestURLParams):
            try:
                web_host(params.url)
            except ValueError as error:
                return types.ErrorData(code=types.INVALID_PARAMS, message=f"the URL is {error}")
        request = self._request(params)
        self._count(1)
        try:
            answer = await elicit(request)
        finally:
            self._count(-1)
        return self._result(request, answer)

    def _count(self, change: int) -> None:
        self._open += change
        self._on_waiting(self._open)

    def _request(self, params: types.ElicitRequestParams) -> ElicitationRequest:
        message = sanitize(params.message)[:MAX_TEXT]
        if isinstance(params, types.ElicitRequestURLParams):
            return ElicitationRequest(
                server=self._server.name, mode="url", message=message, url=params.url
            )
        schema = dict(params.requested_schema)
        return ElicitationRequest(
            server=self._server.name, mode="form", message=message, schema=schema
        )

    def _result(self, request: ElicitationRequest, answer: ElicitationAnswer) -> types.ElicitResult:
        if answer.action != "accept" or request.mode == "url":
            return types.ElicitResult(action=answer.action)
        values = complete_values(request.schema, answer.content or {})
        return types.ElicitResult(action="accept", content=values)

    async def sample(
        self, context: ClientRequestContext, params: types.CreateMessageRequestParams
    ) -> types.CreateMessageResult | types.ErrorData:
        """Ask the model if the user allowed that for this server, one request at a time."""
        sample = self._ports.sample
        if sample is None:
            return types.ErrorData(code=types.INVALID_REQUEST, message="sampling is not allowed")
        request = SamplingRequest(
            server=self._server.name,
            messages=tuple((message.role, _texts(message)) for message in params.messages),
            system=params.system_prompt or "",
            max_tokens=min(params.max_tokens, MAX_SAMPLE_TOKENS),
        )
        async with self._sampling:
            answer = await sample(request)
        if answer is None:
            return types.ErrorData(code=-1, message="the user refused")
        return types.CreateMessageResult(
            role="assistant",
            content=types.TextContent(type="text", text=answer.text),
            model=answer.model,
            stop_reason=answer.stop_reason,
        )

    async def roots(self, context: ClientRequestContext) -> types.ListRootsResult | types.ErrorData:
        """Return the working directories."""
        paths = self._ports.roots() if self._ports.roots is not None else ()
        return types.ListRootsResult(
            roots=[
                types.Root(uri=FileUrl(path.absolute().as_uri()), name=path.name) for path in paths
            ]
        )

    async def log(self, params: types.LoggingMessageNotificationParams) -> None:
        """Write a log message of the server to the debug log."""
        name = f"{params.logger}: " if params.logger else ""
        text = sanitize(f"{name}{params.data}")[:MAX_TEXT].replace("\n", " ")
        self._ports.log(self._server.name, params.level, text)


def _texts(message: types.SamplingMessage) -> str:
    blocks = message.content if isinstance(message.content, list) else [message.content]
    return "\n".join(block.text for block in blocks if isinstance(block, types.TextContent))
