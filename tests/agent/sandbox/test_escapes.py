"""Every row of the escape corpus: the attack holds nothing, its allowed twin works."""

from __future__ import annotations

import os
import socket
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from permissions.confinement import Confinement
from tests.agent.sandbox.conftest import Confined, MakeConfined

ROWS: list[dict[str, Any]] = tomllib.loads(
    Path(__file__).with_name("escapes.toml").read_text(encoding="utf-8")
)["escape"]
CASES = [
    pytest.param(row, Confinement(name), id=f"{row['id']} ({name})")
    for row in ROWS
    for name in row["confinements"]
]


def _on_host(confined: Confined, script: str) -> int:
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(confined.home),
        "PROJECT": str(confined.project),
        "OUTSIDE": str(confined.outside),
        "TEMP": str(confined.temp_dir),
    }
    return subprocess.run(["/bin/sh", "-c", script], env=env, check=False).returncode


@pytest.mark.parametrize(("row", "confinement"), CASES)
def test_an_attack_has_no_effect_and_its_twin_works(
    row: dict[str, Any],
    confinement: Confinement,
    make_confined: MakeConfined,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OUTER_CANARY", "OUTER_CANARY")
    confined = make_confined(deny=row.get("deny", ()), git=row.get("git", False))
    with socket.create_server(("127.0.0.1", 0)) as server:
        variables = f"OUTSIDE={confined.outside} PORT={server.getsockname()[1]}; "
        assert _on_host(confined, row.get("setup", "true")) == 0
        attack = confined.run(variables + row["command"], confinement)
        assert _on_host(confined, row["holds"]) == 0, attack.output
        twin = confined.run(variables + row["twin"], confinement)
        assert twin.exit_code == 0, twin.output
        assert _on_host(confined, row["works"]) == 0, twin.output
