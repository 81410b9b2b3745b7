"""The history of prompts on disk, as the screen writes it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from pathlib import Path

import pytest

from tui.prompt.prompt_history import PromptHistory
from tui.prompt.prompt_log import TypedPromptLog


@pytest.mark.asyncio
async def test_a_history_that_cannot_be_written_is_reported_once(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.write_text("not a directory")
    tasks: list[Awaitable[None]] = []
    warnings: list[str] = []
    log = TypedPromptLog(PromptHistory(), tasks.append, warnings.append)
    await log.open(home, tmp_path, "session")
    for text in ("one", "two"):
        log.add(text, "session")
    await asyncio.gather(*tasks)
    assert warnings == ["The prompt history cannot be saved: Not a directory."]
