"""How git commands read and change its configuration."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from permissions.shell.access import names
from permissions.shell.arguments import split_arguments
from permissions.shell.syntax import Word


class _Config(Struct, frozen=True):
    """The arguments of `git config`: only options before the first operand are options."""

    options: frozenset[str]
    operands: tuple[Word, ...]


def _config(rest: Sequence[Word]) -> _Config:
    arguments = split_arguments(
        rest, value_letters="f", value_options=_CONFIG_VALUED, stops_at_operand=True
    )
    return _Config(frozenset(one.name for one in arguments.options), arguments.operands)


def reads_config(rest: Sequence[Word]) -> bool:
    """Return whether `git config` only reads. Words after the first operand are values."""
    config = _config(rest)
    if not config.options <= _READING_CONFIG | _WHERE_CONFIG:
        return False
    if config.options & _READING_CONFIG:
        return True
    operands = [word.plain for word in config.operands]
    return operands[:1] in (["get"], ["list"]) or (len(operands) == 1 and "." in operands[0])


_CONFIG_VALUED = names("--file --blob --type --default --value --url")
_READING_CONFIG = names("--get --get-all --get-regexp --get-urlmatch --list -l")
_WHERE_CONFIG = names(
    "--global --system --local --worktree --show-origin --show-scope --name-only -z --null -f "
    "--file --blob --type --bool --int --path --default --includes --no-includes"
)


def changes_settings(words: Sequence[Word]) -> str:
    """Return the settings file that git changes: of the user, the machine or the repository."""
    arguments = split_arguments(words, value_letters="Cc", stops_at_operand=True)
    if not arguments.operands:
        return ""
    subcommand, rest = arguments.operands[0].text, arguments.operands[1:]
    texts = {word.text for word in rest}
    if subcommand == "init":
        return (
            ""
            if split_arguments(rest, value_letters="b", value_options=_INIT_VALUED).operands
            else _CONFIG
        )
    if subcommand != "config":
        return _CONFIG if texts & _CONFIGURING.get(subcommand, frozenset()) else ""
    if reads_config(rest):
        return ""
    return _set_by_config(texts)


def _set_by_config(texts: Iterable[str]) -> str:
    if _has_short(texts, "--global"):
        return "~/.gitconfig"
    if _has_short(texts, "--system"):
        return "/etc/gitconfig"
    return "" if any(text.startswith(("-f", "--fi")) for text in texts) else _CONFIG


_CONFIG = ".git/config"
_INIT_VALUED = names("--initial-branch --template --separate-git-dir --object-format --ref-format")
_CONFIGURING = {
    "remote": names("add remove rm rename set-url set-branches"),
    "branch": names("-u --set-upstream-to --unset-upstream -m -M --move --edit-description"),
    "push": names("-u --set-upstream"),
    "checkout": names("-t --track"),
    "switch": names("-t --track"),
    "submodule": names("add init deinit sync"),
    "sparse-checkout": names("init set add disable"),
    "lfs": names("install"),
}
"""Subcommands that write the repository's configuration, with the words that cause it."""


def _has_short(texts: Iterable[str], option: str) -> bool:
    """Return whether an option of git is given, possibly abbreviated."""
    return any(len(text) > 3 and option.startswith(text) for text in texts)
