"""The working tree against the last commit, as git says it; for trusted folders only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from agent.prompt.git import run_git

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
    """Return changed files; None where git cannot say. New files git does not know are left out.

    No program that a repository's configuration names for diffs is run.
    """
    text = await run_git(
        root, env, "diff", "--no-ext-diff", "--no-textconv", "--no-color", "--no-prefix", "HEAD"
    )
    return parse_diff(text) if text is not None else None


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
                return line[4:].rstrip("\t")
    half = head[0][: len(head[0]) // 2] if head else ""
    return half.strip()
