"""`/skills`: commands and skills that come from files."""

from __future__ import annotations

from agent.commands.command_context import CommandContext
from agent.commands.command_results import CommandResult, ShowText
from agent.commands.sources.command_files import CustomCommands


async def call(_arguments: str, context: CommandContext) -> CommandResult:
    """List them, with those that wait for trust, and problems."""
    return ShowText(describe(context.custom))


def describe(custom: CustomCommands) -> str:
    """Return the list as text for users."""
    lines: list[str] = []
    names_above: set[str] = set()
    for command in custom.commands():
        meta = command.meta
        hidden = ", hidden by the one above" if meta.name in names_above else ""
        names_above.add(meta.name)
        lines.append(f"/{meta.name:<24} {meta.description[:80]}  ({meta.source}{hidden})")
    if not lines:
        lines.append("No command files. Put one at ~/.agent/commands/name.md, or a skill at")
        lines.append("~/.agent/skills/name/SKILL.md; .claude folders are read too.")
    if custom.waiting:
        names = ", ".join(f"/{name}" for name in custom.waiting[:20])
        lines.append(f"Waiting for trust: {names} (/trust shows them)")
    lines.extend(f"! {problem}" for problem in custom.problems[:20])
    return "\n".join(lines)
