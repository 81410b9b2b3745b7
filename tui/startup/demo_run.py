"""The demo without a screen: the scripted model's conversation printed as it happens."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TextIO

from msgspec.structs import replace

from agent.assembly.assemble import UserPorts, assemble, environment_from, settings_for
from agent.exit_status import EXIT_COMPLETED, EXIT_ERROR
from agent.model.scripted.demo import SUGGESTED_PROMPT
from agent.options import RunOptions
from agent.user_prompt import Prompt
from tui.conversation.model_choice import demo_model
from tui.startup.plain_printer import PlainPrinter
from tui.version import version

DEMO_RULES = ("Bash(python3 -m unittest)",)


async def print_demo(options: RunOptions, stream: TextIO) -> int:
    """Play the demo in a scratch copy of its sample project and return the exit status.

    No user can answer, so edits in the copy and its test command are allowed beforehand;
    other calls that would ask are still denied.
    """
    environment = environment_from(os.environ, Path.cwd(), version=version())
    setup, environment, close = await demo_model(environment)
    demo_options = replace(
        options,
        headless=True,
        permission_mode="acceptEdits",
        allow=(*options.allow, *DEMO_RULES),
    )
    printer = PlainPrinter(stream)
    try:
        parts = await assemble(
            demo_options,
            environment,
            settings_for(demo_options, environment),
            setup,
            UserPorts(),
            is_demo=True,
        )
        conversation = parts.conversation
        stream.write(
            f"agent-tui {version()}: the embedded demo model (scripted) works on a copy of a small "
            f"sample project.\nTo use a real model, see the README. In a terminal this is a "
            "full-screen program.\n\n"
        )
        status = EXIT_COMPLETED
        prompt = options.prompt or SUGGESTED_PROMPT
        printer.prompt(prompt)
        try:
            async for event in conversation.run(Prompt(prompt)):
                printer.event(event)
                if event.type == "terminal" and event.reason != "completed":
                    status = EXIT_ERROR
        finally:
            await conversation.aclose()
        return status
    finally:
        await close()
