"""`/todos`: the task list as text."""

from __future__ import annotations

from typing import Final

from agent.commands.command_context import CommandContext
from agent.commands.command_results import CommandResult, ShowText

_SIGNS: Final = {"completed": "☒", "in_progress": "▸", "pending": "☐"}


async def call(_arguments: str, context: CommandContext) -> CommandResult:
    """Show every task, done ones included."""
    todos = context.session.todos
    if not todos:
        return ShowText("There are no tasks yet.")
    return ShowText("\n".join(f"{_SIGNS.get(t.status, '☐')} {t.content}" for t in todos))
