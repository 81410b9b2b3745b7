"""Find the agent files of policy, project, user and plugins.

A project's file has no effect until the user has trusted exactly its content.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from msgspec import Struct

from agent.settings.project_items import content_item
from agent.settings.project_root import project_directories
from agent.settings.trust import TrustState
from agent.subagents.definition import AgentDefinition, AgentSource
from agent.subagents.definition_fields import NoAgent, agent_from_markdown
from hooks.config.sources import plugin_name
from permissions.base.files.directory_trees import walk
from permissions.base.files.plain_file import read_plain
from permissions.base.text.sanitize import sanitize

MAX_FILES: Final = 500
"""Limit for each directory, so that one cannot use up the limit of the others."""
MAX_FILE_BYTES: Final = 1_000_000
MAX_DEPTH: Final = 8


class AgentDirectory(Struct, frozen=True):
    """One directory of agent files; it need not exist."""

    path: Path
    source: AgentSource
    prefix: str = ""
    """Precedes the names of a plugin's agents."""


class AgentFiles(Struct, frozen=True):
    """The contents of the directories."""

    definitions: tuple[AgentDefinition, ...] = ()
    """In order of priority."""
    waiting: tuple[str, ...] = ()
    """Files of the project that wait for trust, as paths below it."""
    problems: tuple[str, ...] = ()
    """Files that define no agent, with the reason."""


def agent_directories(
    *,
    project_root: Path,
    launch_dir: Path,
    home: Path,
    agent_home: Path,
    policy: Path,
    plugins: tuple[Path, ...],
    with_user: bool = True,
    with_project: bool = True,
) -> tuple[AgentDirectory, ...]:
    """Return the directories in order of priority."""
    own = (agent_home / "agents", home / ".claude" / "agents")
    own_paths = {os.path.realpath(path) for path in own}
    folders = project_directories(project_root, launch_dir) if with_project else ()
    project = [folder / base / "agents" for folder in folders for base in (".agent", ".claude")]
    return (
        AgentDirectory(policy, AgentSource.POLICY),
        # In the home directory, the user's own files must not count as the project's too.
        *(
            AgentDirectory(path, AgentSource.PROJECT)
            for path in project
            if os.path.realpath(path) not in own_paths
        ),
        *(AgentDirectory(path, AgentSource.USER) for path in own if with_user),
        *(
            AgentDirectory(root / "agents", AgentSource.PLUGIN, f"{plugin_name(root)}:")
            for root in plugins
        ),
    )


def read_agent_files(
    directories: tuple[AgentDirectory, ...],
    project_root: Path,
    trust: Callable[[], TrustState],
) -> AgentFiles:
    """Read every agent file. Slow on a cold disk: run it in a thread. Raises nothing."""
    definitions: list[AgentDefinition] = []
    waiting: list[str] = []
    problems: list[str] = []
    for directory in directories:
        is_project = directory.source is AgentSource.PROJECT
        files = _markdown_below(directory.path, follow=not is_project)
        for count, path in enumerate(files):
            if count == MAX_FILES:
                problems.append(f"{directory.path}: more than {MAX_FILES} agent files")
                break
            try:
                data = _read(path, project_root if is_project else None)
                if is_project and not trust().in_force(
                    content_item(path, "agent", project_root, data)
                ):
                    waiting.append(str(path.relative_to(project_root)))
                    continue
                definitions.append(
                    agent_from_markdown(
                        data, source=directory.source, path=path, prefix=directory.prefix
                    )
                )
            except NoAgent as error:
                if str(error):
                    problems.append(f"{sanitize(str(path))}: {error}")
            except OSError as error:
                problems.append(f"{sanitize(str(path))}: {error.strerror}")
    return AgentFiles(tuple(definitions), tuple(waiting), tuple(problems))


def _read(path: Path, project_root: Path | None) -> bytes:
    """Return a file's content. Raises OSError, and NoAgent if a link leads out of the project."""
    if project_root is not None:
        inside = os.path.join(os.path.realpath(project_root), "")
        if not os.path.realpath(path).startswith(inside):
            raise NoAgent("is a link to a file outside the project and is ignored")
    return read_plain(path, MAX_FILE_BYTES)


def _markdown_below(root: Path, *, follow: bool) -> Iterator[Path]:
    """Yield Markdown files in a stable order; nothing if the directory is missing."""
    for where, directories, names in walk(root, follows_links=follow):
        depth = len(Path(where).relative_to(root).parts)
        directories[:] = sorted(
            name for name in directories if not name.startswith(".") and depth < MAX_DEPTH
        )
        yield from (
            Path(where, name)
            for name in sorted(names)
            if name.endswith(".md") and not name.startswith(".")
        )
