"""ToolSearch: find tools whose definitions are not sent with every request."""

from __future__ import annotations

import json
from typing import Annotated, Final

from msgspec import Meta, Struct

from agent.display import TextDisplay
from agent.tools.base import Concurrency, Tool, ToolContext, ToolError, ToolOutcome, build_tool

SELECT: Final = "select:"
DESCRIPTION: Final = """Finds tools that exist but are not loaded, and loads them.

Tools that are rarely needed are known by name only until you load them. Give words about what the \
tool should do; the best matches are loaded and can be called from your next message on. To load \
tools you know by name, give `select:` and their names with commas, such as \
`select:mcp__tracker__find_issue,mcp__tracker__add_comment`. Do not call a tool that is not \
loaded."""


class ToolSearchInput(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters of ToolSearch."""

    query: Annotated[
        str,
        Meta(min_length=1, max_length=1_000, description="Words, or `select:` and exact names."),
    ]
    max_results: Annotated[int, Meta(ge=1, le=20, description="How many to load at most.")] = 5


async def _run(tool_input: ToolSearchInput, context: ToolContext) -> ToolOutcome:
    port = context.services.deferred_tools
    if port is None:
        raise ToolError("Every tool is loaded already.")
    query = tool_input.query.strip()
    selection = _selected_names(query)
    if selection is not None:
        names = selection[: tool_input.max_results]
    else:
        names = [name for name, _ in port.search(query, tool_input.max_results)]
    tools = port.load(names)
    if not tools:
        raise ToolError(f"No tool fits {query!r}.", "Try other words, or do without.")
    loaded_names = [str(tool["name"]) for tool in tools]
    missing = [name for name in names if name not in loaded_names]
    lines = [json.dumps(dict(tool), ensure_ascii=False) for tool in tools]
    note = f"\nUnknown: {', '.join(missing)}." if missing else ""
    return ToolOutcome(
        "Loaded; you can call these now:\n" + "\n".join(lines) + note,
        display=TextDisplay(f"loaded: {', '.join(loaded_names)}"),
        tool_response={"matches": loaded_names},
    )


def _selected_names(query: str) -> list[str] | None:
    """Return the names of a `select:` query; None for any other."""
    if not query.startswith(SELECT):
        return None
    return [name.strip() for name in query.removeprefix(SELECT).split(",") if name.strip()]


def tool_search_tool() -> Tool[ToolSearchInput]:
    """Return the tool."""
    return build_tool(
        name="ToolSearch",
        description=DESCRIPTION,
        input_model=ToolSearchInput,
        run=_run,
        concurrency=lambda _: Concurrency.WRITE_EXCLUSIVE,
        is_read_only=lambda _: True,
        is_destructive=lambda _: False,
        requires_permission=False,
        always_load=True,
        identifier=lambda tool_input, _: f"ToolSearch {tool_input.query}",
        max_result_size_chars=60_000,
    )
