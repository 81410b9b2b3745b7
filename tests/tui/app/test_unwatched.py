"""Where the system lets nobody watch a folder, the program goes on with what it has read."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import watchfiles  # noqa: F401 - while files can still be opened

import permissions.base.files.file_watch  # noqa: F401 - while files can still be opened
from tui.app.keybindings_watch import apply_keys, follow_keys, keys_path
from tui.input.keymap import Keymap, default_keymap
from tui.theme.theme_files import follow_themes

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="other systems watch without a file"
)


@contextmanager
def no_more_files() -> Iterator[None]:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    next_free = os.dup(2)
    os.close(next_free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (next_free, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


async def test_keys_that_cannot_be_watched_are_reported(tmp_path: Path) -> None:
    await asyncio.to_thread(int)  # imports what threads need while files can still be opened
    told: list[tuple[str, str]] = []
    with no_more_files():
        await follow_keys(
            tmp_path,
            default_keymap(),
            lambda _keymap: None,
            lambda text, level: told.append((level, text)),
        )
    assert [level for level, _ in told] == ["warning"]
    assert "not watched" in told[0][1]


async def test_themes_that_cannot_be_watched_end_quietly(tmp_path: Path) -> None:
    with no_more_files():
        await follow_themes(
            tmp_path, (tmp_path / "themes",), reload=lambda: None, choose=lambda _name: None
        )


async def test_claude_codes_keys_count_until_there_are_own_ones(tmp_path: Path) -> None:
    own, theirs = tmp_path / "agent" / "keybindings.json", tmp_path / ".claude" / "keybindings.json"
    file = {"bindings": [{"context": "Chat", "bindings": {"f5": "chat:stash"}}]}
    theirs.parent.mkdir()
    theirs.write_text(json.dumps(file))
    assert keys_path(own.parent, tmp_path) == theirs
    used: list[Keymap] = []
    await follow_keys(
        own.parent, default_keymap(), used.append, lambda *_: None, home=tmp_path
    )  # ends: there is no folder to watch
    assert ("f5",) in used[0].keys_of("chat:stash")
    own.parent.mkdir()
    own.write_text("{}")
    assert keys_path(own.parent, tmp_path) == own


@pytest.mark.parametrize("text", ["{", "[]", '{"bindings": 3}', "[" * 100_000])
def test_a_file_broken_while_it_is_written_leaves_the_keys_as_they_are(text: str) -> None:
    used: list[Keymap] = []
    said: list[str] = []
    path = Path("keybindings.json")
    defaults = default_keymap()
    assert not apply_keys(text, path, defaults, used.append, lambda line, _: said.append(line))
    assert used == []
    assert "the key bindings are unchanged" in said[0]
    assert apply_keys("", path, defaults, used.append, lambda *_: None)
    assert used == [defaults]
