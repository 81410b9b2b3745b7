"""The user's prompts, stored per project for later sessions: a private file of JSON lines each.

Reading starts at the end, so that its cost does not grow with the file. Unreadable lines are
skipped.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct

from agent.session.store import project_slug
from permissions.base.files.plain_file import NotRegular, open_regular
from permissions.base.files.private_file import exclusive, make_private_dir, write_private

Scope = Literal["session", "project", "everywhere"]

MAX_TEXT_CHARS: Final = 100_000
MAX_FILE_BYTES: Final = 8_000_000
"""If a file is larger, its older half is removed."""
_BLOCK_BYTES: Final = 65_536
_MAX_READ_BYTES: Final = 4_000_000
_MAX_PROJECTS: Final = 50


class TypedPrompt(Struct, frozen=True):
    """One prompt as typed, including long pastes."""

    text: str
    session_id: str
    time_s: float
    """Time in seconds since the epoch."""


class PromptLog:
    """The prompts of one project, and access to those of all projects."""

    def __init__(self, agent_home: Path, project_root: Path) -> None:
        """Read and create nothing yet."""
        self._root = agent_home / "history"
        self._path = self._root / f"{project_slug(project_root)}.jsonl"

    @property
    def path(self) -> Path:
        """This project's file."""
        return self._path

    def add(self, prompt: TypedPrompt) -> None:
        """Append a prompt. Raises OSError."""
        data = {
            "text": prompt.text[:MAX_TEXT_CHARS],
            "session": prompt.session_id,
            "at": round(prompt.time_s, 3),
        }
        line = json.dumps(data, ensure_ascii=True).encode() + b"\n"
        make_private_dir(self._root)
        with exclusive(self._path):
            # O_NONBLOCK avoids waiting if the path is a pipe.
            how = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK
            flags = how | os.O_NOFOLLOW | os.O_CLOEXEC
            descriptor = os.open(self._path, flags, 0o600)
            try:
                os.write(descriptor, line)
                size = os.fstat(descriptor).st_size
            finally:
                os.close(descriptor)
            if size > MAX_FILE_BYTES:
                self._halve()

    def recent(
        self, limit: int, *, scope: Scope = "project", session_id: str = ""
    ) -> tuple[TypedPrompt, ...]:
        """Return the latest prompts, newest first, each text once. Never raises."""
        by_text: dict[str, TypedPrompt] = {}
        for prompt in self._newest(scope):
            if scope == "session" and prompt.session_id != session_id:
                continue
            by_text.setdefault(prompt.text, prompt)
            if len(by_text) >= limit:
                break
        return tuple(by_text.values())

    def _newest(self, scope: Scope) -> Iterator[TypedPrompt]:
        if scope != "everywhere":
            yield from _read_backwards(self._path)
            return
        everything = [prompt for path in self._paths() for prompt in _read_backwards(path)]
        everything.sort(key=lambda prompt: prompt.time_s, reverse=True)
        yield from everything

    def _paths(self) -> list[Path]:
        try:
            times = [(entry.stat().st_mtime, Path(entry.path)) for entry in os.scandir(self._root)]
        except OSError:
            return []
        files = [pair for pair in times if pair[1].suffix == ".jsonl"]
        return [path for _, path in sorted(files, reverse=True)[:_MAX_PROJECTS]]

    def _halve(self) -> None:
        data = self._path.read_bytes()
        middle = data.find(b"\n", len(data) // 2) + 1
        write_private(self._path, data[middle:], sync=False)


def _read_backwards(path: Path) -> Iterator[TypedPrompt]:
    """Yield a file's prompts from the end, reading lazily."""
    try:
        file = open_regular(path)
    except (OSError, NotRegular):
        return
    with file:
        position = file.seek(0, os.SEEK_END)
        stop = max(0, position - _MAX_READ_BYTES)
        rest = b""
        while position > stop:
            size = min(_BLOCK_BYTES, position - stop)
            position -= size
            file.seek(position)
            lines = (file.read(size) + rest).split(b"\n")
            rest = lines[0]
            yield from _prompts(reversed(lines[1:]))
        yield from _prompts([rest])


def _prompts(lines: Iterator[bytes] | list[bytes]) -> Iterator[TypedPrompt]:
    for line in lines:
        try:
            data = json.loads(line)
            text, session, time_s = data["text"], data["session"], data["at"]
        except (ValueError, KeyError, TypeError, RecursionError):
            continue
        if isinstance(text, str) and text and isinstance(time_s, int | float):
            yield TypedPrompt(text, str(session), float(time_s))
