"""ListAgents: which agents of this session are running, and how the others ended."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from agent.tools.base import Concurrency, Tool, ToolContext, ToolError, ToolOutcome, build_tool

DESCRIPTION: Final = """Lists the agents of this session: id, kind, state and task. Use it when \
you no longer know an id. Do not call it to wait for an agent: its report comes by itself."""


class ListAgentsInput(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """ListAgents has no parameters."""


async def _run(_input: ListAgentsInput, context: ToolContext) -> ToolOutcome:
    port = context.services.subagents
    if port is None:
        raise ToolError("There are no agents here.")
    return ToolOutcome(port.listing())


def list_agents_tool() -> Tool[ListAgentsInput]:
    """Return the tool."""
    return build_tool(
        name="ListAgents",
        description=DESCRIPTION,
        input_model=ListAgentsInput,
        run=_run,
        concurrency=lambda _: Concurrency.READ_ONLY,
        is_read_only=lambda _: True,
        is_destructive=lambda _: False,
        requires_permission=False,
        max_result_size_chars=20_000,
    )
