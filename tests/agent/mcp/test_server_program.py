"""What the program of a local server is started with."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from agent.mcp.configuration.server_definition import ServerDefinition, ServerScope
from agent.mcp.server_program import server_program
from permissions.base.process.run_program import run_blocking
from permissions.base.process.spawn import Launch


def test_a_server_learns_the_root_of_the_project_and_starts_where_the_session_did(
    tmp_path: Path,
) -> None:
    start = tmp_path / "packages" / "app"
    start.mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    definition = ServerDefinition(
        name="x",
        transport="stdio",
        scope="project",
        is_foreign=True,
        entry={},
        digest="",
        command="node",
    )
    program = server_program(definition, {"PATH": "/bin::", "SECRET": "s"}, start, tmp_path)
    assert program.cwd == start
    assert program.env is not None
    assert program.env["CLAUDE_PROJECT_DIR"] == str(tmp_path.resolve())
    assert "SECRET" not in program.env
    assert program.env["PATH"] == "/bin", "an empty entry is the project's directory"


@pytest.mark.parametrize(
    ("scope", "cwd", "is_safe"),
    [
        ("user", None, True),
        ("managed", None, True),
        ("user", "/srv", False),
        ("local", None, False),
    ],
)
def test_what_the_users_server_runs_comes_from_no_project(
    tmp_path: Path, scope: ServerScope, cwd: str | None, is_safe: bool
) -> None:
    def start(*argv: str) -> Launch:
        definition = ServerDefinition(
            name="x",
            transport="stdio",
            scope=scope,
            is_foreign=False,
            entry={},
            digest="",
            command=argv[0],
            args=argv[1:],
            cwd=None if cwd is None else Path(cwd),
        )
        return server_program(definition, {}, tmp_path, tmp_path / "empty")

    assert ("PYTHONSAFEPATH" in start("python3", "-m", "server").env) is is_safe
    npx = start("/usr/bin/npx", "-y", "package", "./data")
    assert (npx.cwd == tmp_path / "empty") is is_safe
    assert npx.argv[-1] == (f"{tmp_path}/./data" if is_safe else "./data")
    for command in (("sh", "-c", "cd . && exec npx x"), ("/usr/bin/env", "A=1", "uv", "run", "x")):
        assert start(*command).cwd == (tmp_path / "empty" if is_safe else Path(cwd or tmp_path))
    assert start("node", "/srv/x.js").cwd == (tmp_path if cwd is None else Path(cwd))


@pytest.mark.skipif(shutil.which("npx") is None, reason="npx is not installed")
def test_npx_runs_nothing_of_the_project(tmp_path: Path) -> None:
    project, empty_dir = tmp_path / "project", tmp_path / "empty"
    planted_dir = project / "node_modules" / ".bin"
    for directory in (planted_dir, empty_dir):
        directory.mkdir(parents=True)
    for name in ("node", "server", "sh"):
        (planted_dir / name).write_text("#!/bin/sh\necho planted\n")
        (planted_dir / name).chmod(0o755)
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}

    def output(scope: ServerScope, *packages: str) -> bytes:
        definition = ServerDefinition(
            name="x",
            transport="stdio",
            scope=scope,
            is_foreign=False,
            entry={},
            digest="",
            command="npx",
            args=("--offline", "--yes", *packages),
        )
        launch = server_program(definition, env, project, empty_dir)
        return run_blocking(launch, timeout_s=60.0).stdout

    assert output("local", "server") == b"planted\n"
    assert output("user", "server") == b""
