"""A server inside the calling program, reached by control lines: `mcp_message`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

from agent.errors import AgentError
from agent.mcp.transport.message_channel import ChannelClosed

if TYPE_CHECKING:
    from agent.mcp.transport.message_channel import MessageChannel

AskServer = Callable[[str, Mapping[str, object]], Awaitable[Mapping[str, object] | None]]
"""Passes a message to a server of the calling program; returns its answer, None once the program
has ended."""


class CallerChannel:
    """A message channel to one server in the calling program."""

    def __init__(self, name: str, ask: AskServer) -> None:
        """`ask` passes messages to the program."""
        self._name = name
        self._ask = ask
        self._answers: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._ask_tasks: set[asyncio.Task[None]] = set()

    async def send(self, message: Mapping[str, object]) -> None:
        """Pass on a message; its answer is queued for `receive`."""
        task = asyncio.ensure_future(self._handle_message(message))
        self._ask_tasks.add(task)
        task.add_done_callback(self._ask_tasks.discard)

    async def _handle_message(self, message: Mapping[str, object]) -> None:
        try:
            answer = await self._ask(self._name, message)
        except AgentError as error:
            failure = {"code": -32603, "message": str(error)}
            answer = {"jsonrpc": "2.0", "id": message.get("id"), "error": failure}
        if answer is None:
            await self._answers.put(None)
        elif "id" in message:
            await self._answers.put(json.dumps(answer).encode())

    async def receive(self) -> bytes:
        """Return the next answer. Raises ChannelClosed."""
        answer = await self._answers.get()
        if answer is None:
            raise ChannelClosed("the calling program has ended")
        return answer

    async def aclose(self) -> None:
        """Cancel pending messages and close the channel."""
        tasks = set(self._ask_tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        await self._answers.put(None)


if TYPE_CHECKING:

    def _check_protocol(channel: CallerChannel) -> MessageChannel:
        return channel
