"""Which commands may make links or replace folders, as a table."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from enum import Enum

from permissions.shell.access import names
from permissions.shell.command_pattern import WORD_END


class Making(Enum):
    """What a command may put at the places that it writes."""

    LINK = "link"
    """A link, for sure."""
    COPY = "copy"
    """What its sources hold, links as links."""
    UNPACK = "unpack"
    """Anything, below a folder that stays one."""
    TREE = "tree"
    """Anything, anywhere in the work tree."""


_KEEPS_LINKS = re.compile(r"-[A-Za-z]*[adPRr]|--(?:archive|no-d|preserve|recursive)")
"""Options of cp that copy links as they are."""
_LINKS = re.compile(r"-[A-Za-z]*s|--sy")
"""Options of cp that make links in place of copies."""
_SYNCS_LINKS = re.compile(r"-[A-Za-z]*[al]|--(?:archive|links)")
_UNPACKS = re.compile(r"-{0,1}[A-Za-z]*x[A-Za-z]*|--(?:ext|get).*")
_LISTS = re.compile(r"-[A-Za-z]*[ltpZv]")

_GIT_TREE = names(
    "checkout switch restore reset stash apply am merge pull rebase cherry-pick revert submodule "
    "checkout-index read-tree bisect sparse-checkout lfs subtree filter-branch filter-repo mv "
    "svn p4"
)
_GIT_HARMLESS = {
    "stash": names("list show drop clear create store"),
    "submodule": names("status summary foreach init"),
    "lfs": names("ls-files status track untrack env locks"),
    "bisect": names("log view"),
    "sparse-checkout": names("list"),
}
_GIT_CHECKS = names("--stat --numstat --summary --check --cached --show-current-patch")
_GIT_RESETS = names("--hard --merge --keep --recurse-submodules")


def making_of(program: str, joined: str) -> Making | None:
    """Return what a command makes; None for nothing.

    Args:
        program: One of `MAKERS`.
        joined: All its words, `WORD_END` in between.
    """
    return MAKERS[program](joined.split(WORD_END)[1:])


def _link(words: Sequence[str]) -> Making | None:
    del words
    return Making.LINK


def _copy(words: Sequence[str]) -> Making | None:
    if any(_LINKS.match(word) for word in words):
        return Making.LINK
    return Making.COPY if any(_KEEPS_LINKS.match(word) for word in words) else None


def _move(words: Sequence[str]) -> Making | None:
    del words
    return Making.COPY


def _synchronise(words: Sequence[str]) -> Making | None:
    return Making.COPY if any(_SYNCS_LINKS.match(word) for word in words) else None


def _unpack(words: Sequence[str]) -> Making | None:
    del words
    return Making.UNPACK


def _tar(words: Sequence[str]) -> Making | None:
    extracts = words[:1] and _UNPACKS.fullmatch(words[0])
    if extracts or any(word.startswith("-") and _UNPACKS.fullmatch(word) for word in words):
        return Making.UNPACK
    return None


def _unzip(words: Sequence[str]) -> Making | None:
    return None if any(_LISTS.match(word) for word in words) else Making.UNPACK


def _seven(words: Sequence[str]) -> Making | None:
    command = next((word.lower() for word in words if not word.startswith("-")), "")
    return Making.UNPACK if command in ("x", "e") else None


def _copy_in(words: Sequence[str]) -> Making | None:
    reads = any(re.match(r"-[A-Za-z]*[ip]|--(?:extract|pass)", word) for word in words)
    return Making.UNPACK if reads else None


def _container(words: Sequence[str]) -> Making | None:
    return Making.COPY if "cp" in words[:2] else None


def _git(words: Sequence[str]) -> Making | None:
    if not words:
        return None
    subcommand, rest = words[0], words[1:]
    if subcommand == "clone" or (subcommand == "worktree" and "add" in rest[:1]):
        return Making.UNPACK
    if subcommand not in _GIT_TREE:
        return None
    if rest[:1] and rest[0] in _GIT_HARMLESS.get(subcommand, ()):
        return None
    checks = any(word in _GIT_CHECKS for word in rest)
    if subcommand == "apply" and checks and not _has(rest, names("--apply")):
        return None
    if subcommand == "reset" and not _has(rest, _GIT_RESETS):
        return None
    if subcommand in ("checkout", "switch") and _only_names_a_branch(rest):
        return None
    return Making.TREE


def _has(words: Sequence[str], options: frozenset[str]) -> bool:
    """Is one of the long options given, shortened or not?"""
    given = [word for word in words if word.startswith("--") and len(word) > 2]
    return any(option.startswith(word) for word in given for option in options)


def _only_names_a_branch(words: Sequence[str]) -> bool:
    """Is it `checkout -b name`, which leaves every file as it is?"""
    creates = any(word in ("-b", "-c", "--create") for word in words)
    return creates and sum(not word.startswith("-") for word in words) == 1


def _forge(words: Sequence[str]) -> Making | None:
    if "clone" in words[:2]:
        return Making.TREE
    return Making.TREE if "checkout" in words[:2] else None


def _older(words: Sequence[str]) -> Making | None:
    taken = names("checkout co update up switch merge pull clone import unshelve revert")
    return Making.TREE if words[:1] and words[0] in taken else None


MAKERS: dict[str, Callable[[Sequence[str]], Making | None]] = {
    **dict.fromkeys(("ln", "link"), _link),
    "cp": _copy,
    "mv": _move,
    "rsync": _synchronise,
    **dict.fromkeys(("tar", "gtar", "bsdtar"), _tar),
    "unzip": _unzip,
    **dict.fromkeys(("7z", "7za", "7zr"), _seven),
    **dict.fromkeys(("cpio", "pax"), _copy_in),
    "patch": _unpack,
    **dict.fromkeys(("docker", "podman", "kubectl"), _container),
    "git": _git,
    "gh": _forge,
    **dict.fromkeys(("svn", "hg"), _older),
}
