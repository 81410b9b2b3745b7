"""Tools that the endpoint runs itself, offered with each request if it has them.

They run on its machines, out of reach of permissions and hooks: only a user's or an administrator's
settings choose them. Next: `agent.model.served.code_calls`, `agent.loop.server_calls` (cards).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from agent.messages import Block
from agent.model.client import ModelCapabilities
from agent.model.served.code_calls import CODE_CALLS

_TYPES: Final = {
    "web_search": "web_search_20250305",
    "web_fetch": "web_fetch_20250910",
    "code_execution": "code_execution_20250825",
    "programmatic_tool_calling": CODE_CALLS,
}
OURS: Final = {"web_search": "WebSearch", "web_fetch": "WebFetch"}
"""Our equivalent tools: a deny rule for one also covers the endpoint's."""
MAX_USES: Final = 8
"""Most searches, or pages, per request."""


def has_served(can: ModelCapabilities, name: str, *, is_official: bool) -> bool:
    """Return whether the endpoint has a tool; the vendor's own endpoint has all of them."""
    return name in can.served_tools or (is_official and can.source == "table")


def served_tools(names: Collection[str], blocked_hosts: Sequence[str]) -> tuple[Block, ...]:
    """Return definitions of the named tools, in a fixed order."""
    tools: list[Block] = []
    for name, kind in _TYPES.items():
        if name not in names:
            continue
        if name in OURS:
            tool: Block = {"type": kind, "name": name, "max_uses": MAX_USES}
            if blocked_hosts:
                tool["blocked_domains"] = [host.removeprefix("*.") for host in blocked_hosts]
            tools.append(tool)
        elif name == "programmatic_tool_calling" or "programmatic_tool_calling" not in names:
            tools.append({"type": kind, "name": "code_execution"})
    return tuple(tools)
