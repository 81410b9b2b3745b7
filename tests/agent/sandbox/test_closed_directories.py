"""A command closes directories to their owner, to hide what it made or to keep it from moving."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent.sandbox.protected.protected_names import NameSearch
from permissions.confinement import Confinement
from tests.agent.sandbox.conftest import Confined, MakeConfined

pytestmark = pytest.mark.usefixtures("bound_by_modes")

LATER = """
for name in .git/commondir .mcp.json new/.vscode/tasks.json new/deep/.idea/x sub/.envrc; do
    test -e "$name" && echo "$name"
done
true
"""


def _made(confined: Confined) -> list[str]:
    """Return what is there for the user afterwards."""
    confined.project.chmod(0o755)
    for directory, names, _ in os.walk(confined.project):
        for name in names:
            Path(directory, name).chmod(0o755)
    return confined.run(LATER, Confinement.PROJECT_FILES).output.split()


@pytest.mark.parametrize("mode", ["000", "100", "311", "444", "555", "600"])
def test_what_is_in_a_closed_directory_is_moved_all_the_same(
    make_confined: MakeConfined, mode: str
) -> None:
    confined = make_confined(git=True)
    (confined.project / "sub").mkdir()
    outcome = confined.run(
        f"""
        mkdir -p new/.vscode new/deep/.idea evil; echo x | tee new/.vscode/tasks.json sub/.envrc
        echo x > new/deep/.idea/x; echo x > .mcp.json
        chmod {mode} new/.vscode/tasks.json new/deep/.idea new/.vscode new/deep new sub .
        """,
        Confinement.PROJECT_FILES,
    )
    names = {os.path.basename(one.target) for one in outcome.refusals}
    assert names == {".vscode", ".idea", ".mcp.json", ".envrc"}
    assert all(one.moved_to and os.path.lexists(one.moved_to) for one in outcome.refusals)
    assert _made(confined) == []


@pytest.mark.parametrize("mode", ["000", "555"])
def test_what_leads_git_elsewhere_is_moved_from_a_closed_repository(
    make_confined: MakeConfined, mode: str
) -> None:
    confined = make_confined(git=True)
    script = f"echo ../evil > .git/commondir; chmod {mode} .git; sleep 1"
    confined.run(script, Confinement.PROJECT_FILES)
    assert _made(confined) == []


def test_a_directory_that_the_user_closed_stays_as_it_is(make_confined: MakeConfined) -> None:
    confined = make_confined()
    closed = confined.project / "closed"
    (closed / ".vscode").mkdir(parents=True)
    closed.chmod(0)
    assert confined.run("touch x", Confinement.PROJECT_FILES).refusals == ()
    assert closed.stat().st_mode & 0o777 == 0
    confined.run("chmod 755 closed; touch closed/y", Confinement.PROJECT_FILES)
    assert (closed / ".vscode").is_dir()


def test_another_command_that_ends_first_does_not_hide_it(tmp_path: Path) -> None:
    search, root = NameSearch(), str(tmp_path)
    before = search.find(root, root)
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / ".envrc").write_text("x")
    (tmp_path / "new").chmod(0o300)
    search.find(root, root)
    assert list(search.find(root, root, before).made_since(before)) == [f"{root}/new/.envrc"]


@pytest.mark.parametrize("moves", [True, False])
def test_what_cannot_be_moved_far_gets_another_name(
    make_confined: MakeConfined, monkeypatch: pytest.MonkeyPatch, moves: bool
) -> None:
    """As between two file systems, where what is copied may be unreadable, endless or a pipe."""
    confined = make_confined()
    rename = os.rename

    def rename_near(*arguments: object, **options: object) -> None:
        if options.get("dst_dir_fd") is None or not moves:
            raise OSError(18, "Invalid cross-device link")
        rename(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "rename", rename_near)
    outcome = confined.run("mkdir a; mkfifo a/.envrc", Confinement.PROJECT_FILES)
    (refusal,) = outcome.refusals
    if moves:
        assert os.path.dirname(str(refusal.moved_to)) == os.path.dirname(refusal.target)
        assert not os.path.lexists(refusal.target)
    else:
        assert refusal.moved_to == "it could not be moved away: Invalid cross-device link"
