"""`/export`: the conversation as Markdown, JSON or HTML."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Final

from agent.commands.command_context import CommandContext
from agent.commands.command_results import CommandResult, CopyText, ShowText
from agent.errors import SessionError
from agent.session.archive.transcript_export import ExportFormat, export
from agent.settings.locations import expand_home

_FORMS: Final[dict[str, ExportFormat]] = {".json": "json", ".html": "html", ".htm": "html"}


async def call(arguments: str, context: CommandContext) -> CommandResult:
    """Write to the named file, which must not exist; without a name, copy to the clipboard."""
    name = arguments.strip().strip("\"'")
    target = context.session.cwd / expand_home(name, context.home) if name else None
    form = _FORMS.get(target.suffix.lower(), "markdown") if target else "markdown"
    try:
        text = await asyncio.to_thread(export, context.session.transcript_path, form)
        if target is None:
            return CopyText(text, "conversation copied")
        await asyncio.to_thread(_write, target, text)
    except (SessionError, OSError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        where = f" to {target}" if target is not None else ""
        return ShowText(f"Not exported{where}: {reason}.", "warning")
    return ShowText(f"Conversation exported to {target}.")


def _write(target: Path, text: str) -> None:
    with target.open("x", encoding="utf-8") as file:
        file.write(text)
