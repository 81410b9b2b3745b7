"""`/keybindings`: the user's key bindings file, created with an example if it is missing."""

from __future__ import annotations

import json
from typing import Final

from agent.commands.command_context import CommandContext
from agent.commands.command_results import CommandResult, EditFile, ShowText
from permissions.base.files.private_file import write_private
from permissions.explain.explain_decision import home_relative

FILE_NAME: Final = "keybindings.json"
_START: Final = {"bindings": [{"context": "Chat", "bindings": {"ctrl+e": "chat:externalEditor"}}]}


async def call(_arguments: str, context: CommandContext) -> CommandResult:
    """Open the file; it applies as soon as it is saved."""
    path = context.agent_home / FILE_NAME
    if not path.exists():
        try:
            write_private(path, (json.dumps(_START, indent=2) + "\n").encode())
        except OSError as error:
            return ShowText(f"{path} cannot be created: {error.strerror}.", "warning")
    path_text = home_relative(str(context.home))(str(path))
    return EditFile(path, f"{path_text} · /help shows the keys in force")
