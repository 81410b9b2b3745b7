"""Command and skill files of the user, the project and plugins, found and read.

Files of a project wait until the user has trusted exactly their content. Files of a plugin are
those of the start, as its hooks are: the model may be able to write them. The directories are in
`agent.commands.sources.directories`, the cache in `agent.commands.sources.frontmatter_cache`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from agent.commands.sources.command_file import (
    MAX_FILE_BYTES,
    RESERVED,
    CommandFile,
    FileProblem,
    Heading,
    command_name,
    parse_command_file,
)
from agent.commands.sources.directories import (
    SKILL_FILE,
    CommandDirectory,
    CommandLocations,
    command_directories,
    files_of,
    is_outside,
)
from agent.commands.sources.frontmatter_cache import FrontmatterCache, Signature, signature_of
from agent.commands.spec import CommandError, PromptCommand, Template
from agent.settings.project_items import content_item
from agent.settings.trust import ItemKind, TrustState
from permissions.base.files.plain_file import NotRegular, open_regular

MAX_FILES: Final = 2_000


class DiscoveredCommands(Struct, frozen=True):
    """The contents of the directories."""

    commands: tuple[PromptCommand, ...] = ()
    """In order of priority."""
    waiting: tuple[str, ...] = ()
    """Names of project commands that have no effect before they are trusted."""
    problems: tuple[FileProblem, ...] = ()


class _Known(Struct, frozen=True):
    """What is known about one file."""

    signature: Signature
    is_skill: bool
    heading: Heading | None
    """None for a project's file that waits: it is not parsed before it is trusted."""
    data: bytes | None = None
    """Its content, only for files of a project or a plugin: what was accepted is what is used."""


class CommandFinder:
    """Finds commands repeatedly; reads only files that have changed."""

    def __init__(
        self,
        places: CommandLocations,
        trust: Callable[[], TrustState],
        cache: FrontmatterCache | None = None,
    ) -> None:
        """`trust` returns what the user trusts now; `cache` is from earlier starts."""
        self._places = places
        self._trust = trust
        self._cache = cache
        self._files: dict[str, _Known] = {}
        self._to_cache: tuple[dict[str, _Known], int] = {}, 0
        self._plugin_files: dict[str, _Known] | None = None

    def find(self) -> DiscoveredCommands:
        """Read the directories. Slow on a cold disk: run it in a thread. Raises nothing."""
        commands: list[PromptCommand] = []
        waiting: list[str] = []
        problems: list[FileProblem] = []
        files: dict[str, _Known] = {}
        plugin_files: dict[str, _Known] = {}
        at_ns = time.time_ns()
        for directory in command_directories(self._places):
            inspect = self._inspect_project if directory.is_project else self._inspect_own
            if directory.plugin_root is not None:
                inspect = self._inspect_plugin
            for path, parts, status in files_of(directory):
                if directory.plugin_root is not None and not self._is_of_start(path):
                    continue
                if len(files) >= MAX_FILES:
                    problems.append(
                        FileProblem(directory.path, f"more than {MAX_FILES:,} command files")
                    )
                    break
                try:
                    if status is None:
                        raise CommandError(_explain_rejection(path))
                    name = _name(parts, directory)
                    file = inspect(path, status, directory)
                except CommandError as error:
                    problems.append(FileProblem(Path(path), str(error)))
                    continue
                files[path] = file
                if directory.plugin_root is not None:
                    plugin_files[path] = file
                heading = file.heading
                if heading is None:
                    waiting.append(name)
                    continue
                if heading.problems:
                    problems.extend(FileProblem(Path(path), text) for text in heading.problems)
                meta = heading.metadata(name, directory.source, path)
                load = partial(self._load, path, name, directory)
                commands.append(PromptCommand(meta, load, heading.for_model))
        self._files, self._to_cache = files, (files, at_ns)
        if self._plugin_files is None:
            self._plugin_files = plugin_files
        return DiscoveredCommands(tuple(commands), tuple(dict.fromkeys(waiting)), tuple(problems))

    def write_cache(self) -> None:
        """Cache the headings of the user's own files for the next start. Raises nothing."""
        if self._cache is None:
            return
        files, at_ns = self._to_cache
        own = {
            path: (file.signature, file.is_skill, file.heading)
            for path, file in files.items()
            if file.heading is not None and file.data is None
        }
        self._cache.write(own, at_ns)

    def _inspect_own(
        self, path: str, status: os.stat_result, directory: CommandDirectory
    ) -> _Known:
        signature = signature_of(status)
        file = self._files.get(path)
        if file is not None and file.signature == signature:
            return file
        if self._cache is not None:
            heading = self._cache.heading(path, signature, is_skill=directory.is_skills)
            if heading is not None:
                return _Known(signature, directory.is_skills, heading)
        signature, data = _read(path)
        return _Known(signature, directory.is_skills, _parse(path, directory, data).heading)

    def _inspect_project(
        self, path: str, status: os.stat_result, directory: CommandDirectory
    ) -> _Known:
        file = self._files.get(path)
        signature, data, heading = signature_of(status), None, None
        if file is not None and file.signature == signature:
            data, heading = file.data, file.heading
        if data is None:
            signature, data = self._read_project(path)
        if not self._is_trusted(path, directory, data):
            return _Known(signature, directory.is_skills, None, data)
        heading = heading or _parse(path, directory, data).heading
        return _Known(signature, directory.is_skills, heading, data)

    def _is_of_start(self, path: str) -> bool:
        return self._plugin_files is None or path in self._plugin_files

    def _inspect_plugin(
        self, path: str, status: os.stat_result, directory: CommandDirectory
    ) -> _Known:
        if self._plugin_files is not None:
            return self._plugin_files[path]
        assert directory.plugin_root is not None
        signature, data = _read_inside(path, directory.plugin_root, "plugin")
        return _Known(signature, directory.is_skills, _parse(path, directory, data).heading, data)

    def _load(self, path: str, name: str, directory: CommandDirectory) -> Template:
        """Read and check the file again, so that the content that is used is what was checked."""
        file = self._plugin_files.get(path) if self._plugin_files is not None else None
        if directory.plugin_root is not None and file is not None and file.data is not None:
            return _parse(path, directory, file.data).template
        _, data = self._read_project(path) if directory.is_project else _read(path)
        if directory.is_project and not self._is_trusted(path, directory, data):
            raise CommandError(
                f"/{name} changed since you trusted this project. /trust shows what is new."
            )
        return _parse(path, directory, data).template

    def _read_project(self, path: str) -> tuple[Signature, bytes]:
        return _read_inside(path, self._places.project_root, "project")

    def _is_trusted(self, path: str, directory: CommandDirectory, data: bytes) -> bool:
        kind: ItemKind = "skill" if directory.is_skills else "command"
        root = self._places.project_root
        return self._trust().in_force(content_item(Path(path), kind, root, data))


def _name(parts: tuple[str, ...], directory: CommandDirectory) -> str:
    name = command_name((*directory.prefix, *parts))
    if name is None:
        raise CommandError("this file name cannot be typed as a command")
    if directory.is_project and name in RESERVED:
        raise CommandError(f"/{name} is reserved; a project cannot take it")
    return name


def _explain_rejection(path: str) -> str:
    """Explain why an existing file or directory is not a command."""
    name = os.path.basename(path)
    if name != SKILL_FILE and name.upper() == SKILL_FILE.upper():
        return f"a skill's file is called {SKILL_FILE}, with capital letters"
    try:
        _read(path)
    except CommandError as error:
        return str(error)
    return "cannot be read"


def _parse(path: str, directory: CommandDirectory, data: bytes) -> CommandFile:
    skill_dir = Path(path).parent if directory.is_skills else None
    file = parse_command_file(data, directory=skill_dir)
    root = directory.plugin_root
    if root is None:
        return file
    rules = tuple(
        rule.replace("${CLAUDE_PLUGIN_ROOT}", str(root)) for rule in file.template.allowed_tools
    )
    return replace(file, template=replace(file.template, plugin_root=root, allowed_tools=rules))


def _read_inside(
    path: str, root: Path, owner: Literal["project", "plugin"]
) -> tuple[Signature, bytes]:
    """Return a file of a project or a plugin; no link may lead out of it.

    Read rules are not applied to a command's text.
    """
    if is_outside(path, root):
        raise CommandError(f"is a link to a file outside the {owner} and is ignored")
    return _read(path)


def _read(path: str) -> tuple[Signature, bytes]:
    """Return the content of a file, with the signature it had when it was opened."""
    try:
        with open_regular(path) as file:
            status = os.fstat(file.fileno())
            if status.st_size > MAX_FILE_BYTES:
                raise CommandError(f"larger than {MAX_FILE_BYTES:,} bytes")
            data = file.read(MAX_FILE_BYTES + 1)
    except NotRegular as error:
        raise CommandError(str(error)) from error
    except OSError as error:
        raise CommandError(f"cannot be read: {error.strerror}") from error
    if b"\0" in data:
        raise CommandError("is not UTF-8 text")
    return signature_of(status), data
