"""Which git arguments a wildcard does not cover, and when git should only read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from permissions.base.text.late_pattern import compile_late
from permissions.shell.access import names
from permissions.shell.arguments import could_be_option, ends_options, is_listed
from permissions.shell.programs.git.configuration import reads_config
from permissions.shell.programs.git.subcommands import (
    UNKNOWN_SUBCOMMAND,
    Subcommand,
    git_parts,
    known_subcommand,
)
from permissions.shell.syntax import Word

_RISKY_OPTIONS = names("-c --config-env --exec-path")
_LOG_VALUED = names(
    "-n -S -G -L --author --committer --grep --since --until --after --before --max-count --skip"
)
"""Options of `git log` and similar subcommands that always take the next word as their value."""
_EXTERNAL = compile_late(r"(?:-[^=]*=)?ext::")
"""An address whose transport is a command."""


def git_risk(_program: str, words: Sequence[Word]) -> str:
    """Return which argument runs a program or writes a file outside git's own directory."""
    arguments, subcommand, rest = git_parts(words)
    if arguments.injectable and not subcommand:
        return "a word that is not known could be an option of git"
    for option in arguments.options:
        if option.name in _RISKY_OPTIONS:
            return f"git {option.name} can run programs"
    subcommand_record = known_subcommand(subcommand)
    if subcommand_record is UNKNOWN_SUBCOMMAND and (subcommand or not arguments.options):
        return f"git {subcommand} is not a subcommand that a wildcard covers".replace("  ", " ")
    for word in _words_at_risk(subcommand, rest):
        if risk := _word_risk(subcommand, subcommand_record, word):
            return risk
    sets = subcommand == "config" and not reads_config(rest)
    return "git config can set programs that git runs" if sets else ""


def _words_at_risk(subcommand: str, rest: Sequence[Word]) -> Iterator[Word]:
    """Yield the words that are not values; after `--`, none that may expand to an option. Not every
    subcommand ends its options there: blame reads those of log after it.
    """
    # For other subcommands, `-n` and `-S` are switches, and the word after them is not a value.
    value_options = (
        _LOG_VALUED if subcommand in ("log", "show", "whatchanged") else frozenset[str]()
    )
    previous, is_behind = "", False
    for position, word in enumerate(rest):
        text = word.plain
        is_value = previous in value_options and not word.splits and not text.startswith("-")
        previous = text
        if text == "--" and ends_options(rest, position, "pqvrwinlaz"):
            is_behind = subcommand not in ("blame", "annotate")
        elif not (is_value or (is_behind and could_be_option(word))):
            yield word


def _word_risk(subcommand: str, subcommand_record: Subcommand, word: Word) -> str:
    text = word.plain
    if text in names(subcommand_record.runs):
        return f"git {subcommand} {text} runs a command"
    if _EXTERNAL.match(text):
        return "an ext:: address runs a command"
    risky = names(subcommand_record.risky)
    if risky and could_be_option(word):
        return f"a word that is not known could be an option of git {subcommand}"
    name = text.partition("=")[0]
    if text.startswith("--") and is_listed(name, "", risky, exact=False):
        return f"git {subcommand} {name} runs a program or writes a file"
    if re.match(r"-[A-Za-z]", text):
        letter = next((mark for mark in text[1:] if f"-{mark}" in risky), "")
        if letter:
            return f"git {subcommand} -{letter} runs a program or writes a file"
    return ""


_READING_OPTIONS = ("-C", "--no-pager", "--no-optional-locks", "-P")
_LISTING = compile_late(
    r"(?:branch|tag)(?: (?:-[alnrv]+\d*|--(?:all|show-current|remotes|verbose|list"
    r"|(?:(?:no-)?(?:color|merged)|format|sort|contains|points-at)(?:=\S*)?)))*"
    r"|(?:branch|tag) (?:-\S+ )*(?:-[ln]+|--(?:list|contains|(?:no-)?merged|points-at))(?: .*)?"
    r"|clean(?: -[dxXfq]+)* (?:-[dxXfq]*n[dxXfqn]*|--dry-run)(?: -[dxXfqn]+)*"
    r"|remote(?: -v| --verbose| show| show -n .*| get-url .*)?"
    r"|reflog(?: -n.*| show.*)?|stash (?:list|show)(?: .*)?|worktree list(?: --porcelain)?"
)
"""Subcommands that may write, with words that ask them only to list. The sandbox enforces that they
write nothing when such a command needs no permission."""


def reads_only(words: Sequence[Word]) -> bool:
    """Return whether git should only read, if none of its words is risky."""
    arguments, subcommand, rest = git_parts(words)
    if any(option.name not in _READING_OPTIONS for option in arguments.options):
        return False
    if any(word.splits for word in rest):
        return False
    if known_subcommand(subcommand).read_only or subcommand == "config":
        return subcommand != "config" or reads_config(rest)
    texts = [word.plain.replace(" ", "\xa0") for word in rest]
    return _LISTING.fullmatch(" ".join((subcommand, *texts))) is not None
