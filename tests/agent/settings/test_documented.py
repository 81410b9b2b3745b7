"""What the documentation shows is what the program takes."""

from __future__ import annotations

import re
from pathlib import Path

from agent.settings.file import parse_settings
from agent.settings.schema import SettingsFile
from permissions.rule import RuleSource

PAGE = Path(__file__).parents[3] / "docs" / "settings.md"


def test_the_documented_settings_are_valid_and_every_key_is_known() -> None:
    blocks = re.findall(r"```json\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert blocks
    for block in blocks:
        loaded = parse_settings(block, RuleSource.USER, PAGE)
        assert [str(warning) for warning in loaded.warnings] == []
        assert loaded.root.members.keys() <= {*SettingsFile.__struct_fields__}
