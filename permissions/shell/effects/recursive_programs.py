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

    def takes(self, name: str, *, is_directory: bool) -> bool:
        """Does it read a file, or look into a folder, of that name?"""
        if name.startswith(".") and not self.reads_hidden:
            # What `rg -g` asks for is read though it is hidden.
            return any(fnmatchcase(name, pattern) for pattern in self.included)
        if any(fnmatchcase(name, pattern) for pattern in self.excluded):
            return False
        return (
            is_directory
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
    if not _reads_whole(program, words):
        return None
    shows_hidden = "-uu" in words or "-uuu" in words
    shows_hidden = shows_hidden or _has(words, ".", "--hidden", "--unrestricted")
    included, excluded = _filters(program, words)
    return TreeReading(program not in _HIDING or shows_hidden, included, excluded)


_HIDING = names("rg ag ack")


def _reads_whole(program: str, words: Sequence[str]) -> bool:
    match program:
        case "grep" | "egrep" | "fgrep" | "zgrep":
            is_recursive = _has(words, "rR", "--recursive", "--dereference-recursive")
            return is_recursive or "recurse" in words
        case "rg" | "ag" | "ack":
            return "--files" not in words
        case "tar" | "gtar" | "bsdtar":
            old_style = words[0] if words and not words[0].startswith("-") else ""
            packs = _has(words, "cru", "--create", "--append", "--update")
            return packs or not set("cru").isdisjoint(old_style)
        case "cp":
            return _has(words, "rRa", "--recursive", "--archive")
        case "rsync" | "scp" | "zip" | "diff":
            return _has(words, "ra", "--recursive", "--archive", "--recurse-paths")
        case "find":
            return not _EXEC.isdisjoint(words)
        case _:
            return words[:1] in (["a"], ["u"])


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
        if program == "zip" and word == "-x":
            excluded.extend(words[position + 1 :])
            break
        before = words[position - 1] if position else ""
        following = words[position + 1] if position + 1 < len(words) else ""
        found = _filter(program, word, before, following)
        if found is None:
            continue
        pattern, is_in = found
        if pattern.startswith("!"):
            pattern, is_in = pattern[1:], False
        for one in _alternatives(pattern) if program == "rg" else (pattern,):
            if is_in:
                included.append(without_brackets(_last_name(one, one)))
            else:
                excluded.append(_last_name(one.rstrip("/*"), one))
    return tuple(included), tuple(excluded)


def _last_name(path: str, whole: str) -> str:
    return path.rpartition("/")[2] or whole


def _filter(program: str, word: str, before: str, following: str) -> tuple[str, bool] | None:
    """Return the pattern that a word, or the one behind it, gives, and whether it is included."""
    name, equals, value = word.partition("=")
    if name in _FILTERS:
        return (value if equals else following).strip("'\""), _FILTERS[name]
    if program == "find" and word in ("-name", "-iname"):
        return following, before not in ("!", "-not")
    if program != "rg":
        return None
    if word.startswith("-g"):
        return word[2:] or following, True
    if word.startswith("-t"):
        return f"*.{value or word[2:] or following}*", True
    return (f"*.{value or following}*", True) if name == "--type" else None


def _alternatives(pattern: str) -> tuple[str, ...]:
    """Return what `{a,b}` in a pattern of ripgrep expands to."""
    match = _BRACES.fullmatch(pattern)
    if match is None:
        return (pattern,)
    return tuple(f"{match[1]}{one}{match[3]}" for one in match[2].split(","))


_BRACES = re.compile(r"([^{}]*)\{([^{}]*)\}([^{}]*)")
