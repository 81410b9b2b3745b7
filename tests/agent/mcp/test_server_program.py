"""What the program of a local server is started with."""

from __future__ import annotations

from pathlib import Path

from agent.mcp.configuration.server_definition import ServerDefinition
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
