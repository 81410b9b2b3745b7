"""Programs that read whole folders, and which of the names in them they leave out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase

from msgspec import Struct

from permissions.base.text.star_pattern import without_brackets
from permissions.shell.access import names
from permissions.shell.programs.registry import program_named

PROGRAMS = names(
    "grep egrep fgrep zgrep rg ag ack tar gtar bsdtar cp rsync scp zip diff find 7z 7za 7zr"
)
"""The programs that may."""


class TreeReading(Struct, frozen=True):
    """What a command reads of the folders that it is given."""

    reads_hidden: bool
    included: tuple[str, ...]
    """Patterns of names, one of which a file must fit; all do when there are none."""
    excluded: tuple[str, ...]
    """Patterns of the names of files and folders that are left out."""

    def takes(self, name: str, *, is_folder: bool) -> bool:
        """Does it read a file, or look into a folder, of that name?"""
        if name.startswith(".") and not self.reads_hidden:
            # What `rg -g` asks for is read though it is hidden.
            return any(fnmatchcase(name, pattern) for pattern in self.included)
        if any(fnmatchcase(name, pattern) for pattern in self.excluded):
            return False
        return (
            is_folder
            or not self.included
            or any(fnmatchcase(name, pattern) for pattern in self.included)
        )


def follows_links(program: str, words: Sequence[str]) -> bool:
    """Does the command go through the links in a directory that it reads?"""
    short, *long = program_named(program).follows_links.split() or ("",)
    return bool(short) and any(
        word in long or re.match(rf"-[A-Za-z]*{short[1]}", word) is not None for word in words
    )


def tree_reading(program: str, words: Sequence[str]) -> TreeReading | None:
    """Return what is read of folders; None when the command reads none as a whole."""
    match program:
        case "grep" | "egrep" | "fgrep" | "zgrep":
            reads = _has(words, "rR", "--recursive", "--dereference-recursive")
            reads = reads or "recurse" in words
        case "rg" | "ag" | "ack":
            reads = "--files" not in words
        case "tar" | "gtar" | "bsdtar":
            first = words[0] if words else ""
            reads = _has(words, "cru", "--create", "--append", "--update") or (
                not first.startswith("-") and any(letter in first for letter in "cru")
            )
        case "cp":
            reads = _has(words, "rRa", "--recursive", "--archive")
        case "rsync" | "scp" | "zip" | "diff":
            reads = _has(words, "ra", "--recursive", "--archive", "--recurse-paths")
        case "find":
            reads = not _EXEC.isdisjoint(words)
        case _:
            reads = bool(words) and words[0] in ("a", "u")
    if not reads:
        return None
    hides = program in ("rg", "ag", "ack") and not (
        "-uu" in words or "-uuu" in words or _has(words, ".", "--hidden", "--unrestricted")
    )
    included, excluded = _filters(program, words)
    return TreeReading(not hides, included, excluded)


_EXEC = names("-exec -execdir -ok -okdir")


def _has(words: Sequence[str], letters: str, *long: str) -> bool:
    return any(
        word in long or (re.match(rf"-[A-Za-z]*[{re.escape(letters)}]", word) is not None)
        for word in words
    )


_FILTERS = {"--include": True, "--exclude": False, "--exclude-dir": False, "--glob": True}


def _filters(program: str, words: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    included: list[str] = []
    excluded: list[str] = []
    for position, word in enumerate(words):
        following = words[position + 1] if position + 1 < len(words) else ""
        name, equals, value = word.partition("=")
        if name in _FILTERS:
            pattern = (value if equals else following).strip("'\"")
            is_in = _FILTERS[name]
        elif program == "rg" and word.startswith("-g"):
            pattern, is_in = word[2:] or following, True
        elif program == "rg" and (word.startswith("-t") or name == "--type"):
            kind = value or word[2:] if not word.startswith("--") or equals else following
            pattern, is_in = f"*.{kind or following}*", True
        elif program == "find" and word in ("-name", "-iname"):
            before = words[position - 1] if position else ""
            pattern, is_in = following, before not in ("!", "-not")
        elif program == "zip" and word == "-x":
            excluded.extend(words[position + 1 :])
            break
        else:
            continue
        if pattern.startswith("!"):
            pattern, is_in = pattern[1:], False
        for one in _alternatives(pattern) if program == "rg" else (pattern,):
            ending = one.rstrip("/*").rpartition("/")[2] if not is_in else one
            name = ending.rpartition("/")[2] or one
            (included if is_in else excluded).append(without_brackets(name) if is_in else name)
    return tuple(included), tuple(excluded)


def _alternatives(pattern: str) -> tuple[str, ...]:
    """Return what `{a,b}` in a pattern of ripgrep stands for."""
    match = _BRACES.fullmatch(pattern)
    if match is None:
        return (pattern,)
    return tuple(f"{match[1]}{one}{match[3]}" for one in match[2].split(","))


_BRACES = re.compile(r"([^{}]*)\{([^{}]*)\}([^{}]*)")
