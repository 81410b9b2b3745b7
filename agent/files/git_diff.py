"""The working tree against the last commit, as git reports it; for trusted directories only."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Final

from msgspec import Struct

from agent.prompt.git import run_git
from permissions.base.process.reading_programs import ReadingPrograms
from permissions.base.text.late_pattern import compile_late

MAX_NEW_FILES: Final = 200
MAX_NEW_BYTES: Final = 500_000
_DIFF: Final = (
    "diff",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--no-prefix",
    "--submodule=short",
)
_EMPTY_TREE: Final = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
"""The object name of the empty tree, the same in every repository."""
_ESCAPE: Final = compile_late(r"\\([0-7]{3}|.)")
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
MAX_LINES: Final = 5_000
"""Of one file; more are left out, with a note."""


class FileDiff(Struct, frozen=True):
    """The changes of one file."""

    path: str
    added_count: int
    removed_count: int
    lines: tuple[str, ...]
    """As in a unified diff, from the first hunk on; empty if there is no text to compare."""
    what: str = ""
    """What else happened to it: `new`, `deleted`, `renamed from …`, `binary`, a mode."""


async def read_diff(root: Path, programs: ReadingPrograms) -> tuple[FileDiff, ...] | None:
    """Return the changed files, untracked ones last; None if git fails.

    No program that a repository's configuration names is run.
    """
    for base in ("HEAD", _EMPTY_TREE):
        # Before the first commit there is no HEAD.
        text = await run_git(root, programs, *_DIFF, base, hashes_files=True)
        if text is not None:
            break
    else:
        return None
    others = ("ls-files", "--others", "--exclude-standard", "-z")
    # `surrogateescape` keeps names that are not UTF-8 usable as file names.
    name_list = await run_git(root, programs, *others, errors="surrogateescape")
    names = [name for name in (name_list or "").split("\0") if name][:MAX_NEW_FILES]
    new = await asyncio.to_thread(lambda: [_new_file(root, name) for name in names])
    return (*parse_diff(text), *new)


def _new_file(root: Path, name: str) -> FileDiff:
    path = root / name
    try:
        if path.is_symlink():
            # As git stores it: its target is not part of the project.
            return FileDiff(name, 1, 0, ("@@ -0,0 +1 @@", f"+{path.readlink()}"), "new link")
        if path.is_dir():
            return FileDiff(name, 0, 0, (), "a repository of its own")
        if not path.is_file():
            return FileDiff(name, 0, 0, (), "new, not a regular file")
        with path.open("rb") as file:
            data = file.read(MAX_NEW_BYTES + 1)
    except OSError as error:
        return FileDiff(name, 0, 0, (), f"new, cannot be read: {error.strerror}")
    if len(data) > MAX_NEW_BYTES:
        return FileDiff(name, 0, 0, (), f"new, {path.stat().st_size // 1000:,} kB")
    if b"\0" in data:
        return FileDiff(name, 0, 0, (), "new, binary")
    lines = data.decode("utf-8", "replace").splitlines()
    body = [f"+{line}" for line in lines[:MAX_LINES]]
    if len(lines) > MAX_LINES:
        body.append(f"[{len(lines) - MAX_LINES} more lines]")
    head = (f"@@ -0,0 +1,{len(lines)} @@",) if lines else ()
    return FileDiff(name, len(lines), 0, (*head, *body), "new")


def parse_diff(text: str) -> tuple[FileDiff, ...]:
    """Return the files of a unified diff, in its order."""
    files: list[FileDiff] = []
    for part in ("\n" + text).split("\ndiff --git ")[1:]:
        lines = part.split("\n")
        hunks = next((i for i, line in enumerate(lines) if line.startswith("@@")), len(lines))
        body = [line for line in lines[hunks:] if line or line is not lines[-1]]
        added_count = sum(line.startswith("+") for line in body)
        removed_count = sum(line.startswith("-") for line in body)
        if len(body) > MAX_LINES:
            body = [*body[:MAX_LINES], f"[{len(body) - MAX_LINES} more lines]"]
        head = lines[:hunks]
        files.append(FileDiff(_path(head), added_count, removed_count, tuple(body), _what(head)))
    return tuple(files)


def _what(head: list[str]) -> str:
    facts: list[str] = []
    modes: list[str] = []
    for line in head[1:]:
        if line.startswith("new file mode"):
            facts.append("new")
        elif line.startswith("deleted file mode"):
            facts.append("deleted")
        elif line.startswith(("rename from ", "copy from ")):
            verb, _, old = line.partition(" from ")
            facts.append(f"{'renamed' if verb == 'rename' else 'copied'} from {_unquote(old)}")
        elif line.startswith(("old mode ", "new mode ")):
            modes.append(line.rpartition(" ")[2])
        elif line.startswith(("Binary files ", "GIT binary patch")):
            facts.append("binary")
    if len(modes) == 2:
        facts.append(f"mode {modes[0]} → {modes[1]}")
    return ", ".join(facts)


def _path(head: list[str]) -> str:
    for sign in ("+++ ", "--- "):
        for line in head:
            if line.startswith(sign) and line[4:] != "/dev/null":
                return _unquote(line[4:].rstrip("\t"))
    for line in head:
        if line.startswith(("rename to ", "copy to ")):
            return _unquote(line.partition(" to ")[2])
    half = head[0][: len(head[0]) // 2] if head else ""
    return _unquote(half.strip())


def _unquote(name: str) -> str:
    """Return a name that git put in quotes because of the characters in it."""
    if not (len(name) > 1 and name[0] == name[-1] == '"'):
        return name

    def character(match: re.Match[str]) -> str:
        escape = match[1]
        return chr(int(escape, 8)) if len(escape) == 3 else _ESCAPES.get(escape, escape)

    return _ESCAPE.sub(character, name[1:-1])
