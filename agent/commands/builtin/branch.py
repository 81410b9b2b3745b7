"""`/branch`: continue in a copy of this conversation; this one does not change."""

from __future__ import annotations

import asyncio

from agent.commands.command_context import CommandContext
from agent.commands.command_results import CommandResult, OpenSession, ShowText
from agent.commands.session_title import title_of
from agent.session.record_json import to_json
from agent.session.records import DraftRecord
from agent.session.store import SessionStore


async def call(arguments: str, context: CommandContext) -> CommandResult:
    """Copy the session, name the copy and open it. Raises SessionError."""
    session = context.session
    if session.is_demo:
        return ShowText("The demo has one conversation only.", "warning")
    if session.is_running:
        return ShowText("A turn is still running. Interrupt it first.", "warning")
    title = title_of(arguments)
    new_id = await asyncio.to_thread(_copy, context, title)
    notice = f"Continuing in a copy. To return: /resume {session.session_id}"
    return OpenSession(new_id, notice)


def _copy(context: CommandContext, title: str) -> str:
    store = SessionStore(context.agent_home, version=context.version)
    copy = store.fork(context.session.session_id)
    # The line that asked for the copy may be recorded as an unsent draft.
    copy.transcript.append(to_json(DraftRecord("")))
    copy.close()
    if title:
        store.rename(copy.id, title)
    return copy.id
