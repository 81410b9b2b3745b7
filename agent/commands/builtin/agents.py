"""`/agents`: the kinds of agents that the model can start, and problems of their files."""

from __future__ import annotations

from agent.commands.command_context import CommandContext
from agent.commands.command_results import CommandResult, OpenPanel
from agent.subagents.catalog import AgentCatalog
from agent.subagents.definition import AgentDefinition


async def call(_arguments: str, _context: CommandContext) -> CommandResult:
    """Open the panel that shows them; a headless run prints them."""
    return OpenPanel("agents")


def agents_text(catalog: AgentCatalog) -> str:
    """Return the kinds with their sources and tools, one per line."""
    catalog.refresh()
    lines = [_line(one) for one in catalog.all()]
    lines += [f"waits for trust: {file}" for file in catalog.waiting]
    lines += [f"problem: {problem}" for problem in catalog.problems]
    lines.append(
        "The model starts them with its Agent tool; your rules, hooks and mode apply to them too."
    )
    return "\n".join(lines)


def _line(one: AgentDefinition) -> str:
    tools = "every tool" if one.tools is None else ", ".join(one.tools) or "no tools"
    parts = [f"{one.name} ({one.source}): {tools}"]
    if one.model is not None:
        parts.append(f"model {one.model}")
    if one.permission_mode is not None:
        parts.append(f"at most {one.permission_mode}")
    return "; ".join(parts)
