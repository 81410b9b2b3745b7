"""What the settings and `--sandbox` make of the sandbox of a session."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent.assembly.sandbox_setup import probe_sandbox, sandbox_state
from agent.errors import ConfigError
from agent.options import RunOptions
from agent.sandbox.availability import Availability, Backend
from agent.settings.load import CliSettings, Settings, load_settings
from permissions.confinement import SandboxLevel
from tests.journeys.start import user_at

FULL = Availability(SandboxLevel.FULL, Backend.BUBBLEWRAP, "/usr/bin/bwrap")


def _settings(directory: Path, **sandbox: Any) -> Settings:
    """Return what managed settings with this section make."""
    policy = directory / "etc"
    policy.mkdir()
    (policy / "managed-settings.json").write_text(json.dumps({"sandbox": sandbox}))
    project = directory / "project"
    project.mkdir()
    return load_settings(
        launch_dir=project,
        home=directory / "home",
        agent_home=directory / "home" / ".agent",
        cli=CliSettings(),
        policy_dir=policy,
    )


@pytest.mark.parametrize(
    ("flag", "section", "expected"),
    [
        (None, {}, False),
        (None, {"enabled": True}, True),
        (None, {"enabled": True, "autoAllowBashIfSandboxed": False}, False),
        ("workspace-write", {}, True),
        ("read-only", {"enabled": True}, False),
    ],
)
def test_who_works_inside(
    flag: str | None, section: dict[str, Any], expected: bool, tmp_path: Path
) -> None:
    options = RunOptions(sandbox=flag)
    state = sandbox_state(FULL, options, _settings(tmp_path, **section))
    assert (state.works_inside, state.is_read_only) == (expected, flag == "read-only")
    assert state.is_enabled == (flag is None and section.get("enabled", False))


def test_what_may_leave(tmp_path: Path) -> None:
    settings = _settings(tmp_path, allowUnsandboxedCommands=False, excludedCommands=["docker *"])
    state = sandbox_state(FULL, RunOptions(), settings)
    assert (state.allow_unsandboxed, state.excluded_commands) == (False, ("docker *",))


def test_a_required_sandbox_that_is_not_there_ends_the_start(tmp_path: Path) -> None:
    section = {"bwrapPath": "/nonexistent/bwrap", "failIfUnavailable": True}
    required = _settings(tmp_path, enabled=True, **section)
    environment = user_at(tmp_path / "home", tmp_path / "project")
    with pytest.raises(ConfigError, match=r"bubblewrap is not installed.*failIfUnavailable"):
        probe_sandbox(RunOptions(), environment, required)


def test_what_is_not_required_starts_with_less(tmp_path: Path) -> None:
    section = {"bwrapPath": "/nonexistent/bwrap", "failIfUnavailable": True}
    optional = _settings(tmp_path, enabled=False, **section)
    environment = user_at(tmp_path / "home", tmp_path / "project")
    found = probe_sandbox(RunOptions(), environment, optional)
    assert found.level is not SandboxLevel.FULL
