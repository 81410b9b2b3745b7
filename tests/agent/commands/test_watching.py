"""Command files are noticed while the program runs, also in folders that were not there before."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent.commands.sources.command_files import CustomCommands
from agent.commands.sources.directories import CommandLocations, linked_directories
from agent.commands.sources.discover import CommandFinder
from agent.settings.trust import TrustState


class Watched:
    def __init__(self, root: Path) -> None:
        self.home = root / "home"
        self.project = root / "project"
        self.places = CommandLocations(self.home, self.home / ".agent", self.project)
        trust = TrustState(self.project, is_trusted=False)
        self.custom = CustomCommands(CommandFinder(self.places, lambda: trust), self.places)
        self.changed = asyncio.Event()
        self.custom.listeners.append(self.changed.set)

    def names(self) -> set[str]:
        return {command.meta.name for command in self.custom.commands()}

    async def notices(self, path: Path, name: str) -> None:
        """Save a file once, whether the watch has begun or not, and wait for its command."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"Do {name}.")
        while name not in self.names():
            await self.changed.wait()
            self.changed.clear()


@pytest.fixture
async def watched(tmp_path: Path) -> AsyncIterator[Watched]:
    place = Watched(tmp_path)
    place.home.mkdir()
    place.project.mkdir()
    await place.custom.refresh()
    yield place
    await place.custom.aclose()


async def test_the_first_file_in_a_directory_that_was_not_there(watched: Watched) -> None:
    watched.custom.watch()
    await watched.notices(watched.home / ".agent" / "commands" / "check.md", "check")
    await watched.notices(watched.home / ".agent" / "commands" / "more.md", "more")
    await watched.notices(watched.home / ".agent" / "skills" / "deploy" / "SKILL.md", "deploy")
    await watched.notices(watched.home / ".claude" / "commands" / "old.md", "old")
    assert watched.names() == {"check", "more", "deploy", "old"}


async def test_a_linked_directory_is_watched_where_it_is(watched: Watched, tmp_path: Path) -> None:
    skills = watched.home / ".claude" / "skills"
    skills.mkdir(parents=True)
    (tmp_path / "work" / "deploy").mkdir(parents=True)
    watched.custom.watch()
    (skills / "deploy").symlink_to(tmp_path / "work" / "deploy")
    (skills / "home").symlink_to(watched.home)
    await watched.notices(tmp_path / "work" / "deploy" / "SKILL.md", "deploy")
    roots = linked_directories(watched.places)
    assert [path.name for path in roots] == ["deploy"]


async def test_an_agent_home_elsewhere_is_watched_too(tmp_path: Path) -> None:
    place = Watched(tmp_path)
    place.home.mkdir()
    place.project.mkdir()
    place.places = CommandLocations(place.home, tmp_path / "elsewhere", place.project)
    trust = TrustState(place.project, is_trusted=False)
    place.custom = CustomCommands(CommandFinder(place.places, lambda: trust), place.places)
    place.custom.listeners.append(place.changed.set)
    place.custom.watch()
    try:
        await place.notices(tmp_path / "elsewhere" / "commands" / "check.md", "check")
    finally:
        await place.custom.aclose()


async def test_where_nothing_can_be_watched_it_ends(tmp_path: Path) -> None:
    places = CommandLocations(
        tmp_path / "a" / "b", tmp_path / "c" / "d" / "e", tmp_path / "f" / "g"
    )
    trust = TrustState(tmp_path, is_trusted=False)
    custom = CustomCommands(CommandFinder(places, lambda: trust), places)
    custom.watch()
    await custom.aclose()
