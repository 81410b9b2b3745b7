"""The `@` picker: never a long wait, and always the files of the conversation at hand."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.commands.service import CommandService
from agent.files.file_index import FileIndex
from agent.files.matcher import NameList
from agent.settings.load import load_settings
from permissions.base.process.reading_programs import ReadingPrograms, launch_unconfined
from tests.tui.recorded import RecordedConversation, center_for
from tui.prompt.file_completion import FileCompletion, SuggestionCommand


class Desk:
    """A picker with its frames and work under control."""

    def __init__(self, index: FileIndex, resources: Sequence[str] = ()) -> None:
        self.index = index
        self.frames: list[Callable[[], None]] = []
        self.work: list[asyncio.Future[None]] = []
        self.told = 0
        self.picker = FileCompletion(
            lambda: self.index,
            lambda work: self.work.append(asyncio.ensure_future(work)),
            self.frames.append,
            self.tell,
            resources=lambda: resources,
        )

    def tell(self) -> None:
        self.told += 1

    async def ready(self) -> None:
        await asyncio.gather(*self.work)


async def test_files_are_offered_once_they_are_listed(tmp_path: Path) -> None:
    (tmp_path / "slug.py").write_text("")
    desk = Desk(FileIndex(tmp_path, ReadingPrograms(os.environ, tmp_path, launch_unconfined)))
    assert desk.picker.complete("slu") == []
    await desk.ready()
    assert desk.told == 1
    assert desk.picker.complete("slu") == ["slug.py"]
    await desk.picker.aclose()


async def test_resources_of_servers_come_first(tmp_path: Path) -> None:
    (tmp_path / "notes.py").write_text("")
    programs = ReadingPrograms(os.environ, tmp_path, launch_unconfined)
    desk = Desk(FileIndex(tmp_path, programs), ["plain:note:///1", "db:table://users"])
    desk.picker.complete("note")
    await desk.ready()
    assert desk.picker.complete("note") == ["plain:note:///1", "notes.py"]
    assert desk.picker.complete("pn1") == ["plain:note:///1"]
    assert "db:table://users" not in desk.picker.complete("")
    await desk.picker.aclose()


async def test_another_conversation_has_other_files(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.py").write_text("")
    desk = Desk(FileIndex(tmp_path / "a", ReadingPrograms(os.environ, tmp_path, launch_unconfined)))
    desk.picker.complete("py")
    await desk.ready()
    await desk.picker.aclose()
    desk.index = FileIndex(tmp_path / "b", ReadingPrograms(os.environ, tmp_path, launch_unconfined))
    desk.picker.complete("py")
    await desk.ready()
    assert desk.picker.complete("py") == ["b.py"]
    await desk.picker.aclose()


async def test_a_long_search_continues_frame_by_frame(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("")
    index = FileIndex(tmp_path, ReadingPrograms(os.environ, tmp_path, launch_unconfined))
    desk = Desk(index)
    desk.picker.complete("")
    await desk.ready()
    index._names = NameList(f"folder{n % 99}/sub{n}/file{n}.py" for n in range(60_000))
    assert desk.picker.complete("zzq") == []
    frames = 0
    while desk.frames and frames < 1_000:
        desk.frames.pop()()
        frames += 1
    assert desk.picker.complete("zzq") == []
    assert not desk.frames
    await desk.picker.aclose()


def with_command(tmp_path: Path, command: str) -> CommandService:
    """What a user has who set this command."""
    command_service = center_for(RecordedConversation([]))
    agent_home = tmp_path / "home" / ".agent"
    agent_home.mkdir(parents=True)
    section = {"fileSuggestion": {"type": "command", "command": command}}
    (agent_home / "settings.json").write_text(json.dumps(section))
    settings = load_settings(launch_dir=tmp_path, home=agent_home.parent, agent_home=agent_home)
    context = replace(command_service.context, settings=lambda: settings, env=dict(os.environ))
    return replace(command_service, context=context)


async def test_a_command_of_the_users_names_the_files(tmp_path: Path) -> None:
    command = "read -r query; printf '%s\\n' \"$query\" \"$CLAUDE_PROJECT_DIR\" 'a b' 'a b'"
    command_service = with_command(tmp_path, f"cat | ({command})")
    desk = Desk(FileIndex(tmp_path, ReadingPrograms(os.environ, tmp_path, launch_unconfined)))
    warned: list[str] = []

    def start(work: Awaitable[None]) -> None:
        desk.work.append(asyncio.ensure_future(work))

    own = SuggestionCommand(lambda: command_service, start, warned.append)
    desk.picker = FileCompletion(lambda: desk.index, start, desk.frames.append, desk.tell, own)
    # What is typed while the command runs is asked afterwards, and nothing in between.
    for typed in ("s", "sl", "slu"):
        assert desk.picker.complete(typed) == []
    await desk.ready()
    assert desk.picker.complete("slu") == ['{"query": "slu"}', str(tmp_path), "a b"]
    assert (desk.told, warned) == (1, [])


async def test_a_command_that_hangs_is_reported_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.files.suggest.TIMEOUT_S", 0.2)
    command_service = with_command(tmp_path, "sleep 60")
    work: list[asyncio.Future[None]] = []
    warned: list[str] = []
    own = SuggestionCommand(
        lambda: command_service, lambda it: work.append(asyncio.ensure_future(it)), warned.append
    )
    for query in ("a", "b"):
        assert own.complete(query, lambda: None) == []
        await asyncio.gather(*work)
    assert warned == ["the command in fileSuggestion took longer than 0.2 s"]


async def test_what_was_typed_while_it_hung_is_asked_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.files.suggest.TIMEOUT_S", 0.2)
    hangs_once = """read given; case "$given" in *'"a"'*) sleep 60;; *) echo found;; esac"""
    command_service = with_command(tmp_path, hangs_once)
    work: list[asyncio.Future[None]] = []
    own = SuggestionCommand(
        lambda: command_service, lambda it: work.append(asyncio.ensure_future(it)), lambda _: None
    )
    own.complete("a", lambda: None)
    await asyncio.sleep(0)
    own.complete("ab", lambda: None)
    await asyncio.gather(*work)
    assert own.complete("ab", lambda: None) == ["found"]
    assert len(work) == 1


def test_a_project_does_not_name_such_a_command(tmp_path: Path) -> None:
    (tmp_path / ".agent").mkdir()
    section = {"fileSuggestion": {"type": "command", "command": "touch owned"}}
    (tmp_path / ".agent" / "settings.json").write_text(json.dumps(section))
    home = tmp_path / "home"
    settings = load_settings(launch_dir=tmp_path, home=home, agent_home=home / ".agent")
    assert settings.values.fileSuggestion is None
