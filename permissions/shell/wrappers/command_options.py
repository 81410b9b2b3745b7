"""Options and variables whose value is a command: what `rsync -e`, `PAGER=` or `vim -c '!…'` start.

A wildcard does not cover such an option anyway. What it starts is looked at so that deny rules and
the scope see it; a value that is no command at all is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from permissions.shell.access import attached_values, names
from permissions.shell.flow.nested_scripts import UNKNOWN_PIECES, is_printed, printed_by
from permissions.shell.syntax import Simple, Word
from permissions.shell.wrappers.code_commands import STARTS_COMMANDS, commands_in_code

_OPTIONS = {
    "rsync": names("-e --rsh --rsync-path"),
    **dict.fromkeys(
        ("tar", "gtar", "bsdtar"),
        names(
            "-I --use-compress-program --to-command --rsh-command --info-script -F "
            "--new-volume-script --checkpoint-action"
        ),
    ),
    "man": names("-P --pager"),
    "rg": names("--pre"),
    "ag": names("--pager"),
    "sort": names("--compress-program"),
    "split": names("--filter"),
    **dict.fromkeys(("ssh", "scp", "sftp"), names("-o")),
    "git": names("-O --open-files-in-pager --upload-pack --receive-pack --exec -c"),
    **dict.fromkeys(("vi", "vim", "nvim", "ex", "view"), names("-c --cmd")),
    **dict.fromkeys(("npm", "npx", "pnpm"), names("-c --call")),
    "nix-shell": names("--run --command"),
    **dict.fromkeys(("nc", "ncat", "netcat"), names("-e -c --exec --sh-exec")),
}
_TEXTS = names("tmux hyperfine")
"""Programs that are handed commands as one word each."""
_SOCAT = re.compile(r"(?:EXEC|SYSTEM|SHELL):([^,]+)", re.IGNORECASE)
_VARIABLES = names(
    "PAGER GIT_PAGER MANPAGER GH_PAGER EDITOR VISUAL GIT_EDITOR GIT_SEQUENCE_EDITOR SUDO_EDITOR "
    "GIT_SSH_COMMAND GIT_SSH GIT_ASKPASS SSH_ASKPASS GIT_EXTERNAL_DIFF GIT_PROXY_COMMAND RSYNC_RSH "
    "PROMPT_COMMAND BROWSER LESSOPEN"
)
_SETTING = re.compile(
    r"(?:exec=|(?:Proxy|Local|KnownHosts)Command[= ]|core\.\w+=|pager\.\w+=|\b\w+\.cmd=|"
    r"diff\.external=|sequence\.editor=|gpg\.program=|credential\.helper=|!|:\s*!|\\!)\s*",
    re.IGNORECASE,
)
_SED_PART = r"(?:\\.|(?!\2)[^\n\\])*+"
_SED_RUNS = re.compile(rf"^[0-9,$]*e\s+(.+)$|^s(.){_SED_PART}\2({_SED_PART})\2[a-z0-9]*e[a-z0-9]*$")


_STARTERS = _OPTIONS.keys() | {"sed", "gsed", "make", "gmake", "socat"} | _TEXTS | STARTS_COMMANDS


def started(program: str, words: Sequence[Word]) -> Iterator[str]:
    """Yield the commands that options start, of words that are written out only."""
    if program not in _STARTERS:
        return
    given = [word for word in words if word.is_literal]
    if program in STARTS_COMMANDS:
        for word in words:
            yield from commands_in_code(program, word.plain.translate(UNKNOWN_PIECES))
    if program in _OPTIONS:
        for value in attached_values(given, _OPTIONS[program]):
            yield from _command(value.text)
        if program == "git" and any(word.text == "config" for word in given):
            # An alias or a helper that is a command of its own.
            yield from (word.text[1:] for word in given if word.text.startswith("!"))
    elif program in _TEXTS:
        for word in given:
            yield from _command(word.text)
    elif program == "socat":
        for word in given:
            yield from _SOCAT.findall(word.text)
    elif program in ("sed", "gsed"):
        for word in given:
            match = _SED_RUNS.match(word.text)
            if match:
                yield match[1] or match[3]
    elif program in ("make", "gmake"):
        for word in given:
            if word.text.startswith("SHELL="):
                yield from _command(word.text.removeprefix("SHELL="))


def started_by_variables(simple: Simple) -> Iterator[str]:
    """Yield the commands that variables name."""
    for item in simple.assignments:
        if item.name in _VARIABLES and item.value.is_literal:
            yield from _command(item.value.text)
        elif item.name in ("BASH_ENV", "ENV") and is_printed(item.value):
            yield from filter(None, map(printed_by, item.value.scripts))


def _command(text: str) -> Iterator[str]:
    command = _SETTING.sub("", text, count=1)
    # A single word is a program to be used, such as `ssh` or `less`.
    if " " in command.strip():
        yield command
