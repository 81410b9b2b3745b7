"""`/status`: version, session, model, directories, and the files that were loaded."""

from __future__ import annotations

import os

from agent.commands.command_context import CommandContext
from agent.commands.command_results import CommandResult, ShowText
from agent.settings.start_notices import warning_line
from agent.settings.trust import TrustState
from permissions.explain.explain_decision import place_relative
from permissions.mode import mode_name


async def call(_arguments: str, context: CommandContext) -> CommandResult:
    """Show the status; nothing is measured or fetched."""
    session, status, settings = context.session, context.status, context.settings()
    demo = " (scripted demo model)" if session.is_demo else ""
    effort = f", effort {status.effort}" if status.effort else ""
    short = place_relative(str(settings.project_root), str(settings.home))
    files = [short(str(file.path)) for file in context.instructions()]
    read = [short(str(path)) for path in settings.watched_files if os.path.exists(path)]
    trust = settings.trust
    lines = [
        f"agent-tui {context.version}",
        f"session {session.session_id}",
        f"model {status.model}{demo}{effort}",
        f"endpoint {context.endpoint()}",
        mode_name(status.mode),
        f"folder {session.launch_dir}",
        *([f"shell in {session.cwd}"] if session.cwd != session.launch_dir else []),
        *(f"also {os.path.realpath(also)}" for also in context.gate.context.additional_dirs),
        f"trust {_trust(trust)}",
        f"instructions {', '.join(files) if files else 'none'}",
        f"hooks {len(context.hooks.config.all())}, rules {len(context.gate.context.rules.rules)}",
        f"settings files {', '.join(read) if read else 'none'}",
    ]
    lines.extend(f"! {warning_line(w, short)}" for w in settings.warnings if w.level != "info")
    return ShowText("\n".join(lines), is_about_screen=True)


def _trust(trust: TrustState) -> str:
    if trust.is_trusted:
        return "given to this project"
    if trust.is_settled:
        return "not needed: this project has no settings of its own"
    return "not given: see /trust"
