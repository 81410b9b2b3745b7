"""The directories that commands and skills come from, and the files in them.

Directories are `.agent` and `.claude`, in the home and in the project (each folder from the launch
directory up to the root); `.agent` first, the user's before the project's. Then those of plugins.
Source: the pattern "safety-and-permissions".
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from operator import itemgetter
from pathlib import Path
from typing import Final, TypeAlias

from msgspec import Struct

from agent.commands.spec import SKILLS, CommandSource
from agent.settings.project_root import project_directories
from hooks.config.sources import plugin_name

SKILL_FILE: Final = "SKILL.md"
MAX_DEPTH: Final = 8
"""Maximum depth of nested command directories."""


class CommandLocations(Struct, frozen=True):
    """Where to search; directories need not exist."""

    home: Path
    agent_home: Path
    project_root: Path
    with_own: bool = True
    """Whether the user's directories are searched."""
    with_project: bool = True
    """Whether the project's directories are searched."""
    launch_dir: Path | None = None
    """Where the session starts; None for the project's root."""
    plugins: tuple[Path, ...] = ()
    """The directories of plugins."""


class CommandDirectory(Struct, frozen=True):
    """One directory of commands or skills."""

    path: Path
    source: CommandSource
    is_skills: bool
    """Each directory in it with a `SKILL.md` is a skill; otherwise its Markdown files are
    commands."""
    is_project: bool
    """It is part of the project: its content requires trust."""
    plugin_root: Path | None = None
    """The directory of the plugin that it belongs to."""
    prefix: tuple[str, ...] = ()
    """Precedes the parts of its commands' names."""


FoundFile: TypeAlias = tuple[str, tuple[str, ...], os.stat_result | None]
"""Path, parts of the command's name, and status of the file, links followed; the status is None if
it cannot be read. A tuple, because a start may create a thousand of them."""


def command_directories(places: CommandLocations) -> Iterator[CommandDirectory]:
    """Yield the directories in order of priority; they need not exist."""
    own = [places.agent_home, places.home / ".claude"]
    folders = project_directories(places.project_root, places.launch_dir or places.project_root)
    project = [folder / base for folder in folders for base in (".agent", ".claude")]
    own_paths = {os.path.realpath(path) for path in own}
    # In the home directory, the user's own files must not count as the project's too.
    project = [path for path in project if os.path.realpath(path) not in own_paths]
    for source, bases, is_project in (
        (CommandSource.USER_SKILL, own, False),
        (CommandSource.PROJECT_SKILL, project, True),
        (CommandSource.USER_COMMAND, own, False),
        (CommandSource.PROJECT_COMMAND, project, True),
    ):
        if not (places.with_project if is_project else places.with_own):
            continue
        is_skills = source in SKILLS
        for base in bases:
            directory = base / _folder(is_skills=is_skills)
            yield CommandDirectory(directory, source, is_skills, is_project)
    for root in places.plugins:
        prefix = (plugin_name(root),)
        for source in (CommandSource.PLUGIN_SKILL, CommandSource.PLUGIN_COMMAND):
            is_skills = source in SKILLS
            directory = root / _folder(is_skills=is_skills)
            yield CommandDirectory(directory, source, is_skills, False, root, prefix)


def _folder(*, is_skills: bool) -> str:
    return "skills" if is_skills else "commands"


def watched_directories(places: CommandLocations) -> tuple[Path, ...]:
    """Return the directories whose changes take effect in the session; they need not exist."""
    return tuple(
        directory.path for directory in command_directories(places) if directory.plugin_root is None
    )


def linked_directories(places: CommandLocations) -> Iterator[Path]:
    """Yield the targets of links directly inside the user's directories: a watch ignores links.

    Directories that contain the home are skipped: too much changes there.
    """
    home = os.path.join(os.path.realpath(places.home), "")
    for directory in command_directories(places):
        if directory.is_project or directory.plugin_root is not None:
            continue
        try:
            with os.scandir(directory.path) as entries:
                links = sorted(entry.path for entry in entries if entry.is_symlink())
        except OSError:
            continue
        for link in links:
            target = os.path.realpath(link)
            if os.path.isdir(target) and not home.startswith(os.path.join(target, "")):
                yield Path(target)


def files_of(directory: CommandDirectory) -> Iterator[FoundFile]:
    """Yield the files of a directory in a stable order; nothing if it is missing."""
    root = str(directory.path)
    if directory.is_skills:
        yield from _skills_in(root)
    else:
        # Users may link directories into their home; links of others are not followed.
        is_own = not directory.is_project and directory.plugin_root is None
        yield from _markdown_below(root, (), frozenset(), follow=is_own)


def is_outside(path: str, root: Path) -> bool:
    """Whether the path of a project's or a plugin's file leads out of it through a link."""
    inside = os.path.realpath(root)
    return not os.path.realpath(path).startswith(os.path.join(inside, ""))


def _skills_in(root: str) -> Iterator[FoundFile]:
    try:
        names = sorted(os.listdir(root))
    except OSError as error:
        if not isinstance(error, FileNotFoundError):
            yield root, (), None
        return
    for name in names:
        if name.startswith("."):
            continue
        path = f"{root}/{name}/{SKILL_FILE}"
        status = _status(path)
        if status is not None:
            yield path, (name,), status
        elif (other_file := _misspelled_skill_file(f"{root}/{name}")) is not None:
            yield other_file, (name,), None


def _misspelled_skill_file(directory: str) -> str | None:
    """Return the file in a directory that is probably a misspelled `SKILL.md`; None if there is
    none."""
    try:
        names = os.listdir(directory)
    except OSError as error:
        return directory if isinstance(error, PermissionError) else None
    name_there = next((name for name in names if name.upper() == SKILL_FILE.upper()), None)
    return f"{directory}/{name_there}" if name_there is not None else None


def _markdown_below(
    where: str, parts: tuple[str, ...], above: frozenset[tuple[int, int]], *, follow: bool
) -> Iterator[FoundFile]:
    """Yield files before directories, each by name; `above` identifies the parent directories."""
    try:
        status = os.stat(where)
        with os.scandir(where) as entries:
            listing = sorted(((entry.name, entry) for entry in entries), key=itemgetter(0))
    except OSError as error:
        if not isinstance(error, FileNotFoundError):
            yield where, parts, None
        return
    identity = status.st_dev, status.st_ino
    if identity in above:
        # A link to a parent directory would be followed without end.
        return
    directories: list[str] = []
    for name, entry in (each for each in listing if not each[0].startswith(".")):
        if _is_directory(entry, follow=follow):
            directories.append(name)
        elif name.endswith(".md"):
            yield entry.path, (*parts, name.removesuffix(".md")), _status(entry.path)
    if len(parts) < MAX_DEPTH:
        for name in directories:
            inside = f"{where}/{name}"
            yield from _markdown_below(inside, (*parts, name), above | {identity}, follow=follow)


def _is_directory(entry: os.DirEntry[str], *, follow: bool) -> bool:
    try:
        return entry.is_dir(follow_symlinks=follow)
    except OSError:
        return False


def _status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except (OSError, ValueError):
        return None
