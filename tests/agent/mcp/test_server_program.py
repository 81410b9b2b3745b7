"""What the program of a local server is started with."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.mcp.configuration.server_definition import ServerDefinition, ServerScope
from agent.mcp.server_program import server_program


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
    program = server_program(definition, {"PATH": "/bin", "SECRET": "s"}, start)
    assert program.cwd == start
    assert program.env is not None
    assert program.env["CLAUDE_PROJECT_DIR"] == str(tmp_path.resolve())
    assert "SECRET" not in program.env


@pytest.mark.parametrize(
    ("scope", "cwd", "is_safe"),
    [("user", None, True), ("user", "/srv", False), ("local", None, False)],
)
def test_a_module_that_the_users_server_is_comes_from_no_project(
    tmp_path: Path, scope: ServerScope, cwd: str | None, is_safe: bool
) -> None:
    definition = ServerDefinition(
        name="x",
        transport="stdio",
        scope=scope,
        is_foreign=False,
        entry={},
        digest="",
        command="python3",
        args=("-m", "server"),
        cwd=None if cwd is None else Path(cwd),
    )
    assert ("PYTHONSAFEPATH" in server_program(definition, {}, tmp_path).env) is is_safe
