"""Converts a server's tool to one of our tools, which the loop treats like any other.

A server's annotations of its tools are untrusted: they determine which calls may run concurrently,
but affect permissions only if the user trusts the server's annotations.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Final

from pydantic import BaseModel, ConfigDict

from agent.mcp.bridge.tool_result import ResultFiles, outcome_of
from agent.mcp.bridge.tool_schema import UnusableSchema, flatten
from agent.mcp.mcp_errors import McpError
from agent.mcp.mcp_servers import McpServers
from agent.mcp.server_offer import RemoteTool
from agent.mcp.server_state import ServerView
from agent.tools.base import (
    AnyTool,
    Concurrency,
    InterruptBehavior,
    Tool,
    ToolContext,
    ToolError,
    ToolOutcome,
    build_tool,
)

MAX_RESULT_TOKENS: Final = 25_000
WARNED_TOKENS: Final = 10_000
"""Size above which a result is reported to the user, as it takes much of the window."""
OUTPUT_VARIABLE: Final = "MAX_MCP_OUTPUT_TOKENS"
CHARS_PER_TOKEN: Final = 4
MAX_RAISED_CHARS: Final = 500_000
"""Largest limit that a tool may set for its own results."""
_RAISED: Final = "anthropic/maxResultSizeChars"
_ASKS: Final = "anthropic/requiresUserInteraction"
_ALWAYS: Final = "anthropic/alwaysLoad"


class RemoteInput(BaseModel):
    """The parameters of a server's tool: the server knows which they are, and refuses others."""

    model_config = ConfigDict(extra="allow")

    def arguments(self) -> dict[str, object]:
        """Return the parameters unchanged."""
        return dict(self.model_extra or {})


class ToolBridge:
    """Builds our tools from those that servers offer."""

    def __init__(
        self,
        servers: McpServers,
        env: Mapping[str, str],
        warn: Callable[[str], None],
    ) -> None:
        """`warn` shows a line to the user."""
        self._servers = servers
        self._warn = warn
        tokens = env.get(OUTPUT_VARIABLE, "")
        limit = int(tokens) if tokens.isdecimal() else MAX_RESULT_TOKENS
        self._max_chars = limit * CHARS_PER_TOKEN

    def tools(self, view: ServerView) -> tuple[tuple[AnyTool, ...], tuple[str, ...]]:
        """Return the tools of a server, and messages about those that cannot be offered."""
        tools: list[AnyTool] = []
        problems: list[str] = []
        for remote in view.tools:
            try:
                tools.append(self._tool(view, remote))
            except UnusableSchema as error:
                problems.append(f"{remote.name}: {error}")
        return tuple(tools), tuple(problems)

    def _tool(self, view: ServerView, remote: RemoteTool) -> Tool[RemoteInput]:
        schema, note = flatten(remote.input_schema)
        is_reading = remote.hints.read_only is True
        is_trusted = view.definition.trusts_annotations
        own_limit = remote.meta.get(_RAISED)
        max_chars = min(own_limit, MAX_RAISED_CHARS) if isinstance(own_limit, int) else 0
        room = max(self._max_chars, max_chars)
        is_always = view.definition.always_load or remote.meta.get(_ALWAYS) is True

        async def run(tool_input: RemoteInput, context: ToolContext) -> ToolOutcome:
            outcome = await self._call(remote, tool_input, context)
            tokens = _characters(outcome) // CHARS_PER_TOKEN
            if WARNED_TOKENS < tokens <= room // CHARS_PER_TOKEN:
                self._warn(
                    f"{remote.full_name} returned about {tokens:,} tokens, which stay in the "
                    f"conversation; {OUTPUT_VARIABLE} limits that"
                )
            return outcome

        return build_tool(
            name=remote.full_name,
            description="\n\n".join(filter(None, (remote.description, note))) or remote.title,
            input_model=RemoteInput,
            input_schema=schema,
            run=run,
            concurrency=lambda _: (
                Concurrency.READ_ONLY if is_reading else Concurrency.WRITE_EXCLUSIVE
            ),
            is_read_only=lambda _: is_reading and is_trusted,
            is_destructive=lambda _: not is_reading and remote.hints.destructive is not False,
            requires_permission=not (is_reading and is_trusted),
            requires_user_interaction=remote.meta.get(_ASKS) is True,
            interrupt_behavior=InterruptBehavior.CANCEL,
            always_load=is_always,
            max_result_size_chars=room,
            identifier=lambda tool_input, _root: _line(remote, tool_input),
        )

    async def _call(
        self, remote: RemoteTool, tool_input: RemoteInput, context: ToolContext
    ) -> ToolOutcome:
        def progress(amount: float, total: float | None, message: str | None) -> None:
            of = f"/{total:g}" if total else ""
            context.progress(f"{amount:g}{of} {message or ''}".rstrip() + "\n")

        try:
            result = await self._servers.call_tool(
                remote.server, remote.name, tool_input.arguments(), on_progress=progress
            )
        except McpError as error:
            raise ToolError(str(error)) from error
        files = ResultFiles(context.services.results_dir, context.tool_use_id)
        return await asyncio.to_thread(outcome_of, result, files)


def _characters(outcome: ToolOutcome) -> int:
    if isinstance(outcome.content, str):
        return len(outcome.content)
    return sum(len(str(block.get("text", ""))) for block in outcome.content)


def _line(remote: RemoteTool, tool_input: RemoteInput) -> str:
    arguments = tool_input.arguments()
    text = json.dumps(arguments, ensure_ascii=False) if arguments else ""
    return f"{remote.full_name} {text}".rstrip()
