"""`/keybindings`: the user's key bindings file, created if it is missing.

Opening it changes no key: it starts as Claude Code's file, which applied until now, or else with
the default key of one action as an example.
"""

from __future__ import annotations

import json
from typing import Final

from agent.commands.command_context import CommandContext
from agent.commands.command_results import CommandResult, EditFile, ShowText
from permissions.base.files.plain_file import read_start
from permissions.base.files.private_file import write_private
from permissions.explain.explain_decision import home_relative

FILE_NAME: Final = "keybindings.json"
MAX_BYTES: Final = 1_000_000
_START: Final = {"bindings": [{"context": "Chat", "bindings": {"ctrl+g": "chat:externalEditor"}}]}


async def call(_arguments: str, context: CommandContext) -> CommandResult:
    """Open the file; it applies as soon as it is saved."""
    path = context.agent_home / FILE_NAME
    if not path.exists():
        try:
            theirs = context.home / ".claude" / FILE_NAME
            example = (json.dumps(_START, indent=2) + "\n").encode()
            write_private(path, read_start(theirs, MAX_BYTES) if theirs.is_file() else example)
        except OSError as error:
            return ShowText(f"{path} cannot be created: {error.strerror}.", "warning")
    path_text = home_relative(str(context.home))(str(path))
    return EditFile(path, f"{path_text} · /help shows the keys in force")
