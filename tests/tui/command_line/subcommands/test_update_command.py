"""`agent-tui update` names the commands that fit the installation."""

from __future__ import annotations

import json
from importlib.metadata import PathDistribution
from pathlib import Path

import pytest
from click.testing import CliRunner

from tui.command_line.subcommands.update_command import command, installation

PYTHON = Path("/opt/a tool/bin/python")
GIT = {"url": "https://example.org/agent-tui", "vcs_info": {"vcs": "git", "commit_id": "0"}}


def installed(directory: Path, installer: str, origin: object = None) -> PathDistribution:
    info = directory / "agent_tui-1.0.dist-info"
    info.mkdir()
    (info / "INSTALLER").write_text(f"{installer}\n")
    if origin is not None:
        (info / "direct_url.json").write_text(json.dumps(origin))
    return PathDistribution(info)


@pytest.mark.parametrize(
    ("installer", "origin", "marker", "method", "lines"),
    [
        ("pip", None, "", "pip",
         ["'/opt/a tool/bin/python' -m pip install --upgrade agent-tui"]),
        ("pip", GIT, "", "pip",
         ["'/opt/a tool/bin/python' -m pip install --upgrade "
          "'agent-tui @ git+https://example.org/agent-tui'"]),
        ("uv", None, "", "uv",
         ["uv pip install --python '/opt/a tool/bin/python' --upgrade agent-tui"]),
        ("uv", None, "uv-receipt.toml", "uv tool", ["uv tool upgrade agent-tui"]),
        ("pip", None, "pipx_metadata.json", "pipx", ["pipx upgrade agent-tui"]),
        ("pip", {"url": "file:///home/ada/a%20clone", "dir_info": {"editable": True}}, "",
         "checkout",
         ["git -C '/home/ada/a clone' pull --ff-only",
          "make -C '/home/ada/a clone' run ARGS=--version"]),
    ],
)  # fmt: skip
def test_commands_for(
    tmp_path: Path, installer: str, origin: object, marker: str, method: str, lines: list[str]
) -> None:
    if marker:
        (tmp_path / marker).touch()
    found = installation(tmp_path, PYTHON, installed(tmp_path, installer, origin))
    assert (found.method, list(found.commands)) == (method, lines)


def test_a_source_that_is_not_installed_is_a_checkout(tmp_path: Path) -> None:
    assert installation(tmp_path, PYTHON, None).method == "checkout"


def test_this_installation_is_described() -> None:
    ran = CliRunner().invoke(command, ["--json"], standalone_mode=False)
    assert json.loads(ran.stdout)["commands"]
    ran = CliRunner().invoke(command, [], standalone_mode=False)
    assert "To update it:" in ran.stdout
