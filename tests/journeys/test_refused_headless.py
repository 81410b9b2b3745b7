"""Without a screen: what the sandbox refuses counts as a denial, with its own exit status."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent.model.scripted.scenario import Scenario, Text, ToolCall, Turn
from agent.model.scripted.server import ScriptedServer
from agent.sandbox.probe import probe
from permissions.confinement import SandboxLevel
from tests.journeys.program import environment, run

INSIDE = {"sandbox": {"enabled": True}}
WILDCARD = {"permissions": {"allow": ["Bash(sh *)"]}}

pytestmark = pytest.mark.skipif(
    probe().level is not SandboxLevel.FULL, reason=f"level {probe().level}: {probe().reason}"
)


async def _headless(
    project: Path, home: Path, settings: dict[str, Any], command: str
) -> tuple[int, dict[str, Any]]:
    """Return the exit status and the result object of one command."""
    (home / ".agent").mkdir(exist_ok=True)
    (home / ".agent" / "settings.json").write_text(json.dumps(settings))
    turns = (Turn((ToolCall("Bash", {"command": command}),)), Turn((Text("Done."),), times=0))
    async with ScriptedServer(Scenario(turns=turns)) as server:
        arguments = ("-p", "go", "--output-format", "json")
        env = environment(home, server.base_url)
        code, printed, _ = await run(*arguments, cwd=project, env=env)
    return code, json.loads(printed)


@pytest.mark.parametrize("settings", [INSIDE, WILDCARD], ids=["inside", "wildcard"])
async def test_a_refused_write_is_a_denial(
    settings: dict[str, Any], project: Path, fresh_home: Path
) -> None:
    (project / "write.sh").write_text(f"echo x > inside; echo x > {fresh_home}/outside\n")
    code, result = await _headless(project, fresh_home, settings, "sh write.sh")
    assert code == 3
    assert (project / "inside").exists()
    assert not (fresh_home / "outside").exists()
    (denial,) = result["permission_denials"]
    assert (denial["tool_name"], denial["tool_input"]) == ("Bash", {"command": "sh write.sh"})
    assert f"write {fresh_home}/outside: outside the working directories" in str(denial)


async def test_a_host_that_no_one_allowed_is_one_too(project: Path, fresh_home: Path) -> None:
    fetch = "import urllib.request as u\ntry: u.urlopen('http://a.example/')\nexcept OSError: 0\n"
    (project / "fetch.py").write_text(fetch)
    code, result = await _headless(project, fresh_home, INSIDE, "python3 fetch.py")
    assert code == 3
    (denial,) = result["permission_denials"]
    assert "connect to a.example:80" in str(denial)


@pytest.mark.parametrize("settings", [INSIDE, WILDCARD], ids=["inside", "wildcard"])
async def test_what_is_allowed_is_none(
    settings: dict[str, Any], project: Path, fresh_home: Path
) -> None:
    (project / "write.sh").write_text("echo x > inside\n")
    code, result = await _headless(project, fresh_home, settings, "sh write.sh")
    assert (code, result["permission_denials"]) == (0, [])
    assert (project / "inside").exists()
