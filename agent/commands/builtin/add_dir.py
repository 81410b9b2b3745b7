"""`/add-dir`: one more working directory for this session."""

from __future__ import annotations

import os

from msgspec.structs import replace

from agent.commands.command_context import CommandContext
from agent.commands.command_results import CommandResult, ShowText
from agent.settings.locations import expand_home


async def call(arguments: str, context: CommandContext) -> CommandResult:
    """Add the directory to the scope; settings are not changed."""
    if not arguments:
        directories = [context.session.launch_dir, *context.gate.context.additional_dirs]
        return ShowText(
            "Working directories:\n" + "\n".join(f"  {directory}" for directory in directories)
        )
    path = context.session.cwd / expand_home(arguments.strip("\"'"), context.home)
    real = type(path)(os.path.realpath(path))
    if not real.is_dir():
        return ShowText(f"{path} is not a folder.", "warning")
    gate = context.gate
    scope = (gate.context.launch_dir, *gate.context.additional_dirs)
    if any(real.is_relative_to(os.path.realpath(directory)) for directory in scope):
        return ShowText(f"{real} is already inside the working directories.")
    if real == real.parent or real == type(real)(os.path.realpath(context.home)):
        what = "the whole machine" if real == real.parent else "your whole home folder"
        return ShowText(
            f"{real} is {what}, which is too broad. Name a folder inside it.", "warning"
        )
    additional_dirs = (*gate.context.additional_dirs, real)
    gate.replace_context(replace(gate.context, additional_dirs=additional_dirs))
    context.on_directory(real)
    return ShowText(
        f"{real} is a working directory for this session. "
        "To keep it, add it to permissions.additionalDirectories in your settings."
    )
