"""`/diff`: sources, files, one file; by the keys of the registry."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from tests.tui.app.test_app_keys import settled, text_of
from tests.tui.dialogs.test_dialogs import drawn
from tests.tui.panels.test_panels import opened
from tests.tui.recorded import RecordedConversation, make_app
from tui.dialogs.dialog import key_handling_of
from tui.input.keymap import ChordReader, Match, default_keymap
from tui.panels.diff_panel import ChangedFile, DiffPanel, Source
from tui.screen_reader.dialog_lines import answer, answer_hint, dialog_lines
from tui.text.styled_rows import Row, row


def lines(name: str) -> list[Row]:
    return [row("   ", f"change of {name}")]


def file(name: str) -> ChangedFile:
    def rows(_width: int) -> Sequence[Row]:
        return lines(name)

    return ChangedFile(name, 1, 2, rows)


def panel() -> DiffPanel:
    return DiffPanel(
        [
            Source("Since the commit", (file("a.py"), file("日本.py"))),
            Source("Changed by “fix it”", (file("b.py"),)),
            Source("Nothing", (), "no changes here"),
        ]
    )


def press(opened: DiffPanel, *keys: str) -> None:
    reader = ChordReader(default_keymap())
    for key in keys:
        meaning = reader.press(key, key_handling_of(opened).contexts)
        action_id = meaning.action_id if isinstance(meaning, Match) else None
        opened.press(key, key if len(key) == 1 else "", action_id)


async def test_the_list_of_a_source() -> None:
    assert drawn(panel()) == LIST


async def test_a_change_is_laid_out_once_for_each_width() -> None:
    asked: list[int] = []

    def rows(width: int) -> Sequence[Row]:
        asked.append(width)
        return lines("a.py")

    opened = DiffPanel([Source("Since the commit", [ChangedFile("a.py", 1, 1, rows)])])
    press(opened, "enter")
    for width in (80, 80, 80, 60):
        opened.view(width)
    assert asked == [80, 60]


async def test_left_and_right_change_the_source_and_go_round() -> None:
    opened = panel()
    press(opened, "right")
    assert "fix it" in drawn(opened)
    press(opened, "right")
    assert "no changes here" in drawn(opened)
    press(opened, "enter")
    assert "no changes here" in drawn(opened)
    press(opened, "right")
    assert "a.py" in drawn(opened)
    press(opened, "left")
    assert "no changes here" in drawn(opened)


async def test_a_file_is_opened_read_and_closed_again() -> None:
    opened = panel()
    press(opened, "down", "enter")
    assert "change of 日本.py" in drawn(opened)
    assert key_handling_of(opened).scroll_keys["j"] == 1
    press(opened, "right")
    assert "change of a.py" in drawn(opened)
    first, second = opened.view(60).body_id, panel().view(60).body_id
    assert first != second
    press(opened, "escape")
    assert not opened.is_done
    press(opened, "escape")
    assert opened.is_done


async def test_keys_work_without_any_binding() -> None:
    opened = panel()
    for key in ("down", "enter"):
        opened.press(key, "", None)
    assert "change of 日本.py" in drawn(opened)
    opened.press("q", "q", None)
    opened.press("escape", "", None)
    assert opened.is_done


LIST = """\
[Since the commit  ◂ 1/3 ▸]

--

 ❯ a.py     +1 −2
   日本.py  +1 −2
   ↑↓ enter show · ←→ commit, or prompts · esc close"""


async def test_a_slow_git_is_not_waited_for(tmp_path: Path) -> None:
    git, gate = tmp_path / "git", tmp_path / "go"
    git.write_text(f"#!/bin/sh\nwhile [ ! -e '{gate}' ]; do sleep 0.01; done\nexit 1\n")
    git.chmod(0o755)
    project = tmp_path / "project"
    project.mkdir()
    conversation = RecordedConversation([], launch_dir=project)
    app = make_app(conversation)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        assert conversation.commands is not None
        command_service = conversation.commands
        env = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
        reading = replace(command_service.context.reading, env=env)
        conversation.commands = replace(
            command_service, context=replace(command_service.context, reading=reading)
        )
        assert "running git …" in await opened(pilot, "/diff")
        gate.touch()
        async with asyncio.timeout(20):
            while "no repository" not in text_of(app.parts.dialogs):
                await pilot.pause()


async def test_in_lines_files_are_chosen_by_number_and_sources_by_a_word() -> None:
    opened_panel = panel()
    assert dialog_lines(opened_panel) == [
        "Since the commit 1/3:",
        "1. a.py, +1 −2 (selected)",
        "2. 日本.py, +1 −2",
    ]
    assert "left or right for other changes" in answer_hint(opened_panel)
    answer(opened_panel, "2")
    assert dialog_lines(opened_panel) == ["日本.py, 2/2:", "change of 日本.py"]
    answer(opened_panel, "esc")
    answer(opened_panel, "right")
    assert dialog_lines(opened_panel)[0] == "Changed by “fix it” 2/3:"
    answer(opened_panel, "right")
    assert dialog_lines(opened_panel)[0] == "Nothing 3/3:"
