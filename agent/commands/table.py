"""The built-in commands as metadata, one row each; their modules are not imported here.

Names, aliases and meanings are those that users know from other agents.
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
        _meta("add-dir", "Allow work in another folder", "<folder>"),
        f"{PACKAGE}.add_dir",
    ),
    LocalCommand(_meta("agents", "Show, create and try agents"), f"{PACKAGE}.agents"),
    LocalCommand(
        _meta("branch", "Continue in a copy of this conversation", "[name]", on_screen=True),
        f"{PACKAGE}.branch",
    ),
    LocalCommand(
        _meta(
            "btw",
            "Ask a side question outside the conversation",
            "<question>",
            on_screen=True,
        ),
        f"{PACKAGE}.btw",
    ),
    LocalCommand(
        _meta(
            "clear",
            "Start a new conversation; the old one is kept",
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
            "Set the prompt bar color for this session",
            "[name]",
            on_screen=True,
        ),
        "color",
    ),
    LocalCommand(
        _meta("compact", "Compact the conversation to free context", "[focus]"),
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
    LocalCommand(_meta("context", "Show what uses the context window"), f"{PACKAGE}.context"),
    LocalCommand(
        _meta(
            "copy",
            "Copy an answer or one of its code blocks",
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
        _meta("diff", "Show changes since the last commit or by turn", on_screen=True),
        "diff",
    ),
    InteractiveCommand(
        _meta("doctor", "Check the installation", on_screen=True),
        "doctor",
    ),
    LocalCommand(
        _meta("advisor", "Show or choose the advisor model", "[model|off]"),
        f"{PACKAGE}.advisor",
    ),
    LocalCommand(
        _meta(
            "effort",
            "Show or change how hard the model thinks",
            "[low|medium|high|xhigh|max|auto]",
        ),
        f"{PACKAGE}.effort",
    ),
    LocalCommand(_meta("exit", "Quit", "", "quit", on_screen=True), f"{PACKAGE}.exit"),
    LocalCommand(
        _meta("export", "Save or copy the conversation", "[file]"),
        f"{PACKAGE}.export",
    ),
    InteractiveCommand(
        _meta("focus", "Toggle compact tool calls", on_screen=True),
        "focus",
    ),
    InteractiveCommand(_meta("help", "Show keys and commands", on_screen=True), "help"),
    InteractiveCommand(
        _meta("hooks", "Show configured hooks", on_screen=True),
        "hooks",
    ),
    PromptCommand(_meta("init", "Let the model write this project's AGENTS.md"), _template("init")),
    LocalCommand(
        _meta("keybindings", "Edit the key bindings", on_screen=True), f"{PACKAGE}.keybindings"
    ),
    InteractiveCommand(
        _meta("memory", "Edit instruction files and memories", on_screen=True),
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
    LocalCommand(
        _meta("orchestrate", "Turn orchestration mode on or off", "[on|off]"),
        f"{PACKAGE}.orchestrate",
    ),
    InteractiveCommand(
        _meta(
            "permissions",
            "View and edit permission rules",
            "",
            "allowed-tools",
            on_screen=True,
        ),
        "permissions",
    ),
    LocalCommand(
        _meta("plan", "Switch to plan mode (optional task)", "[task]", on_screen=True),
        f"{PACKAGE}.plan",
    ),
    LocalCommand(
        _meta("recap", "Summarize where we are", on_screen=True),
        f"{PACKAGE}.recap",
    ),
    LocalCommand(
        _meta("reload-skills", "Reload command and skill files"),
        f"{PACKAGE}.reload_skills",
    ),
    LocalCommand(_meta("rename", "Give this session a name", "[name]"), f"{PACKAGE}.rename"),
    PromptCommand(
        _meta("review", "Have the model review changes", "[what to review]"),
        _template("review"),
    ),
    InteractiveCommand(
        _meta("resume", "Continue another session", "[id]", "continue", on_screen=True), "resume"
    ),
    InteractiveCommand(
        _meta(
            "rewind",
            "Rewind the conversation, the files, or both",
            "",
            "checkpoint",
            "undo",
            on_screen=True,
        ),
        "rewind",
    ),
    InteractiveCommand(
        _meta(
            "mcp",
            "Show, sign in to and turn off MCP servers",
            "[enable|disable|reconnect <name>]",
            on_screen=True,
        ),
        "mcp",
    ),
    InteractiveCommand(
        _meta("sandbox", "Show the sandbox, and run commands inside it", on_screen=True),
        "sandbox",
    ),
    LocalCommand(_meta("skills", "List commands and skills from files"), f"{PACKAGE}.skills"),
    LocalCommand(
        _meta("status", "Show version, model, folder and loaded files"),
        f"{PACKAGE}.status",
    ),
    PromptCommand(
        _meta("statusline", "Have the model set up a status line command", "[what it should show]"),
        _template("statusline"),
    ),
    InteractiveCommand(
        _meta(
            "tasks",
            "View and stop agents and background commands",
            "",
            "bashes",
            on_screen=True,
        ),
        "tasks",
    ),
    InteractiveCommand(
        _meta(
            "terminal-setup",
            "Check this terminal's setup",
            on_screen=True,
        ),
        "terminal_setup",
    ),
    InteractiveCommand(_meta("theme", "Choose a theme", "[name]", on_screen=True), "theme"),
    LocalCommand(
        _meta("team", "Show, start or end the team of this session", "[start NAME]"),
        f"{PACKAGE}.team",
    ),
    LocalCommand(_meta("todos", "Show the task list"), f"{PACKAGE}.todos"),
    InteractiveCommand(
        _meta("trust", "Review what this project adds, and trust it", on_screen=True), "trust"
    ),
    LocalCommand(
        _meta("vim", "Toggle vim mode", on_screen=True),
        f"{PACKAGE}.vim",
    ),
    InteractiveCommand(
        _meta(
            "workflows",
            "View, pause, stop and save workflow runs",
            "[run]",
            on_screen=True,
        ),
        "workflows",
    ),
)
