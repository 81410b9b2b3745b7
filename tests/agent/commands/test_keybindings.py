"""`/keybindings` opens a file without changing what any key does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from agent.commands.builtin.keybindings import call
from agent.commands.command_results import EditFile
from tui.input.actions import Context
from tui.input.keybindings import load_keybindings
from tui.input.keymap import default_keymap


class Homes(Struct):
    home: Path
    agent_home: Path


@pytest.fixture
def context(tmp_path: Path) -> Any:
    (tmp_path / ".agent").mkdir()
    return Homes(tmp_path, tmp_path / ".agent")


async def test_a_new_file_changes_no_key(context: Any) -> None:
    result = await call("", context)
    assert isinstance(result, EditFile)
    loaded = load_keybindings(result.path.read_text(), default_keymap())
    assert loaded.warnings == ()
    for each in Context:
        assert loaded.keymap.bindings_of(each) == default_keymap().bindings_of(each)


async def test_a_new_file_keeps_the_keys_of_claude_codes_file(context: Any) -> None:
    theirs = context.home / ".claude" / "keybindings.json"
    theirs.parent.mkdir()
    theirs.write_text(json.dumps({"bindings": [{"context": "Chat", "bindings": {"f9": None}}]}))
    result = await call("", context)
    assert isinstance(result, EditFile)
    assert result.path.read_text() == theirs.read_text()
    assert result.path.parent == context.agent_home
