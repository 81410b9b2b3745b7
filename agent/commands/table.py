"""The built-in commands as metadata: one row each, no code behind it is imported.

Names, aliases and what they mean are those users know; each lives in its own module.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Final

from agent.commands.spec import (
    EVERYWHERE,
    ON_SCREEN,
    Command,
    InteractiveCommand,
    LocalCommand,
    Metadata,
    PromptCommand,
    Template,
)

PACKAGE: Final = "agent.commands.builtin"


def _template(module: str) -> Callable[[], Template]:
    def load() -> Template:
        body: str = import_module(f"{PACKAGE}.{module}").BODY
        return Template(body)

    return load


def _meta(
    name: str,
    description: str,
    hint: str = "",
    *aliases: str,
    on_screen: bool = False,
) -> Metadata:
    return Metadata(
        name=name,
        description=description,
        argument_hint=hint,
        aliases=aliases,
        availability=ON_SCREEN if on_screen else EVERYWHERE,
    )


BUILTIN_COMMANDS: Final[tuple[Command, ...]] = (
    LocalCommand(
        _meta("add-dir", "Work in another folder as well", "<folder>"),
        f"{PACKAGE}.add_dir",
    ),
    LocalCommand(_meta("agents", "List the kinds of sub-agents"), f"{PACKAGE}.agents"),
    LocalCommand(
        _meta("branch", "Go on in a copy of this conversation", "[name]", on_screen=True),
        f"{PACKAGE}.branch",
    ),
    LocalCommand(
        _meta(
            "btw",
            "Ask something beside the conversation, without leaving a trace in it",
            "<question>",
            on_screen=True,
        ),
        f"{PACKAGE}.btw",
    ),
    LocalCommand(
        _meta(
            "clear",
            "Start over with an empty conversation; the old one stays, by a name if you say one",
            "[name]",
            "reset",
            "new",
            on_screen=True,
        ),
        f"{PACKAGE}.clear",
    ),
    InteractiveCommand(
        _meta(
            "color",
            "Colour the lines around the prompt in this session",
            "[name]",
            on_screen=True,
        ),
        "color",
    ),
    LocalCommand(
        _meta("compact", "Summarise the conversation to make room", "[focus]", on_screen=True),
        f"{PACKAGE}.compact",
    ),
    InteractiveCommand(
        _meta(
            "config",
            "Show or change settings",
            "[key=value]",
            "settings",
            on_screen=True,
        ),
        "config",
    ),
    InteractiveCommand(
        _meta("context", "Show what fills the model's window", on_screen=True),
        "context",
    ),
    LocalCommand(
        _meta(
            "copy",
            "Copy an answer, or a code block of it",
            "[N] [code [M]]",
            on_screen=True,
        ),
        f"{PACKAGE}.copy",
    ),
    LocalCommand(
        _meta("cost", "Show tokens and cost of this session", "", "usage", "stats"),
        f"{PACKAGE}.cost",
    ),
    LocalCommand(_meta("debug", "Show the debug log of this session"), f"{PACKAGE}.debug"),
    InteractiveCommand(
        _meta("diff", "Show what changed, against git or turn by turn", on_screen=True),
        "diff",
    ),
    InteractiveCommand(
        _meta("doctor", "Check what this program depends on", on_screen=True),
        "doctor",
    ),
    LocalCommand(
        _meta(
            "effort",
            "Show or change how hard the model thinks",
            "[low|medium|high|xhigh|max|auto]",
        ),
        f"{PACKAGE}.effort",
    ),
    LocalCommand(_meta("exit", "Leave", "", "quit", on_screen=True), f"{PACKAGE}.exit"),
    LocalCommand(
        _meta("export", "Write the conversation to a file or the clipboard", "[file]"),
        f"{PACKAGE}.export",
    ),
    InteractiveCommand(
        _meta("focus", "Show one line of each call, or more again", on_screen=True),
        "focus",
    ),
    InteractiveCommand(_meta("help", "Show keys and commands", on_screen=True), "help"),
    InteractiveCommand(
        _meta("hooks", "Show which hooks are configured, and where", on_screen=True),
        "hooks",
    ),
    PromptCommand(
        _meta("init", "Have the model write an AGENTS.md for this project"), _template("init")
    ),
    LocalCommand(_meta("keybindings", "Edit your keys", on_screen=True), f"{PACKAGE}.keybindings"),
    InteractiveCommand(
        _meta("memory", "Choose an instruction file or a kept fact to edit", on_screen=True),
        "memory",
    ),
    LocalCommand(
        _meta("mode", "Show or change the permission mode", "[name]", on_screen=True),
        f"{PACKAGE}.mode",
    ),
    InteractiveCommand(
        _meta("model", "Choose the model and its effort", "[name]", on_screen=True),
        "model",
    ),
    InteractiveCommand(
        _meta(
            "permissions",
            "Show the rules in force, and take rules back",
            "",
            "allowed-tools",
            on_screen=True,
        ),
        "permissions",
    ),
    LocalCommand(
        _meta("plan", "Switch to plan mode, with a task or without", "[task]", on_screen=True),
        f"{PACKAGE}.plan",
    ),
    LocalCommand(
        _meta("recap", "Say where this conversation stands", on_screen=True),
        f"{PACKAGE}.recap",
    ),
    LocalCommand(
        _meta("reload-skills", "Read the command and skill files again"),
        f"{PACKAGE}.reload_skills",
    ),
    LocalCommand(_meta("rename", "Give this session a name", "[name]"), f"{PACKAGE}.rename"),
    InteractiveCommand(
        _meta("resume", "Continue another session", "[id]", "continue", on_screen=True), "resume"
    ),
    InteractiveCommand(
        _meta(
            "rewind",
            "Go back: the conversation, the files, or both",
            "",
            "checkpoint",
            "undo",
            on_screen=True,
        ),
        "rewind",
    ),
    LocalCommand(_meta("skills", "List commands and skills from files"), f"{PACKAGE}.skills"),
    LocalCommand(
        _meta("status", "Show version, model, account, folder and what was loaded"),
        f"{PACKAGE}.status",
    ),
    PromptCommand(
        _meta("statusline", "Have the model set up a status line command", "[what it should show]"),
        _template("statusline"),
    ),
    InteractiveCommand(
        _meta(
            "tasks",
            "Show background commands, and stop them",
            "",
            "bashes",
            on_screen=True,
        ),
        "tasks",
    ),
    InteractiveCommand(
        _meta(
            "terminal-setup",
            "Check this terminal, and say how to set it up",
            on_screen=True,
        ),
        "terminal_setup",
    ),
    InteractiveCommand(_meta("theme", "Choose the colours", "[name]", on_screen=True), "theme"),
    LocalCommand(_meta("todos", "Show the task list"), f"{PACKAGE}.todos"),
    InteractiveCommand(
        _meta("trust", "Show what this project brings, and accept it", on_screen=True), "trust"
    ),
    LocalCommand(
        _meta("vim", "Switch vim's keys on or off in the prompt", on_screen=True),
        f"{PACKAGE}.vim",
    ),
)
