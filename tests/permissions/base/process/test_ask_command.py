"""A command of the settings that is asked something."""

from __future__ import annotations

from pathlib import Path

import pytest

from permissions.base.process.ask_command import CommandFailed, ask_command


async def test_a_command_that_no_system_can_start_is_a_failure_with_words(tmp_path: Path) -> None:
    with pytest.raises(CommandFailed, match="cannot start: embedded null"):
        await ask_command("echo a\0b", {}, cwd=tmp_path, env={}, timeout_s=5)
