"""The working tree against the last commit, as git says it; for trusted folders only."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from agent.prompt.git import run_git

MAX_NEW_FILES: Final = 200
MAX_NEW_BYTES: Final = 500_000
_DIFF: Final = ("diff", "--no-ext-diff", "--no-textconv", "--no-color", "--no-prefix")
_EMPTY_TREE: Final = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
"""What git calls a folder with nothing in it, in every repository."""
_ESCAPE: Final = re.compile(r"\\([0-7]{3}|.)")
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
MAX_LINES: Final = 5_000
"""Of one file; more are left out and said so."""


@dataclass(frozen=True, slots=True)
class FileDiff:
    """The changes of one file."""

    path: str
    added: int
    removed: int
    lines: tuple[str, ...]
    """As in a unified diff, from the first hunk on."""


async def read_diff(root: Path, env: Mapping[str, str]) -> tuple[FileDiff, ...] | None:
    """Return changed files, those that git does not know yet at the end; None where it cannot say.

    No program that a repository's configuration names for diffs is run.
    """
    for base in ("HEAD", _EMPTY_TREE):
        # Before the first commit there is no HEAD.
        text = await run_git(root, env, *_DIFF, base)
        if text is not None:
            break
    else:
        return None
    listed = await run_git(root, env, "ls-files", "--others", "--exclude-standard", "-z")
    names = [name for name in (listed or "").split("\0") if name][:MAX_NEW_FILES]
    new = await asyncio.to_thread(lambda: [_new_file(root, name) for name in names])
    return (*parse_diff(text), *new)


def _new_file(root: Path, name: str) -> FileDiff:
    try:
        with (root / name).open("rb") as file:
            data = file.read(MAX_NEW_BYTES + 1)
    except OSError as error:
        return FileDiff(name, 0, 0, (f"cannot be read: {error.strerror}",))
    if b"\0" in data or len(data) > MAX_NEW_BYTES:
        return FileDiff(name, 0, 0, ("a new file, not shown: too large, or not a text",))
    lines = data.decode("utf-8", "replace").splitlines()
    body = tuple(f"+{line}" for line in lines[:MAX_LINES])
    return FileDiff(name, len(lines), 0, (f"@@ -0,0 +1,{len(lines)} @@", *body))


def parse_diff(text: str) -> tuple[FileDiff, ...]:
    """Return the files of a unified diff, in its order."""
    files: list[FileDiff] = []
    for part in ("\n" + text).split("\ndiff --git ")[1:]:
        lines = part.split("\n")
        hunks = next((i for i, line in enumerate(lines) if line.startswith("@@")), len(lines))
        body = [line for line in lines[hunks:] if line or line is not lines[-1]]
        added = sum(line.startswith("+") for line in body)
        removed = sum(line.startswith("-") for line in body)
        if len(body) > MAX_LINES:
            body = [*body[:MAX_LINES], f"[{len(body) - MAX_LINES} more lines]"]
        files.append(FileDiff(_path(lines[:hunks]), added, removed, tuple(body)))
    return tuple(files)


def _path(head: list[str]) -> str:
    for sign in ("+++ ", "--- "):
        for line in head:
            if line.startswith(sign) and line[4:] != "/dev/null":
                return _unquoted(line[4:].rstrip("\t"))
    half = head[0][: len(head[0]) // 2] if head else ""
    return half.strip()


def _unquoted(name: str) -> str:
    """Return a name that git put in quotes because of the characters in it."""
    if not (len(name) > 1 and name[0] == name[-1] == '"'):
        return name

    def character(match: re.Match[str]) -> str:
        escape = match[1]
        return chr(int(escape, 8)) if len(escape) == 3 else _ESCAPES.get(escape, escape)

    return _ESCAPE.sub(character, name[1:-1])
