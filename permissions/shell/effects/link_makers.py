"""Commands that may create links where they write: they unpack, check out, copy or make them.

One pattern for each program, over its words; a subcommand of git that is not listed counts.
"""

from __future__ import annotations

import re
from enum import Enum

from permissions.base.text.late_pattern import compile_late
from permissions.shell.command_pattern import WORD_END


class Creates(Enum):
    """What a command may create at the places that it writes."""

    LINK = "link"
    """Certainly a link."""
    COPY = "copy"
    """The contents of its sources, links as links."""
    UNPACK = "unpack"
    """Anything, below a directory that is not replaced itself."""
    TREE = "tree"
    """Anything, anywhere in the work tree."""

    __hash__ = object.__hash__


_WORD = r"(?:.*\x1f)?"
_MAKERS = {
    "ln link": (Creates.LINK, ""),
    "cp install": (Creates.LINK, rf"{_WORD}(?:-[A-Za-z]*s|--sy)"),
    "mv": (Creates.COPY, ""),
    "rsync": (Creates.COPY, rf"{_WORD}(?:-[A-Za-z]*[al]|--archive|--links)"),
    "docker podman kubectl": (Creates.COPY, rf"{_WORD}cp\x1f"),
    "tar gtar bsdtar": (Creates.UNPACK, rf"-?[A-Za-z]*x|{_WORD}(?:-[A-Za-z]*x|--ext|--get)"),
    "unzip": (Creates.UNPACK, rf"(?!{_WORD}-[A-Za-z]*[ltpZv])"),
    "7z 7za 7zr": (Creates.UNPACK, rf"{_WORD}[xeXE]\x1f"),
    "cpio pax": (Creates.UNPACK, rf"{_WORD}(?:-[A-Za-z]*[ip]|--extract|--pass)"),
    "patch": (Creates.UNPACK, ""),
    "gh svn hg": (
        Creates.TREE,
        r"(?:\w+\x1f)?(?:clone|checkout|co|update|up|switch|merge|pull|import|unshelve|revert)\x1f",
    ),
}
_COPIES = compile_late(rf"{_WORD}(?:-[A-Za-z]*[adPRr]|--(?:archive|no-d|preserve|recursive))")
_LEAVES_TREE = compile_late(
    r"(?:status|rev-\w+|ls-\w+|describe|check-\w+|merge-base|name-rev|for-each-ref|show\S*|diff\S*"
    r"|log|whatchanged|shortlog|range-diff|cherry|blame|annotate|cat-file|grep|branch|tag|remote"
    r"|config|reflog|clean|format-patch|fetch|push|archive|init|bundle|commit\S*|notes|add|rm"
    r"|update-\w+|symbolic-ref|gc|prune|repack|hash-object|help|var|version|count-objects|fsck"
    r"|stash\x1f(?:clear|create|drop|list|show|store)|sparse-checkout\x1flist|bisect\x1f(?:log|view)"
    r"|submodule\x1f(?:foreach|init|status|summary)"
    r"|lfs\x1f(?:env|locks|ls-files|status|track|untrack)"
    r"|(?:checkout|switch)\x1f(?:-b|-c|--create)\x1f[^\x1f]*(?=\x1f\Z))\x1f"
    r"|worktree\x1f(?!add)|reset\x1f(?!.*--(?:h|m|k|rec))"
    r"|apply\x1f(?!.*--apply)(?:.*\x1f)?--(?:stat|numstat|summary|check|cached)\x1f",
    re.DOTALL,
)
_BY_NAME = {
    name: (kind, compile_late(pattern, re.DOTALL))
    for many, (kind, pattern) in _MAKERS.items()
    for name in many.split()
}


def links_made(program: str, joined_text: str) -> Creates | None:
    """Return the links and directories that a command may create; None for none.

    Args:
        joined_text: All its words, `WORD_END` in between.
    """
    words = joined_text.partition(WORD_END)[2] + WORD_END
    if program == "git":
        return _by_git(words)
    kind, pattern = _BY_NAME.get(program, (None, _NEVER))
    if pattern.match(words):
        return kind
    return Creates.COPY if program == "cp" and _COPIES.match(words) else None


def _by_git(words: str) -> Creates | None:
    if words == WORD_END or _LEAVES_TREE.match(words):
        return None
    is_new = words.startswith((f"clone{WORD_END}", f"worktree{WORD_END}"))
    return Creates.UNPACK if is_new else Creates.TREE


_NEVER = compile_late(r"(?!)")
