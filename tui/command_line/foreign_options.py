"""Options and words of other agents' command lines: accepted, or answered with the alternative."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from permissions.base.text.late_pattern import compile_late

SEVERAL_RULES: Final = frozenset(
    {"--allowedTools", "--allowed-tools", "--disallowedTools", "--disallowed-tools", "--tools"}
)
"""Options that accept several values in a row, in the spelling of other agents."""
_RULE: Final = compile_late(r"(?:[A-Z][A-Za-z]+|mcp__\w+)(?:\(.*\))?", re.DOTALL)
_PATH: Final = compile_late(r"(?:\.{1,2}|~)?/.*|\.{1,2}", re.DOTALL)

_MODES: Final = "--permission-mode default, plan, acceptEdits or dontAsk."
_DIRECTORY: Final = "start it in that folder."
_IMAGE: Final = "name the file in the prompt as @path."
INSTEAD: Final = {
    "--bare": "AGENT_TUI_HOME=$(mktemp -d) starts without your settings.",
    "--safe-mode": "AGENT_TUI_HOME=$(mktemp -d) starts without your settings.",
    "--from-pr": "gh pr checkout, then start.",
    "--ide": "ctrl+g edits the prompt in your editor.",
    "--managed-settings": "the file of managed settings, or --settings.",
    "--resume-session-at": "/rewind, in the session.",
    "--session-mirror": "sessions are files: agent-tui sessions export.",
    "--task-budget": "--max-budget-usd or --max-turns.",
    "--plugin-url": "--plugin-dir takes a folder.",
    "--disable-slash-commands": "a -p prompt with a space before the slash is sent as it is.",
    "--autocompact": '"autoCompactEnabled" in your settings.',
    "--full-auto": "--permission-mode acceptEdits, with --allow for commands.",
    "--yolo": "--dangerously-skip-permissions, in a container.",
    "--dangerously-bypass-approvals-and-sandbox": "--dangerously-skip-permissions, in a container.",
    "--ask-for-approval": _MODES,
    "--approval-mode": _MODES,
    "-a": _MODES,
    "-s": "--sandbox read-only, workspace-write or off.",
    "--cd": _DIRECTORY,
    "--cwd": _DIRECTORY,
    "-C": _DIRECTORY,
    "--image": _IMAGE,
    "-i": _IMAGE,
    "--search": "the model may read pages; --allow 'WebFetch(domain:example.com)' allows a site.",
    "--oss": "ANTHROPIC_BASE_URL names a server on this machine, --model one of its models.",
    "-q": "-p prints only the answer.",
    "--profile": "--settings FILE.",
    "--config": "--settings FILE.",
}
"""Options that do not exist here, and what to use instead."""

_NO_ACCOUNT: Final = "there is no account to log in to: set ANTHROPIC_API_KEY."
_UPDATE: Final = "agent-tui update says how."
WORDS: Final = {
    "login": _NO_ACCOUNT,
    "logout": _NO_ACCOUNT,
    "auth": _NO_ACCOUNT,
    "setup-token": _NO_ACCOUNT,
    "upgrade": _UPDATE,
    "install": _UPDATE,
    "plugin": "--plugin-dir uses the hooks and agents of a plugin.",
    "resume": "agent-tui -r, or agent-tui -c for the latest.",
    "continue": "agent-tui -c.",
    "exec": 'agent-tui -p "your request".',
    "run": 'agent-tui -p "your request"; put a prompt of several words in quotes.',
    "execpolicy": "agent-tui permissions explain 'Bash(git push)', or permissions check.",
    "serve": "there is no server; agent-tui -p works in scripts.",
}
"""First words that are subcommands of other programs, and what to use instead."""


WANTS: Final = {"help": "--help", "version": "--version"}
"""First words that mean an option, and that option."""


def repeat_options(arguments: Sequence[str]) -> list[str]:
    """Return the arguments with the option repeated before each of its values.

    `--allowedTools Read Edit` becomes two options, and so does `--add-dir ../a ../b`. An argument
    that does not look like a rule or path is the prompt.
    """
    spread_out: list[str] = []
    option: str | None = None
    has_value = False
    for place, argument in enumerate(arguments):
        if argument == "--":
            return [*spread_out, *arguments[place:]]
        if argument.startswith("-"):
            is_open = argument in SEVERAL_RULES or argument == "--add-dir"
            option, has_value = (argument if is_open else None), False
        elif option is not None and not has_value:
            has_value = True
        elif option is not None:
            pattern = _PATH if option == "--add-dir" else _RULE
            if pattern.fullmatch(argument):
                spread_out.append(option)
            else:
                option = None
        spread_out.append("--debug" if argument.startswith("--debug=") else argument)
    return spread_out


def is_word(argument: str) -> bool:
    """Whether a first argument is not a prompt but a subcommand of another program."""
    return argument in WORDS or argument in WANTS or likely_subcommand(argument) is not None


def likely_subcommand(argument: str) -> str | None:
    """Return the subcommand that a word is probably a misspelling of; None for prompts."""
    from tui.command_line import SUBCOMMANDS

    if argument in SUBCOMMANDS or not 4 <= len(argument) <= 14 or not argument.isalpha():
        return None
    if not any(argument[0] == name[0] for name in SUBCOMMANDS):
        return None
    import difflib  # not needed for a prompt of several words

    return next(iter(difflib.get_close_matches(argument, SUBCOMMANDS, n=1, cutoff=0.8)), None)
