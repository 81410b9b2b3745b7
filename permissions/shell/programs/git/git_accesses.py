"""The files and directories that git reads and changes."""

from __future__ import annotations

from collections.abc import Sequence

from permissions.base.text.late_pattern import compile_late
from permissions.paths.protected_paths import may_be_protected
from permissions.shell.access import HERE, Access, AccessKind, attached_values, each, names
from permissions.shell.programs.git.configuration import reads_config
from permissions.shell.programs.git.operands import clone_operands, may_be_outside
from permissions.shell.programs.git.subcommands import (
    UNKNOWN_SUBCOMMAND,
    git_parts,
    known_subcommand,
)
from permissions.shell.syntax import GLOB_MARKS, Word


def git(words: Sequence[Word]) -> list[Access]:
    """Return the files and directories that git reads and changes."""
    arguments, subcommand, rest = git_parts(words)
    subcommand_record = known_subcommand(subcommand)
    places = arguments.values("-C", "--git-dir", "--work-tree")
    kind = AccessKind.READ if subcommand_record.reads_place else AccessKind.PLACE
    result = [
        # Git changes its own directory; rules apply to the work tree's directory.
        Access(kind, Word(place.raw, place.text.removesuffix("/.git").removesuffix(".git") or "."))
        for place in places
    ]
    if kind is AccessKind.PLACE and not places and subcommand not in ("", "clone", "init"):
        result.append(Access(AccessKind.PLACE, HERE))
    output_files = attached_values(rest, names(subcommand_record.output_options))
    result.extend(each(_written_kind(subcommand, rest), output_files))
    input_options = names(f"--pathspec-from-file {subcommand_record.input_options}")
    result.extend(each(AccessKind.READ, attached_values(rest, input_options)))
    return [*result, *_named_files(subcommand, rest, is_moved=bool(places))]


def _named_files(subcommand: str, rest: Sequence[Word], *, is_moved: bool) -> list[Access]:
    subcommand_record = known_subcommand(subcommand)
    result = subcommand_record.files(rest, is_moved) if subcommand_record.files is not None else []
    if subcommand_record.writes_words or subcommand_record is UNKNOWN_SUBCOMMAND:
        word_accesses = _written_words(subcommand, rest)
        result.extend(one for one in word_accesses if not is_moved or one.path.text.startswith("/"))
    if subcommand in _SHOWING:
        result.extend(_show_accesses(rest))
    return result


def _written_kind(subcommand: str, rest: Sequence[Word]) -> AccessKind:
    reads = subcommand == "config" and reads_config(rest)
    return AccessKind.READ if reads else AccessKind.WRITE


def _written_words(subcommand: str, rest: Sequence[Word]) -> list[Access]:
    """Return the words and option values that name a path outside or a protected file."""
    source = clone_operands(rest)[:1] if subcommand == "clone" else ()
    values: list[Word] = []
    for word in rest:
        value = word
        if word.plain.startswith("--"):
            name, equals, _ = word.text.partition("=")
            value = Word(word.raw, word.text[len(name) + 1 :] if equals else "", word.splits)
        elif word.plain.startswith("-"):
            value = Word(word.raw, word.text[2:], word.splits)
        if word not in source and (may_be_outside(value.text) or _is_guarded(value)):
            values.append(value)
    return [
        *each(AccessKind.READ, [one for one in source if may_be_outside(one.text)]),
        *each(AccessKind.WRITE, values),
    ]


_SHOWING = names(
    "show log diff blame annotate grep cat-file archive whatchanged stash add hash-object "
    "format-patch diff-tree diff-index diff-files rev-list range-diff checkout restore"
)
"""Subcommands that print or export the content of files, now or in a commit."""
_MAGIC = compile_late(r":(?:\([a-z,:]*\)|[/!^]+)")


def _show_accesses(rest: Sequence[Word]) -> list[Access]:
    """Return the named files: `commit:file`, `-L1,9:file` or a pathspec pattern."""
    patterns: list[Word] = []
    for word in rest:
        if word.text.startswith(("--batch", "--stdin")) and word.text != "--batch-check":
            # Its input names what is shown.
            patterns.extend(Word(word.raw, dot + GLOB_MARKS["*"]) for dot in ("", "."))
        elif word.text and (not word.plain.startswith("-") or ":" in word.text):
            text = _MAGIC.sub("", word.text, count=1).rpartition(":")[2]
            patterns.append(Word(word.raw, text.translate(_PATTERN) or ".", word.splits))
    return each(AccessKind.MENTIONED, [word for word in patterns if not word.is_unknown])


_PATTERN = str.maketrans(GLOB_MARKS)


def _is_guarded(word: Word) -> bool:
    """Return whether it may name a protected file. A branch's name cannot start with a dot."""
    text = word.text.removeprefix("./")
    return word.is_literal and text not in ("", ".") and may_be_protected(f"/{text}")
