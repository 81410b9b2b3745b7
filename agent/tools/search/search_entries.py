"""Entries from ripgrep's output: parsed, with names for users, limited to permitted files."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from agent.tools.files.paths import display_path
from permissions.base.text.late_pattern import compile_late

_NUMBERED: Final = compile_late(r"(\d+)([:-])(.*)", re.DOTALL)


class SearchEntry(Struct, frozen=True):
    """One line of the result; `path` is None for the separator between groups."""

    path: Path | None
    text: str
    count: int
    """The number of matches in it."""


def file_entries(data: bytes, directory: Path, root: Path) -> list[SearchEntry]:
    """Parse paths that each end with NUL; newest first, named relative to `root`."""
    paths = newest_first(entry_path(raw, directory) for raw in data.split(b"\0") if raw)
    return [SearchEntry(path, display_path(path, root), 1) for path in paths]


def newest_first(paths: Iterable[Path]) -> list[Path]:
    """Sort paths by modification time, newest first; missing files come last, by name."""
    return sorted(paths, key=lambda path: (-_change_time_ns(path), str(path)))


def _change_time_ns(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def line_entries(
    data: bytes, directory: Path, root: Path, *, is_count: bool, with_numbers: bool
) -> list[SearchEntry]:
    """Parse lines of `path NUL number separator text`, or `path NUL count` when `is_count`.

    An unfinished last line is dropped.
    """
    entries: list[SearchEntry] = []
    names: dict[bytes, tuple[Path, str]] = {}
    position = 0
    while (end_of_path := data.find(b"\0", position)) >= 0:
        # Every path starts with `./`, so the separator between groups cannot be one.
        while data.startswith(b"--\n", position):
            entries.append(SearchEntry(None, "--", 0))
            position += 3
        end = data.find(b"\n", end_of_path)
        if end < 0:
            break
        raw, line = data[position:end_of_path], data[end_of_path + 1 : end]
        position = end + 1
        if raw not in names:
            path = entry_path(raw, directory)
            names[raw] = (path, display_path(path, root))
        path, name = names[raw]
        text = line.decode("utf-8", "replace")
        entry = _count(path, name, text) if is_count else _line(path, name, text, with_numbers)
        if entry is not None:
            entries.append(entry)
    return entries


def _count(path: Path, name: str, text: str) -> SearchEntry | None:
    return SearchEntry(path, f"{name}:{text}", int(text)) if text.isdigit() else None


def _line(path: Path, name: str, text: str, with_numbers: bool) -> SearchEntry | None:
    match = _NUMBERED.match(text)
    if match is None:
        # A message of ripgrep, such as that a binary file matches.
        return None
    number, separator, body = match.groups()
    where = f"{name}{separator}{number}" if with_numbers else name
    return SearchEntry(
        path, f"{where}{separator}{body.removesuffix(chr(13))}", int(separator == ":")
    )


def entry_path(raw: bytes, directory: Path) -> Path:
    """Return the path that ripgrep printed for a file in the directory that it searched."""
    return directory / os.fsdecode(raw.removeprefix(b"./"))


def permitted_entries(
    entries: Sequence[SearchEntry], may_search: Callable[[Path], bool] | None
) -> tuple[list[SearchEntry], int]:
    """Return the entries that may be shown, and the number of files withheld."""
    if may_search is None:
        return list(entries), 0
    verdicts = {path: may_search(path) for path in {entry.path for entry in entries} if path}
    chosen = [entry for entry in entries if entry.path is None or verdicts[entry.path]]
    return chosen, list(verdicts.values()).count(False)


def fitting_entries(entries: Sequence[SearchEntry], max_chars: int) -> list[SearchEntry]:
    """Return the first entries that fit, at least one, without a separator at their end."""
    room = max_chars
    chosen: list[SearchEntry] = []
    for entry in entries:
        room -= len(entry.text) + 1
        if room < 0 and chosen:
            break
        chosen.append(entry)
    while chosen and chosen[-1].path is None:
        chosen.pop()
    return chosen
