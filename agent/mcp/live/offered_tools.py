"""Offers the tools of connected servers in a conversation, most of them deferred.

The definitions of loaded tools are sent with every request, and a change invalidates the prompt
cache. So tools that fit a share of the window are loaded before the first request; all others,
and later ones, are found with ToolSearch.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from agent.mcp.server_state import ServerView
from agent.model.text_tokens import text_tokens
from agent.tools.base import AnyTool
from agent.tools.deferred_tools import DeferredTools
from agent.tools.registry import ToolRegistry

SEARCH_VARIABLE: Final = "ENABLE_TOOL_SEARCH"
DEFAULT_PERCENT: Final = 10


def share_of_window(env: Mapping[str, str], setting: int | None) -> int:
    """Return the percentage of the window that MCP tools may take before they are deferred.

    0 defers all of them, 100 none. The variable is Claude Code's: `true`, `false`, `auto`,
    `auto:N`.
    """
    text = env.get(SEARCH_VARIABLE, "").strip().lower()
    if text in ("true", "1"):
        return 0
    if text in ("false", "0"):
        return 100
    percent = text.removeprefix("auto:")
    if percent != text and percent.isdigit():
        return min(100, int(percent))
    return DEFAULT_PERCENT if setting is None else setting


class OfferedTools:
    """Keeps servers' tools in the registry while their server offers them."""

    def __init__(
        self,
        registry: ToolRegistry,
        deferred_tools: DeferredTools,
        build: Callable[[ServerView], Sequence[AnyTool]],
        room_tokens: Callable[[], int],
        *,
        is_for_workers: bool = False,
    ) -> None:
        """`build` makes the tools of a server; `room_tokens` returns the limit for all of them.

        `is_for_workers`: the model cannot use the tools itself, but give them to workers.
        """
        self.is_for_workers = is_for_workers
        self._registry = registry
        self._deferred_tools = deferred_tools
        self._build = build
        self._room_tokens = room_tokens
        self._by_server: dict[str, tuple[AnyTool, ...]] = {}
        self._always: set[str] = set()
        self.has_begun = False
        """Whether the tools of the first request are determined."""
        # Without ToolSearch, as when the first server is added later, none could be found.
        self._can_search = is_for_workers or registry.get("ToolSearch") is not None
        self.clashes: list[str] = []
        """Names of tools that are omitted because another tool has the name."""

    def follow(self, view: ServerView) -> None:
        """Replace a server's tools by those that it offers now."""
        old_names = {tool.name for tool in self._by_server.get(view.name, ())}
        by_name: dict[str, AnyTool] = {}
        for server_tool in self._build(view):
            tool = replace(server_tool, should_defer=True, always_load=False)
            if server_tool.always_load:
                self._always.add(tool.name)
            if tool.name in old_names:
                self._registry.replace(tool)
            elif self._registry.get(tool.name) is not None:
                self.clashes.append(tool.name)
                continue
            else:
                self._registry.register(tool)
            by_name[tool.name] = tool
        for name in old_names - by_name.keys():
            self._registry.unregister(name)
        self._by_server[view.name] = tuple(by_name.values())
        if not self._can_search:
            self._deferred_tools.load(list(by_name))

    def forget(self, server: str) -> None:
        """Remove the tools of a server that is gone."""
        for tool in self._by_server.pop(server, ()):
            self._registry.unregister(tool.name)

    def begin(self) -> None:
        """Load the tools that fit, before the first request."""
        if self.has_begun:
            return
        self.has_begun = True
        if self.is_for_workers:
            return
        tools = [tool for tools in self._by_server.values() for tool in tools]
        fits = sum(map(tool_tokens, tools)) <= self._room_tokens()
        self._deferred_tools.load(
            [tool.name for tool in tools if fits or tool.name in self._always]
        )

    @property
    def has_resources(self) -> bool:
        """Whether the model has the tool that reads servers' resources."""
        return self._registry.get("ReadMcpResourceTool") is not None

    def names(self, server: str) -> tuple[str, ...]:
        """Return the names of a server's tools."""
        return tuple(tool.name for tool in self._by_server.get(server, ()))

    def tokens(self, server: str) -> int:
        """Return an estimate of the tokens of a server's definitions."""
        return sum(map(tool_tokens, self._by_server.get(server, ())))

    def waiting(self, server: str) -> tuple[str, ...]:
        """Return the names of a server's tools that are not loaded."""
        loaded_names = set(self._deferred_tools.loaded_names)
        return tuple(name for name in self.names(server) if name not in loaded_names)


def tool_tokens(tool: AnyTool) -> int:
    """Return an estimate of the tokens of a tool's definition."""
    return text_tokens(json.dumps(tool.to_wire()))
