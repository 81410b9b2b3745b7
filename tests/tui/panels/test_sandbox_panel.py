"""`/sandbox`: the level, what commands reach, what was refused, and the switch."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.sandbox.availability import Availability, Backend
from agent.sandbox.refusals import Refusal, RefusalKind
from permissions.confinement import SandboxLevel
from permissions.context import SandboxState
from tests.tui.app.test_app_keys import settled, text_of
from tests.tui.panels.test_panels import opened
from tests.tui.recorded import RecordedConversation, center_for, make_app
from tui.panels.sandbox import level_text
from tui.status_line.status_widget import sandbox_text


def conversation_in(tmp_path: Path) -> RecordedConversation:
    """A conversation whose home and project are there."""
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    (tmp_path / "scratch").mkdir()
    conversation = RecordedConversation([], launch_dir=project, cwd=project)
    conversation.commands = center_for(conversation, tmp_path)
    return conversation


def make_work_tree(project: Path) -> None:
    """Make the project a repository with a linked work tree in it."""
    subprocess.run(["git", "init", "-q", project], check=True)
    record, tree = project / ".git" / "worktrees" / "tree", project / "tree"
    for directory in (record, tree):
        directory.mkdir(parents=True)
    (tree / ".git").write_text(f"gitdir: {record}\n")
    (record / "gitdir").write_text(f"{tree}/.git\n")
    (record / "commondir").write_text("../..\n")


async def test_directories_and_refusals_are_listed(tmp_path: Path) -> None:
    conversation = conversation_in(tmp_path)
    assert conversation.commands is not None
    sandbox = conversation.commands.context.sandbox
    refusal = Refusal(RefusalKind.WRITE, "/opt/x", "outside the working directories")
    sandbox.refusal_log.add("make install", [refusal])
    app = make_app(conversation)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        text = await opened(pilot, "/sandbox")
        assert "Level full" in text
        assert "~/project" in text
        assert "protected" in text
        assert "write /opt/x: outside the working" in text
        assert "make install" in text


@pytest.mark.parametrize("level", [SandboxLevel.FILES, SandboxLevel.NONE])
async def test_a_lower_level_lists_only_what_it_enforces(
    tmp_path: Path, level: SandboxLevel
) -> None:
    conversation = conversation_in(tmp_path)
    assert conversation.commands is not None
    make_work_tree(tmp_path / "project")
    gate = conversation.commands.context.gate
    gate.replace_context(replace(gate.context, sandbox=SandboxState(level)))
    backend = Backend.LANDLOCK if level is SandboxLevel.FILES else Backend.NONE
    conversation.commands.context.sandbox.available = Availability(level, backend)
    app = make_app(conversation)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        text = await opened(pilot, "/sandbox")
        assert not [line for line in text.splitlines() if ".git " in line and " writable" in line]
        assert not any(word in text for word in (" hidden", "as /tmp", "every other host"))
        assert ("~/project" in text) is (level is SandboxLevel.FILES)
        assert ("not protected from commands" in text) is (level is SandboxLevel.NONE)


async def test_the_switch_is_stored_beside_what_the_section_holds(tmp_path: Path) -> None:
    settings = tmp_path / ".agent" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"sandbox": {"excludedCommands": ["docker *"]}}')
    conversation = conversation_in(tmp_path)
    app = make_app(conversation)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await opened(pilot, "/sandbox")
        await pilot.press("enter")
        await settled(pilot)
        assert "Sandbox" in text_of(app.parts.dialogs)
    stored = json.loads(settings.read_text())["sandbox"]
    assert stored == {"excludedCommands": ["docker *"], "enabled": True}


def test_the_status_line_is_silent_where_all_is_as_it_should_be() -> None:
    full = SandboxState(SandboxLevel.FULL)
    assert sandbox_text(full) == ""
    assert sandbox_text(replace(full, works_inside=True)) == "sandbox"
    assert sandbox_text(replace(full, is_read_only=True)) == "sandbox: read only"
    assert sandbox_text(SandboxState(SandboxLevel.FILES, True)) == "sandbox: files only"
    assert sandbox_text(SandboxState()) == "no sandbox"


def test_a_lower_level_gives_the_reason_and_how_to_get_more() -> None:
    found = Availability(
        SandboxLevel.FILES, Backend.LANDLOCK, reason="no bubblewrap", fix="apt install bubblewrap"
    )
    text = level_text(found)
    assert "Why not full: no bubblewrap." in text
    assert text.endswith("To get more: apt install bubblewrap")
