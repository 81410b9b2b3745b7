"""A team in panes of terminals that are not here: through programs that take what is documented."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.journeys.program import environment, run
from tests.journeys.strict_terminals import install
from tests.journeys.test_teams import ANSWER, COUNTS, MAKES, TWO, lead, team_of


@pytest.mark.usefixtures("full_sandbox")
@pytest.mark.parametrize(
    ("executor", "variable"), [("wezterm", "WEZTERM_PANE=3"), ("iterm2", "TERM_PROGRAM=iTerm.app")]
)
async def test_m7_a_team_works_in_panes_of_a_terminal(
    tmp_path: Path, fresh_home: Path, executor: str, variable: str
) -> None:
    project = tmp_path / 'it\'s a $HOME "here"'
    async with team_of(tmp_path, fresh_home, [lead(*TWO), *COUNTS, *MAKES]) as team:
        team.project.rename(project)
        (project.parent / "project").symlink_to(project)
        env = environment(fresh_home, team.server.base_url)
        name, _, value = variable.partition("=")
        env[name] = value
        env["PATH"] = f"{install(tmp_path / 'bin')}:{env['PATH']}"
        status, out, err = await run(
            "-p", "Please do it.", "--team", "crew", "--teammate-mode", "panes",
            "--permission-mode", "acceptEdits", cwd=project, env=env,
        )  # fmt: skip
        assert status == 0, err
        assert ANSWER in out
        assert {one["executor"] for one in team.members().values()} == {executor}
        assert (project / "b.txt").read_text() == "2\n"
        assert (tmp_path / "bin" / "panes").read_text() == "7 8"
