"""What a start says about settings."""

from __future__ import annotations

from pathlib import Path

from agent.settings.file import SettingsWarning
from agent.settings.start_notices import merge_keys


def test_keys_of_a_file_with_the_same_warning_are_one_line() -> None:
    project, local = Path("/p/settings.json"), Path("/p/settings.local.json")
    refusal = "has no effect here"
    merged = merge_keys(
        [
            SettingsWarning(refusal, project, 3, "env.A"),
            SettingsWarning("is not a number", project, 9, "port"),
            SettingsWarning(refusal, project, 4, "env.B"),
            SettingsWarning(refusal, local, 2, "env.A"),
            SettingsWarning("cannot be read", project, 1),
        ]
    )
    assert list(map(str, merged)) == [
        "/p/settings.json:3: env.A, env.B: has no effect here",
        "/p/settings.json:9: port: is not a number",
        "/p/settings.local.json:2: env.A: has no effect here",
        "/p/settings.json:1: cannot be read",
    ]
