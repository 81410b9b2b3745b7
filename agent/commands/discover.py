"""Command and skill files of the person and the project, found and read.

Folders are `.agent` and `.claude`, in the home and in the project; ours first, the person's before
the project's. What a project brings waits until the person trusted exactly that content. Source:
the pattern "safety-and-permissions".
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from agent.commands.command_file import (
    MAX_FILE_BYTES,
    RESERVED,
    CommandFile,
    Problem,
    command_name,
    parse_command_file,
)
from agent.commands.errors import CommandError
from agent.commands.spec import CommandSource, PromptCommand, Template
from agent.settings.project_items import content_item
from agent.settings.trust import ItemKind, TrustState
from agent.tools.regular_file import NotRegular, open_regular

MAX_FILES: Final = 2_000
SKILL_FILE: Final = "SKILL.md"


@dataclass(frozen=True, slots=True)
class CommandPlaces:
    """Where to look; folders need not exist."""

    home: Path
    agent_home: Path
    project_root: Path


@dataclass(frozen=True, slots=True)
class Found:
    """What the folders hold."""

    commands: tuple[PromptCommand, ...] = ()
    """In order of priority."""
    waiting: tuple[str, ...] = ()
    """Names from the project that do nothing before they are trusted."""
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class _Folder:
    path: Path
    source: CommandSource

    @property
    def is_skills(self) -> bool:
        return self.source in {CommandSource.USER_SKILL, CommandSource.PROJECT_SKILL}

    @property
    def is_project(self) -> bool:
        return self.source in {CommandSource.PROJECT_SKILL, CommandSource.PROJECT_COMMAND}


def watched_folders(places: CommandPlaces) -> tuple[Path, ...]:
    """Return the folders that commands and skills come from; they need not exist."""
    return tuple(folder.path for folder in _folders(places))


class CommandFinder:
    """Finds commands again and again; a file that did not change is not read again."""

    def __init__(self, places: CommandPlaces, trust: Callable[[], TrustState]) -> None:
        """`trust` says what of the project was accepted, as of now."""
        self._places = places
        self._trust = trust
        self._cache: dict[Path, tuple[tuple[int, ...], bytes, CommandFile]] = {}

    def find(self) -> Found:
        """Read the folders. Slow on a cold disk: run it in a thread. Raises nothing."""
        commands: list[PromptCommand] = []
        waiting: list[str] = []
        problems: list[Problem] = []
        cache: dict[Path, tuple[tuple[int, ...], bytes, CommandFile]] = {}
        for folder in _folders(self._places):
            for path, parts in _files_of(folder):
                if len(cache) >= MAX_FILES:
                    problems.append(Problem(folder.path, f"more than {MAX_FILES} command files"))
                    break
                name = command_name(parts)
                if name is None:
                    problems.append(Problem(path, "this file name cannot be typed as a command"))
                    continue
                if folder.is_project and name in RESERVED:
                    problems.append(Problem(path, f"/{name} is reserved; a project cannot take it"))
                    continue
                try:
                    signature, data, parsed = self._parsed(path, name, folder)
                except CommandError as error:
                    problems.append(Problem(path, str(error)))
                    continue
                cache[path] = (signature, data, parsed)
                if folder.is_project and not self._is_trusted(path, folder, data):
                    waiting.append(name)
                    continue
                problems.extend(parsed.problems)
                load = partial(self._load, path, name, folder)
                commands.append(PromptCommand(parsed.meta, load, parsed.for_model))
        self._cache = cache
        return Found(tuple(commands), tuple(dict.fromkeys(waiting)), tuple(problems))

    def _parsed(
        self, path: Path, name: str, folder: _Folder
    ) -> tuple[tuple[int, ...], bytes, CommandFile]:
        signature, data = _read(path, self._cache.get(path))
        known = self._cache.get(path)
        if known is not None and known[0] == signature:
            return known
        parsed = parse_command_file(
            data, name=name, file=path, source=folder.source, is_skill=folder.is_skills
        )
        return signature, data, parsed

    def _load(self, path: Path, name: str, folder: _Folder) -> Template:
        """Read the file once more: what is used is what was checked in this very moment."""
        _, data = _read(path, None)
        if folder.is_project and not self._is_trusted(path, folder, data):
            raise CommandError(
                f"/{name} changed since you trusted this project. /trust shows what is new."
            )
        return parse_command_file(
            data, name=name, file=path, source=folder.source, is_skill=folder.is_skills
        ).template

    def _is_trusted(self, path: Path, folder: _Folder, data: bytes) -> bool:
        kind: ItemKind = "skill" if folder.is_skills else "command"
        root = self._places.project_root
        return self._trust().in_force(content_item(path, kind, root, data))


def _folders(places: CommandPlaces) -> Iterator[_Folder]:
    own = [places.agent_home, places.home / ".claude"]
    project = [places.project_root / ".agent", places.project_root / ".claude"]
    known = {os.path.realpath(path) for path in own}
    # Started in the home folder, the person's own files are not also a project's.
    project = [path for path in project if os.path.realpath(path) not in known]
    for folder, bases, source in (
        ("skills", own, CommandSource.USER_SKILL),
        ("skills", project, CommandSource.PROJECT_SKILL),
        ("commands", own, CommandSource.USER_COMMAND),
        ("commands", project, CommandSource.PROJECT_COMMAND),
    ):
        for base in bases:
            yield _Folder(base / folder, source)


def _files_of(folder: _Folder) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Yield files with the parts of their names, in a stable order."""
    if folder.is_skills:
        for name in _names(folder.path):
            path = folder.path / name / SKILL_FILE
            if path.is_file():
                yield path, (name,)
        return
    # People link folders of commands into their home; a project's links are not followed.
    for where, names, files in os.walk(folder.path, followlinks=not folder.is_project):
        names[:] = sorted(name for name in names if not name.startswith("."))
        inside = Path(where).relative_to(folder.path).parts
        if len(inside) > 8:
            names.clear()
        for name in sorted(files):
            path = Path(where, name)
            if name.endswith(".md") and path.is_file():
                yield path, (*inside, name.removesuffix(".md"))


def _names(folder: Path) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if not name.startswith("."))
    except OSError:
        return []


def _read(
    path: Path, known: tuple[tuple[int, ...], bytes, CommandFile] | None
) -> tuple[tuple[int, ...], bytes]:
    """Return `(signature, content)`; the known content where the signature is the known one."""
    try:
        with open_regular(path) as file:
            status = os.fstat(file.fileno())
            signature = (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
            if known is not None and known[0] == signature and stat.S_ISREG(status.st_mode):
                return signature, known[1]
            if status.st_size > MAX_FILE_BYTES:
                raise CommandError(f"larger than {MAX_FILE_BYTES:,} bytes")
            return signature, file.read(MAX_FILE_BYTES + 1)
    except NotRegular as error:
        raise CommandError(str(error)) from error
    except OSError as error:
        raise CommandError(f"cannot be read: {error.strerror}") from error
