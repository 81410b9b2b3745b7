"""Command and skill files of the person and the project, found and read.

Folders are `.agent` and `.claude`, in the home and in the project; ours first, the person's before
the project's. What a project brings waits until the person trusted exactly that content. Source:
the pattern "safety-and-permissions".
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from agent.commands.command_file import (
    MAX_FILE_BYTES,
    RESERVED,
    CommandFile,
    Heading,
    Problem,
    command_name,
    parse_command_file,
)
from agent.commands.errors import CommandError
from agent.commands.head_cache import HeadCache, Signature, signature_of
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


@dataclass(frozen=True, slots=True)
class _Known:
    """What was seen of one file."""

    signature: Signature
    is_skill: bool
    heading: Heading | None
    """None for a project's file that waits: it is not looked into before it is trusted."""
    data: bytes | None = None
    """Its content, for a project's file alone; what was trusted is the content."""


class CommandFinder:
    """Finds commands again and again; a file that did not change is not read again."""

    def __init__(
        self,
        places: CommandPlaces,
        trust: Callable[[], TrustState],
        cache: HeadCache | None = None,
    ) -> None:
        """`trust` says what of the project was accepted, as of now; `cache` is of past starts."""
        self._places = places
        self._trust = trust
        self._cache = cache
        self._known: dict[str, _Known] = {}
        self._to_keep: tuple[dict[str, _Known], int] = {}, 0

    def find(self) -> Found:
        """Read the folders. Slow on a cold disk: run it in a thread. Raises nothing."""
        commands: list[PromptCommand] = []
        waiting: list[str] = []
        problems: list[Problem] = []
        seen: dict[str, _Known] = {}
        at_ns = time.time_ns()
        for folder in _folders(self._places):
            for file, parts, status in _files_of(folder):
                path = Path(file)
                if len(seen) >= MAX_FILES:
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
                    look = self._look_at_project if folder.is_project else self._look_at_own
                    known = look(file, path, status, folder)
                except CommandError as error:
                    problems.append(Problem(path, str(error)))
                    continue
                seen[file] = known
                heading = known.heading
                if heading is None:
                    waiting.append(name)
                    continue
                problems.extend(Problem(path, text) for text in heading.problems)
                meta = heading.metadata(name, folder.source, path)
                load = partial(self._load, path, name, folder)
                commands.append(PromptCommand(meta, load, heading.for_model))
        self._known, self._to_keep = seen, (seen, at_ns)
        return Found(tuple(commands), tuple(dict.fromkeys(waiting)), tuple(problems))

    def keep(self) -> None:
        """Keep what is known of the person's own files for the next start. Raises nothing."""
        if self._cache is None:
            return
        seen, at_ns = self._to_keep
        own = {
            path: (known.signature, known.is_skill, known.heading)
            for path, known in seen.items()
            if known.heading is not None and known.data is None
        }
        self._cache.keep(own, at_ns)

    def _look_at_own(
        self, file: str, path: Path, status: os.stat_result, folder: _Folder
    ) -> _Known:
        signature = signature_of(status)
        known = self._known.get(file)
        if known is not None and known.signature == signature:
            return known
        if self._cache is not None:
            heading = self._cache.heading(file, signature, is_skill=folder.is_skills)
            if heading is not None:
                return _Known(signature, folder.is_skills, heading)
        signature, data = _read(path)
        return _Known(signature, folder.is_skills, _parse(path, folder, data).heading)

    def _look_at_project(
        self, file: str, path: Path, status: os.stat_result, folder: _Folder
    ) -> _Known:
        known = self._known.get(file)
        signature, data, heading = signature_of(status), None, None
        if known is not None and known.signature == signature:
            data, heading = known.data, known.heading
        if data is None:
            signature, data = _read(path)
        if not self._is_trusted(path, folder, data):
            return _Known(signature, folder.is_skills, None, data)
        heading = heading or _parse(path, folder, data).heading
        return _Known(signature, folder.is_skills, heading, data)

    def _load(self, path: Path, name: str, folder: _Folder) -> Template:
        """Read the file once more: what is used is what was checked in this very moment."""
        _, data = _read(path)
        if folder.is_project and not self._is_trusted(path, folder, data):
            raise CommandError(
                f"/{name} changed since you trusted this project. /trust shows what is new."
            )
        return _parse(path, folder, data).template

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


def _files_of(folder: _Folder) -> Iterator[tuple[str, tuple[str, ...], os.stat_result]]:
    """Yield files with the parts of their names, in a stable order."""
    root = str(folder.path)
    if folder.is_skills:
        for name in _names(folder.path):
            path = os.path.join(root, name, SKILL_FILE)
            status = _status(path)
            if status is not None:
                yield path, (name,), status
        return
    # People link folders of commands into their home; a project's links are not followed.
    for where, names, files in os.walk(root, followlinks=not folder.is_project):
        names[:] = sorted(name for name in names if not name.startswith("."))
        inside = Path(where).relative_to(root).parts
        if len(inside) > 8:
            names.clear()
        for name in sorted(files):
            if name.endswith(".md"):
                path = os.path.join(where, name)
                status = _status(path)
                if status is not None:
                    yield path, (*inside, name.removesuffix(".md")), status


def _status(path: str) -> os.stat_result | None:
    """Return the status of a plain file, links followed; None where there is none."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return status if stat.S_ISREG(status.st_mode) else None


def _names(folder: Path) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if not name.startswith("."))
    except OSError:
        return []


def _parse(path: Path, folder: _Folder, data: bytes) -> CommandFile:
    return parse_command_file(data, folder=path.parent if folder.is_skills else None)


def _read(path: Path) -> tuple[Signature, bytes]:
    """Return the content of a file, with the signature it had when it was opened."""
    try:
        with open_regular(path) as file:
            status = os.fstat(file.fileno())
            if status.st_size > MAX_FILE_BYTES:
                raise CommandError(f"larger than {MAX_FILE_BYTES:,} bytes")
            return signature_of(status), file.read(MAX_FILE_BYTES + 1)
    except NotRegular as error:
        raise CommandError(str(error)) from error
    except OSError as error:
        raise CommandError(f"cannot be read: {error.strerror}") from error
