"""Flag, variables and setting decide whether lines are wanted, in this order."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from agent.options import RunOptions
from tui.screen_reader.preference import wants_lines


@pytest.mark.parametrize(
    ("settings", "env", "wanted"),
    [
        ("", {}, False),
        ('{"axScreenReader": true}', {}, True),
        ('{"axScreenReader": "yes"}', {}, False),
        ('{"axScreenReader": true}', {"CLAUDE_AX_SCREEN_READER": "0"}, False),
        ("", {"CLAUDE_AX_SCREEN_READER": "1"}, True),
        ("", {"AGENT_TUI_SCREEN_READER": "true"}, True),
        ("[[[", {}, False),
        ("[]", {}, False),
    ],
)
def test_who_is_asked(tmp_path: Path, settings: str, env: dict[str, str], wanted: bool) -> None:
    (tmp_path / "settings.json").write_text(settings)
    given = {"AGENT_TUI_HOME": str(tmp_path), **env}
    assert wants_lines(RunOptions(), given) is wanted
    assert wants_lines(RunOptions(screen_reader=True), given)


def test_lines_load_no_screen_library() -> None:
    code = "import sys, tui.screen_reader.session; print(*({'textual', 'rich'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
