"""`/agents`: the kinds of agents the model can start, and what is wrong with their files."""

from __future__ import annotations

from agent.commands.command_context import CommandContext
from agent.commands.command_results import CommandResult, OpenPanel
from agent.subagents.catalog import AgentCatalog
from agent.subagents.definition import AgentDefinition


async def call(_arguments: str, _context: CommandContext) -> CommandResult:
    """Open the panel that shows them; without a screen they are printed."""
    return OpenPanel("agents")


def agents_text(catalog: AgentCatalog) -> str:
    """Return the kinds with where they are from and what they may use, one on a line."""
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
