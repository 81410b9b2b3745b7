"""Arguments with which git runs other programs or writes files outside its own folder."""

from __future__ import annotations

import re
from collections.abc import Sequence

from permissions.shell.arguments import could_be_option, is_listed, split_arguments
from permissions.shell.programs.git_command import git_parts
from permissions.shell.syntax import Word


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_OPTIONS = {
    "": _set("-c --config-env --exec-path"),
    # All of these read the options of diff.
    **dict.fromkeys(
        _set(
            "diff log show whatchanged stash shortlog rev-list diff-tree diff-index diff-files "
            "reflog blame annotate range-diff cherry"
        ),
        _set("--output --ext-diff --textconv"),
    ),
    "format-patch": _set("--output --ext-diff --textconv -o --output-directory"),
    "grep": _set("-O --open-files-in-pager --textconv"),
    "cat-file": _set("--textconv --filters"),
    "rebase": _set("-x --exec"),
    "clone": _set("-u --upload-pack -c --config --template"),
    "fetch": _set("--upload-pack"),
    "pull": _set("--upload-pack"),
    "push": _set("--receive-pack --exec"),
    "ls-remote": _set("--upload-pack --exec"),
    "fetch-pack": _set("--upload-pack --exec"),
    "archive": _set("-o --output --exec"),
    "init": _set("--template"),
    "difftool": _set("-x --extcmd"),
    "difftool--": frozenset(),
    "filter-branch": _set(
        "--env-filter --tree-filter --index-filter --msg-filter --commit-filter --parent-filter "
        "--tag-name-filter --setup --subdirectory-filter"
    ),
    "bundle": frozenset(),
    "commit": frozenset(),
    "apply": _set("--unsafe-paths"),
    "send-email": _set("--smtp-server --to-cmd --cc-cmd --sendmail-cmd"),
    "worktree": frozenset(),
}
_HARMLESS_KEYS = (
    *("user.name", "user.email", "color.", "advice.", "init.defaultbranch", "pull.rebase"),
    *("push.default", "push.autosetupremote", "fetch.prune", "rebase.autostash", "core.autocrlf"),
)
_RUNS = {"bisect": _set("run"), "submodule": _set("foreach")}

_VALUED = _set(
    "-n -S -G -L --author --committer --grep --since --until --after --before --max-count --skip"
)
"""Options of `git log` and its like that take the next word as their value, whatever it is."""

_STARTING = _set("merge-index for-each-repo shell web--browse instaweb")
"""Subcommands that start the program they are given, or one that settings name."""

_EXTERNAL = re.compile(r"(?:-[^=]*=)?ext::")
"""An address whose transport is a command."""


def git_risk(words: Sequence[Word]) -> str:
    """Return which of git's arguments runs a program or writes a file; "" when none does."""
    found, subcommand, rest = git_parts(words)
    if found.injectable and not subcommand:
        return "a word that is not known could be an option of git"
    for option in found.options:
        if option.name in _OPTIONS[""]:
            return f"git {option.name} can run programs"
    if subcommand in _STARTING:
        return f"git {subcommand} runs a program"
    runs = _RUNS.get(subcommand, frozenset())
    listed = _OPTIONS.get(subcommand, frozenset())
    short = "".join(name[1] for name in listed if len(name) == 2)
    # Elsewhere `-n` and `-S` are switches, and what follows them is a word of its own.
    takes_values = subcommand in ("log", "show", "whatchanged")
    before = ""
    for word in rest:
        text = word.plain
        is_value = takes_values and before in _VALUED and not word.splits
        before = text
        if is_value and not text.startswith("-"):
            continue
        if text == "--":
            break
        if text in runs:
            return f"git {subcommand} {text} runs a command"
        if _EXTERNAL.match(text):
            return "an ext:: address runs a command"
        if listed and could_be_option(word):
            return f"a word that is not known could be an option of git {subcommand}"
        name = text.partition("=")[0]
        if text.startswith("--") and is_listed(name, "", listed, exact=False):
            return f"git {subcommand} {name} runs a program or writes a file"
        if short and re.match(r"-[A-Za-z]", text) and not text.startswith("--"):
            letter = next((mark for mark in text[1:] if mark in short), "")
            if letter:
                return f"git {subcommand} -{letter} runs a program or writes a file"
    if subcommand == "config" and any(word.text in ("-e", "--edit", "edit") for word in rest[:3]):
        return "git config --edit starts an editor"
    if subcommand == "config" and not any(
        word.text in ("--get", "--get-all", "--list", "-l", "get", "list", "--get-regexp")
        for word in rest
    ):
        operands = split_arguments(rest, valued="f").operands
        if len(operands) > 1 and not operands[0].text.lower().startswith(_HARMLESS_KEYS):
            return "git config can set programs that git runs"
    return ""
