"""Commands in a headless run: what a line that begins with `/` prints."""

from __future__ import annotations

from msgspec import Struct

from agent.commands import command_results as results
from agent.commands.advice import advice_on
from agent.commands.builtin.agents import agents_text
from agent.commands.command_registry import split_command
from agent.commands.service import CommandService
from agent.commands.spec import LocalCommand
from agent.errors import AgentError
from agent.memory.context_breakdown import ContextBreakdown


class CommandReply(Struct, frozen=True):
    """What a command prints; the model does not see it."""

    text: str
    is_error: bool = False
    compacts: str | None = None
    """Focus of the summary if the command asks for a compaction, else None."""


async def run_typed_command(text: str, service: CommandService) -> CommandReply | None:
    """Run a local command and return its output; None if the text is for the model."""
    parts = split_command(text)
    if parts is None:
        return None
    await service.ready()
    command = service.registry.find(parts[0])
    if command is None:
        advice = advice_on(text, service.registry, service.custom.waiting)
        return CommandReply(advice, is_error=True) if advice is not None else None
    if not isinstance(command, LocalCommand):
        return None
    name = command.meta.name
    try:
        result = await service.run_local(command, parts[1])
    except AgentError as error:
        return CommandReply(str(error), is_error=True)
    except OSError as error:
        return CommandReply(f"/{name}: {error.strerror or error}", is_error=True)
    return _reply(result, name, service)


def _reply(result: results.CommandResult, name: str, service: CommandService) -> CommandReply:
    match result:
        case results.Compact(focus):
            return CommandReply("", compacts=focus)
        case results.OpenPanel("context"):
            return CommandReply(_context_text(service.context.context_breakdown()))
        case results.OpenPanel("agents"):
            return CommandReply(agents_text(service.context.agents.catalog))
        case results.ShowText(text, level):
            return CommandReply(text, is_error=level == "warning")
        case results.CopyText(text, _):
            return CommandReply(text)
        case results.Renamed(title):
            return CommandReply(f"Session renamed to {title!r}.")
        case _:
            return CommandReply(
                f"/{name} is only available on the screen: start agent-tui without -p.",
                is_error=True,
            )


def _context_text(breakdown: ContextBreakdown) -> str:
    window = max(1, breakdown.window)
    how = "counted by the endpoint" if breakdown.is_measured else "estimated"
    share = 100 * breakdown.used_tokens / window
    lines = [f"{breakdown.used_tokens:,} of {breakdown.window:,} tokens ({share:.0f}%), {how}"]
    lines += [f"{part.tokens:>10,}  {part.name}" for part in breakdown.slices]
    return "\n".join([*lines, f"{max(0, breakdown.window - breakdown.used_tokens):>10,}  Free"])
