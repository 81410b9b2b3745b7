"""Files among the operands of git's subcommands."""

from __future__ import annotations

import re
from collections.abc import Sequence

from permissions.base.text.star_pattern import UNKNOWN
from permissions.shell.access import HERE, Access, AccessKind, each, names
from permissions.shell.arguments import split_arguments
from permissions.shell.syntax import HOME_MARK, Word


def diff_accesses(rest: Sequence[Word], _is_moved: bool) -> list[Access]:
    """Outside a repository, and for paths outside of it, diff and grep read any file."""
    is_any = any(word.text == "--no-index" for word in rest)
    operands = split_arguments(rest).operands
    return each(AccessKind.READ, [word for word in operands if is_any or may_be_outside(word.text)])


def apply_accesses(rest: Sequence[Word], _is_moved: bool) -> list[Access]:
    if not any(word.text == "--unsafe-paths" for word in rest):
        return []
    # Only the patch determines where.
    return [Access(AccessKind.WRITE, Word("git apply --unsafe-paths", UNKNOWN))]


def clone_operands(rest: Sequence[Word]) -> tuple[Word, ...]:
    return split_arguments(rest, value_letters="bocuj", value_options=_CLONE_LONG).operands


def clone_accesses(rest: Sequence[Word], _is_moved: bool) -> list[Access]:
    operands = clone_operands(rest)
    place = operands[1:2] if len(operands) != 1 else (_directory_of(operands[0]),)
    return each(AccessKind.WRITE, place or (HERE,))


_CLONE_LONG = names(
    "--branch --depth --origin --config --template --reference --separate-git-dir --jobs --filter "
    "--shallow-since --shallow-exclude --server-option --bundle-uri --initial-branch --revision "
    "--reference-if-able --upload-pack --object-format --ref-format"
)


def _directory_of(address: Word) -> Word:
    """Return the default directory of a clone: the last part of its address, shortened as git
    does."""
    name = re.split(r"[/:]", address.text.rstrip("/").removesuffix("/.git"))[-1]
    name = name.removesuffix(".git").removesuffix(".bundle")
    if not address.is_literal or name in ("", ".", ".."):
        return HERE
    return Word(address.raw, name)


def work_trees(rest: Sequence[Word], _is_moved: bool) -> list[Access]:
    return each(AccessKind.WRITE, split_arguments(rest, value_letters="bB").operands[1:2])


def remove_accesses(rest: Sequence[Word], is_moved: bool) -> list[Access]:
    return each(AccessKind.REMOVE, () if is_moved else split_arguments(rest).operands)


def may_be_outside(text: str) -> bool:
    return text.startswith(("/", "~", "..", HOME_MARK)) or "/../" in text
