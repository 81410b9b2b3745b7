"""Advice for a line that begins with `/` but names no command.

Users know names from other agents; the advice says what does the same here, or that nothing does.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import Final

from agent.commands.command_registry import CommandRegistry, split_command
from agent.commands.spec import Surface
from agent.commands.table import BUILTIN_COMMANDS
from permissions.base.text.late_pattern import compile_late

_KEY: Final = (
    "ANTHROPIC_API_KEY, or apiKeyHelper in your settings, sets the account; docs/providers.md "
    "lists the keys of other providers."
)
_OWN_FILE: Final = (
    "Ask for it in your own words, or make it a command: ~/.agent/commands/{name}.md."
)
_PLUGIN: Final = (
    "--plugin-dir FOLDER uses the commands, skills, hooks, agents and MCP servers of a plugin."
)
_ELSEWHERE: Final = {
    "login logout auth connect setup-token setup-bedrock setup-vertex": _KEY,
    "plugin plugins marketplace reload-plugins": _PLUGIN,
    "tui": "agent-tui --screen-reader writes lines instead of drawing.",
    "output-style output-styles rules-file agents-md instructions": (
        "/memory edits the model's instructions; --append-system-prompt adds to it."
    ),
    "ide": "ctrl+g edits the prompt in your editor; @path attaches files.",
    "bug feedback": "/export writes the conversation, /debug shows the log.",
    "heapdump": "/debug shows the log.",
    "simplify verify run commit pr-comments batch insights deep-research dataviz test lint": (
        _OWN_FILE
    ),
    "code-review": "/review reviews changes.",
    "security-review": "/review security reviews changes.",
    "release-notes changelog": "CHANGELOG.md lists what is new; /status shows the version.",
    "upgrade update install": "agent-tui update says how.",
    "version about": "/status shows it.",
    "fast": "/model and /effort affect how fast it is.",
    "reasoning thinking think": "/effort sets how hard it thinks; ctrl+o shows more of it.",
    "goal loop schedule": "A Stop hook can make it continue; see docs/hooks.md of agent-tui.",
    "background bg": "ctrl+b moves a running command to the background, /tasks shows them.",
    "fork subtask": "/branch continues in a copy.",
    "cd pwd directory dir": "It works in the folder it was started in; /add-dir adds another.",
    "import migrate": "Files of Claude Code are read where they are; /status lists them.",
    "autocompact": "/config autoCompactEnabled=false switches it off.",
    "stop cancel abort": "esc interrupts; /tasks stops what runs in the background.",
    "approvals approval rules policies policy tools allow deny": (
        "/permissions shows and changes the rules."
    ),
    "yolo auto always-approve accept": "/mode and shift+tab change how much it asks.",
    "fewer-permission-prompts auto-mode-setup": (
        "/permissions takes rules; docs/permissions.md describes autoMode."
    ),
    "act ask code architect agent": (
        "/mode and shift+tab change how much it may do; /plan plans first."
    ),
    "models provider providers": "/model chooses it.",
    "session sessions chat chats load threads": "/resume shows the sessions here.",
    "save share unshare": "Sessions are saved automatically; /export writes one to a file.",
    "history": "ctrl+r searches what you typed.",
    "themes appearance": "/theme chooses the colors.",
    "keys shortcuts keymap hotkeys bindings": "? shows the keys, /keybindings edits them.",
    "editor edit": "ctrl+g edits the prompt in your editor.",
    "add drop read-only mention file files image": "@path attaches a file.",
    "shell sh bash exec terminal": "! in front of a line runs it in the shell.",
    "details verbose": "ctrl+o shows more of each call, or less.",
    "summarize summarise compress": "/compact makes room.",
    "tokens": "/context shows what fills the window, /cost what was used.",
    "restore redo revert checkpoints": "/rewind goes back.",
    "q bye close": "/exit quits.",
    "h commands": "/help shows keys and commands.",
    "todo": "/todos shows the task list.",
    "chrome desktop mobile teleport remote-control remote-env web-setup install-github-app "
    "install-slack-app upgrade-plan passes stickers privacy-settings usage-credits radio powerup "
    "team-onboarding artifacts autofix-pr ultrareview ultraplan voice": (
        "That belongs to a service that agent-tui does not use."
    ),
}
_FROM_A_SHELL: Final = {
    "clear": "each -p run starts a new session unless -c or -r is given.",
    "config": "agent-tui config shows the settings, agent-tui config set changes one.",
    "diff": "git diff shows what changed.",
    "doctor": "agent-tui doctor.",
    "help": "agent-tui --help.",
    "hooks": "agent-tui hooks list.",
    "mode": "--permission-mode chooses it.",
    "model": "--model chooses it.",
    "permissions": "agent-tui permissions explain and lint; --allow, --ask and --deny add rules.",
    "plan": "--permission-mode plan.",
    "resume": "agent-tui -r, and agent-tui sessions list.",
    "theme": "agent-tui config set theme NAME.",
    "trust": "--trust trusts the folder for one run.",
    "vim": "agent-tui config set editorMode vim.",
}
"""How to achieve the same without the screen."""
_ADVICE: Final = {name: text for names, text in _ELSEWHERE.items() for name in names.split()}
_LOOKS_LIKE_ONE: Final = compile_late(r"[A-Za-z][A-Za-z0-9_:.-]*")


def advice_on(text: str, registry: CommandRegistry, waiting: Collection[str] = ()) -> str | None:
    """Return what to show the user instead of sending a line; None to send it to the model.

    `waiting` are names of project commands that are not trusted yet.

    A line that does not have the form of a command (`/usr/bin is missing`) is sent, and so is one
    that begins with an existing file (`/etc is full`).
    """
    parts = split_command(text)
    if parts is None or registry.find(parts[0]) is not None:
        return None
    name = parts[0]
    if name in waiting:
        return f"/{name} of this project has no effect before /trust (or --trust)."
    command = next((c for c in BUILTIN_COMMANDS if name in (c.meta.name, *c.meta.aliases)), None)
    if command is not None:
        how = _FROM_A_SHELL.get(command.meta.name, "start agent-tui without -p.")
        return f"/{name} is only available on the screen: {how}"
    if name.lower() in _ADVICE:
        return f"There is no /{name} here. {_ADVICE[name.lower()].format(name=name.lower())}"
    nearest = registry.nearest(name)
    if nearest is not None:
        return f"Unknown command /{name}. Did you mean /{nearest}?"
    if _LOOKS_LIKE_ONE.fullmatch(name) is None or os.path.lexists(f"/{name}"):
        return None
    how = "Type / for the list, or start" if registry.surface is Surface.SCREEN else "Start"
    return f"Unknown command /{name}. {how} with a space to send it as text."
