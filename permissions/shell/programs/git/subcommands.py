"""The subcommands of git that a wildcard covers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from permissions.shell.access import Access, names
from permissions.shell.arguments import Arguments, split_arguments
from permissions.shell.programs.git.operands import (
    apply_accesses,
    clone_accesses,
    diff_accesses,
    remove_accesses,
    work_trees,
)
from permissions.shell.syntax import Word


class Subcommand(Struct, frozen=True):
    """Properties of one subcommand, or of several similar ones."""

    names: str
    reads_place: bool = False
    """Whether it changes nothing in the repository."""
    output_options: str = ""
    """Options whose value is a file that is written."""
    input_options: str = ""
    """Options whose value is a file that is read."""
    risky: str = ""
    """Options that run programs or write files."""
    runs: str = ""
    """The word that a command follows."""
    writes_words: bool = False
    """Whether it may write words that name a protected file or a path outside the work tree."""
    read_only: bool = False
    """Whether it only reads, if none of its words is risky."""
    files: Callable[[Sequence[Word], bool], list[Access]] | None = None
    """Returns the files among its operands; the second parameter is whether git runs elsewhere
    (`-C`)."""


_VALUED_LONG = names("--git-dir --work-tree --namespace --exec-path --config-env")


def git_parts(words: Sequence[Word]) -> tuple[Arguments, str, tuple[Word, ...]]:
    """Return git's own options, its subcommand ("" when unknown) and what follows it."""
    arguments = split_arguments(
        words, value_letters="Cc", value_options=_VALUED_LONG, stops_at_operand=True
    )
    if not arguments.operands or not arguments.operands[0].is_literal:
        return arguments, "", ()
    return arguments, arguments.operands[0].text, arguments.operands[1:]


def known_subcommand(subcommand: str) -> Subcommand:
    return _SUBCOMMANDS.get(subcommand, UNKNOWN_SUBCOMMAND)


UNKNOWN_SUBCOMMAND = Subcommand("")


_DIFF_RISK = "--ext-diff --output --textconv"
_SUBCOMMANDS = {
    name: one
    for one in (
        Subcommand("status rev-parse ls-tree describe check-ignore check-attr merge-base name-rev "
            "for-each-ref show-ref count-objects", reads_place=True, read_only=True),
        Subcommand("help var version show-branch verify-commit verify-tag fsck merge-tree",
            reads_place=True),
        Subcommand("diff", reads_place=True, output_options="--output", risky=_DIFF_RISK,
            read_only=True, files=diff_accesses),
        Subcommand("show log whatchanged", reads_place=True, output_options="--output",
            risky=_DIFF_RISK, read_only=True),
        Subcommand("shortlog rev-list diff-tree diff-index diff-files range-diff cherry",
            reads_place=True, risky=_DIFF_RISK, read_only=True),
        Subcommand("ls-files", reads_place=True, input_options="-X --exclude-from", read_only=True),
        Subcommand("blame", reads_place=True, input_options="-S --contents --ignore-revs-file",
            risky=_DIFF_RISK, read_only=True),
        Subcommand("annotate", reads_place=True, risky=_DIFF_RISK),
        Subcommand("cat-file", reads_place=True, risky="--filters --textconv", read_only=True),
        Subcommand("grep", reads_place=True, input_options="-f", risky="-O --open-files-in-pager "
            "--textconv", read_only=True, files=diff_accesses),
        Subcommand("branch remote"),
        Subcommand("tag", input_options="-F --file"),
        Subcommand("stash", output_options="--output", writes_words=True, risky=_DIFF_RISK),
        Subcommand("config", output_options="-f --file"),
        Subcommand("worktree", files=work_trees, writes_words=True),
        Subcommand("reflog", risky=_DIFF_RISK),
        Subcommand("clean", writes_words=True),
        Subcommand("format-patch", output_options="-o --output --output-directory",
            risky=f"-o --output-directory {_DIFF_RISK}", writes_words=True),
        Subcommand("rebase", risky="--exec -x"),
        Subcommand("clone", risky="-c --config --template -u --upload-pack", files=clone_accesses,
            writes_words=True),
        Subcommand("fetch", risky="--upload-pack"),
        Subcommand("pull", risky="--upload-pack"),
        Subcommand("push", risky="--exec --receive-pack", writes_words=True),
        Subcommand("ls-remote", risky="--exec --upload-pack"),
        Subcommand("archive", output_options="-o --output", risky="--exec -o --output",
            writes_words=True),
        Subcommand("init", risky="--template", writes_words=True),
        Subcommand("bundle", writes_words=True),
        Subcommand("commit notes", input_options="-F --file -t --template"),
        Subcommand("add update-index update-ref symbolic-ref pack-refs commit-tree write-tree "
            "hash-object gc prune repack"),
        Subcommand("apply", risky="--unsafe-paths", files=apply_accesses,
            writes_words=True),
        Subcommand("merge", input_options="-F --file"),
        Subcommand("am cherry-pick revert switch"),
        Subcommand("read-tree sparse-checkout",
            writes_words=True),
        Subcommand("bisect", runs="run"),
        Subcommand("checkout restore reset", writes_words=True),
        Subcommand("lfs"),
        Subcommand("mv rm", files=remove_accesses),
        Subcommand("submodule", runs="foreach"),
    )
    for name in one.names.split()
}  # fmt: skip
"""Subcommands that a wildcard covers; any other may be an external program."""
