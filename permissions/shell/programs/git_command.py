"""Git's arguments, and the places it reads and changes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from permissions.base.text.star_pattern import UNKNOWN
from permissions.paths.protected_paths import may_be_protected
from permissions.shell.access import HERE, Access, AccessKind, attached_values, each, names
from permissions.shell.arguments import Arguments, split_arguments
from permissions.shell.syntax import HOME_MARK, Word

_GIT_READ_ONLY = names(
    "status log diff show rev-parse ls-files ls-tree blame describe shortlog cat-file rev-list "
    "merge-base name-rev for-each-ref show-ref grep diff-tree diff-index diff-files whatchanged "
    "count-objects check-ignore check-attr var version help annotate cherry range-diff"
)


_GIT_VALUED_LONG = names("--git-dir --work-tree --namespace --exec-path --config-env")


def git_parts(words: Sequence[Word]) -> tuple[Arguments, str, tuple[Word, ...]]:
    """Return git's own options, its subcommand ("" when unknown) and what follows it."""
    found = split_arguments(words, valued="Cc", valued_long=_GIT_VALUED_LONG, stops_at_operand=True)
    if not found.operands or not found.operands[0].is_literal:
        return found, "", ()
    return found, found.operands[0].text, found.operands[1:]


def git(words: Sequence[Word]) -> list[Access]:
    """Return the places that git reads and changes."""
    found, subcommand, rest = git_parts(words)
    places = found.values("-C", "--git-dir", "--work-tree")
    kind = AccessKind.READ if subcommand in _GIT_READ_ONLY else AccessKind.PLACE
    result = [
        # Git changes its own folder; what counts is where the work tree is.
        Access(kind, Word(place.raw, place.text.removesuffix("/.git").removesuffix(".git") or "."))
        for place in places
    ]
    if kind is AccessKind.PLACE and not places and subcommand not in ("", "clone", "init"):
        result.append(Access(AccessKind.PLACE, HERE))
    written = attached_values(rest, _WRITES.get(subcommand, frozenset()))
    reads_config = subcommand == "config" and any(word.text in _READING_CONFIG for word in rest)
    result.extend(each(AccessKind.READ if reads_config else AccessKind.WRITE, written))
    result.extend(each(AccessKind.READ, attached_values(rest, _READS.get(subcommand, frozenset()))))
    if subcommand in ("diff", "grep"):
        # Outside a repository, and for paths outside of it, both look at any file.
        operands = split_arguments(rest).operands
        is_any = any(word.text == "--no-index" for word in rest)
        result.extend(
            each(AccessKind.READ, [word for word in operands if is_any or _leaves(word.text)])
        )
    if subcommand == "bundle" and rest[:1] and rest[0].text == "create":
        result.extend(each(AccessKind.WRITE, split_arguments(rest[1:]).operands[:1]))
    if subcommand == "apply" and any(word.text == "--unsafe-paths" for word in rest):
        # The patch alone says where.
        result.append(Access(AccessKind.WRITE, Word("git apply --unsafe-paths", UNKNOWN)))
    if subcommand == "pack-objects":
        result.extend(each(AccessKind.WRITE, split_arguments(rest).operands[-1:]))
    if subcommand in ("clone", "init"):
        operands = split_arguments(rest, valued="bocujC", valued_long=_GIT_CLONE_LONG).operands
        place = operands[1:2] if subcommand == "clone" else operands[:1]
        if subcommand == "clone" and len(operands) == 1:
            place = (_cloned(operands[0]),)
        result.extend(each(AccessKind.WRITE, place or (HERE,)))
    if subcommand == "worktree" and rest[:1] and rest[0].text == "add":
        operands = split_arguments(rest[1:], valued="bB").operands
        result.extend(each(AccessKind.WRITE, operands[:1]))
    result.extend(_in_the_work_tree(subcommand, rest, is_moved=bool(places)))
    if subcommand in ("rm", "mv") and not places:
        result.extend(each(AccessKind.REMOVE, split_arguments(rest).operands))
    return result


def _in_the_work_tree(subcommand: str, rest: Sequence[Word], *, is_moved: bool) -> list[Access]:
    """Return the files that git changes where its work tree is larger than the scope."""
    found: list[Access] = []
    operands = split_arguments(rest).operands
    if subcommand in ("checkout", "restore", "clean", "stash", "reset") and not is_moved:
        is_restored = subcommand in ("checkout", "restore")
        found.extend(
            each(
                AccessKind.WRITE,
                [
                    word
                    for word in operands
                    if _leaves(word.text) or (is_restored and _is_guarded(word))
                ],
            )
        )
    elif subcommand == "worktree" and operands[:1] and operands[0].text in ("move", "remove"):
        found.extend(each(AccessKind.REMOVE, operands[1:2]))
        found.extend(each(AccessKind.WRITE, operands[2:3]))
    elif subcommand == "interpret-trailers" and any(word.text == "--in-place" for word in rest):
        found.extend(each(AccessKind.WRITE, operands))
    elif subcommand == "merge-file":
        found.extend(each(AccessKind.WRITE, operands[:1]))
    elif subcommand == "mailinfo":
        found.extend(each(AccessKind.WRITE, operands[:2]))
    return found


def _is_guarded(word: Word) -> bool:
    """Could it be the name of a protected file? A branch has no name with a dot in front."""
    text = word.text.removeprefix("./")
    return word.is_literal and text not in ("", ".") and may_be_protected(f"/{text}")


def _cloned(address: Word) -> Word:
    """Return the folder that a clone is named: the last piece of its address, as git cuts it."""
    name = re.split(r"[/:]", address.text.rstrip("/").removesuffix("/.git"))[-1]
    name = name.removesuffix(".git").removesuffix(".bundle")
    if not address.is_literal or name in ("", ".", ".."):
        return HERE
    return Word(address.raw, name)


_WRITES = {
    **dict.fromkeys(("diff", "log", "show", "whatchanged", "stash"), names("--output")),
    "archive": names("--output -o"),
    "format-patch": names("--output --output-directory -o"),
    "config": names("--file -f"),
    "checkout-index": names("--prefix"),
    "init": names("--separate-git-dir"),
    "clone": names("--separate-git-dir"),
    "bugreport": names("--output-directory -o"),
    "diagnose": names("--output-directory -o"),
    "index-pack": names("-o"),
    "mailsplit": names("-o"),
    "fast-export": names("--export-marks"),
    "fast-import": names("--export-marks --export-pack-edges"),
    "credential-store": names("--file"),
    "difftool": names("--output"),
}
_READS = {
    **dict.fromkeys(("commit", "tag", "notes", "merge"), names("--file -F")),
    "blame": names("--contents -S --ignore-revs-file"),
    "grep": names("-f"),
    "ls-files": names("-X --exclude-from"),
    "apply": names("--include-from"),
}
_READING_CONFIG = names("--get --get-all --get-regexp --list -l get list")


def _leaves(text: str) -> bool:
    return text.startswith(("/", "~", "..", HOME_MARK)) or "/../" in text


_GIT_CLONE_LONG = names(
    "--branch --depth --origin --config --template --reference --separate-git-dir"
)
