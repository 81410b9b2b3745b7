"""`/team`: the team of this session: show its members and tasks, start it, end it."""

from __future__ import annotations

from typing import Final

from agent.commands.command_context import CommandContext
from agent.commands.command_results import CommandResult, LeadTeam, ShowText
from agent.errors import AgentError
from permissions.base.text.failure_text import error_reason

_NONE: Final = (
    "This session does not lead a team. /team start NAME makes it the leader of one, as agent-tui "
    "--team NAME does: it delegates work to workers and writes one answer from what they report."
)
_USAGE: Final = (
    "Usage: /team, /team start NAME, /team tell MEMBER TEXT, /team stop MEMBER, /team end"
)


async def call(arguments: str, context: CommandContext) -> CommandResult:
    """Show the team, start one, message or stop a member, or end the team."""
    team = context.team()
    words = arguments.split(maxsplit=2)
    match words:
        case ["start", name]:
            return _start(name, context)
        case _ if team is None:
            return ShowText(_NONE if not words else f"{_NONE}\n{_USAGE}")
        case []:
            return ShowText("\n".join(team.lines()))
        case ["end"]:
            return LeadTeam("", _session(context), "The team has ended; its workers were stopped.")
    try:
        match words:
            case ["tell", member, text]:
                return ShowText(await team.tell(member, text))
            case ["stop", member]:
                return ShowText(await team.dismiss(member))
    except (AgentError, OSError) as error:
        return ShowText(error_reason(error), "warning")
    return ShowText(_USAGE, "warning")


def _start(name: str, context: CommandContext) -> CommandResult:
    if context.team() is not None:
        return ShowText("This session already leads a team. /team end ends it.", "warning")
    try:
        context.may_lead(name)
    except AgentError as error:
        return ShowText(str(error), "warning")
    return LeadTeam(name, _session(context), f"This session now leads the team {name}.")


def _session(context: CommandContext) -> str | None:
    """Return the id of the session to continue with; None if it has no messages."""
    return context.session.session_id if context.session.messages else None
