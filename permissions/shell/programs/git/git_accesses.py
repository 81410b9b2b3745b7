"""The files and places that git reads and changes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from permissions.paths.protected_paths import may_be_protected
from permissions.shell.access import HERE, Access, AccessKind, attached_values, each, names
from permissions.shell.programs.git.configuration import reads_config
from permissions.shell.programs.git.operands import clone_operands, leads_out
from permissions.shell.programs.git.subcommands import (
    UNKNOWN_SUBCOMMAND,
    git_parts,
    known_subcommand,
)
from permissions.shell.syntax import GLOB_MARKS, Word


def git(words: Sequence[Word]) -> list[Access]:
    """Return the places that git reads and changes."""
    found, subcommand, rest = git_parts(words)
    known = known_subcommand(subcommand)
    places = found.values("-C", "--git-dir", "--work-tree")
    kind = AccessKind.READ if known.reads_place else AccessKind.PLACE
    result = [
        # Git changes its own directory; what counts is where the work tree is.
        Access(kind, Word(place.raw, place.text.removesuffix("/.git").removesuffix(".git") or "."))
        for place in places
    ]
    if kind is AccessKind.PLACE and not places and subcommand not in ("", "clone", "init"):
        result.append(Access(AccessKind.PLACE, HERE))
    written = attached_values(rest, names(known.output_options))
    result.extend(each(_written_kind(subcommand, rest), written))
    result.extend(each(AccessKind.READ, attached_values(rest, names(known.input_options))))
    return [*result, *_named_files(subcommand, rest, is_moved=bool(places))]


def _named_files(subcommand: str, rest: Sequence[Word], *, is_moved: bool) -> list[Access]:
    known = known_subcommand(subcommand)
    result = known.files(rest, is_moved) if known.files is not None else []
    if known.writes_words or known is UNKNOWN_SUBCOMMAND:
        written = _written_words(subcommand, rest)
        result.extend(one for one in written if not is_moved or one.path.text.startswith("/"))
    if subcommand in _SHOWING:
        result.extend(_show_accesses(rest))
    return result


def _written_kind(subcommand: str, rest: Sequence[Word]) -> AccessKind:
    reads = subcommand == "config" and reads_config(rest)
    return AccessKind.READ if reads else AccessKind.WRITE


def _written_words(subcommand: str, rest: Sequence[Word]) -> list[Access]:
    """Return the words, and values of options, that lead out or to a protected file."""
    source = clone_operands(rest)[:1] if subcommand == "clone" else ()
    found: list[Word] = []
    for word in rest:
        value = word
        if word.plain.startswith("--"):
            name, equals, _ = word.text.partition("=")
            value = Word(word.raw, word.text[len(name) + 1 :] if equals else "", word.splits)
        elif word.plain.startswith("-"):
            value = Word(word.raw, word.text[2:], word.splits)
        if word not in source and (leads_out(value.text) or _is_guarded(value)):
            found.append(value)
    return [
        *each(AccessKind.READ, [one for one in source if leads_out(one.text)]),
        *each(AccessKind.WRITE, found),
    ]


_SHOWING = names(
    "show log diff blame annotate grep cat-file archive whatchanged stash add hash-object "
    "format-patch diff-tree diff-index diff-files rev-list range-diff checkout restore"
)
"""Subcommands that print or hand on what files hold, now or in a commit."""
_MAGIC = re.compile(r":(?:\([a-z,:]*\)|[/!^]+)")


def _show_accesses(rest: Sequence[Word]) -> list[Access]:
    """Return the files that are named, as `commit:file` or as a pattern of git's own."""
    found: list[Word] = []
    for word in rest:
        if word.text.startswith(("--batch", "--stdin")) and word.text != "--batch-check":
            # What is shown stands on its input.
            found.extend(Word(word.raw, dot + GLOB_MARKS["*"]) for dot in ("", "."))
        elif word.text and not word.plain.startswith("-"):
            text = _MAGIC.sub("", word.text, count=1).rpartition(":")[2]
            found.append(Word(word.raw, text.translate(_PATTERN) or ".", word.splits))
    return each(AccessKind.MENTIONED, [word for word in found if not word.is_unknown])


_PATTERN = str.maketrans(GLOB_MARKS)


def _is_guarded(word: Word) -> bool:
    """Could it be the name of a protected file? A branch has no name with a dot in front."""
    text = word.text.removeprefix("./")
    return word.is_literal and text not in ("", ".") and may_be_protected(f"/{text}")
