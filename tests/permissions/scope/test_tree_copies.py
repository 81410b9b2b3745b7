"""Copies that keep their names: into folders, and over trees that are there already."""

from __future__ import annotations

import pytest

from permissions.decision import Behavior, Reason
from permissions.mode import Mode
from tests.permissions.engine import Engine, make_engine


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    """A project with a template that holds protected names, and links in the way of a copy."""
    engine = make_engine(tmp_path_factory.mktemp("trees"))
    root, outside = engine.root, engine.root.parent / "outside"
    (root / "tmpl" / ".git" / "hooks").mkdir(parents=True)
    for name in (".git/hooks/pre-commit", ".envrc", "a"):
        (root / "tmpl" / name).write_text("text\n")
    (root / "new" / "deep").mkdir(parents=True)
    (root / "new" / "deep" / "out").write_text("text\n")
    (root / "old" / "deep").mkdir(parents=True)
    (root / "old" / "deep" / "out").symlink_to(outside / "secret.txt")
    (root / "old" / "a.py").symlink_to(outside / "secret.txt")
    return engine


@pytest.mark.parametrize(
    "command",
    [
        "cp -r tmpl/. .",
        "cp -rT tmpl .",
        "cp -a tmpl/. ./",
        "rsync -a tmpl/ .",
        "cp tmpl/.envrc .",
        "cp tmpl/.envrc sub",
        "cp tmpl/.envrc sub/",
        "cp -t sub tmpl/.envrc",
        "cp --parents tmpl/.git/hooks/pre-commit sub",
        "mv tmpl/.envrc sub",
        "cp tmpl/.e* sub",
    ],
)
def test_protected_names_are_found_where_a_copy_puts_them(trees: Engine, command: str) -> None:
    for mode in (Mode.DEFAULT, Mode.ACCEPT_EDITS):
        found = trees.bash(command, allow=["Bash(cp *)", "Bash(mv *)", "Edit"], mode=mode)
        assert found.behavior is Behavior.ASK, found.message


@pytest.mark.parametrize(
    "command",
    [
        "cp src/a.py old",
        "cp -t old src/a.py",
        "mv src/a.py old",
        "cp -r new/. old",
        "cp -rT new old",
        "cp -r new/deep old",
        "rsync -a new/ old",
        "sed -i'/etc/*' s/a/b/ src/a.py",
        "sed -i'../../*' s/a/b/ src/a.py",
        "sed --in-place='../../*' s/a/b/ src/a.py",
    ],
)
def test_a_link_in_the_way_leads_out_of_scope(trees: Engine, command: str) -> None:
    found = trees.bash(command, allow=["Bash", "Edit"], mode=Mode.BYPASS)
    assert (found.behavior, found.reason) == (Behavior.DENY, Reason.SCOPE_BOUNDS_VIOLATION)


@pytest.mark.parametrize(
    "command",
    [
        "cp tmpl/.envrc copy",
        "cp -r tmpl copy",
        "cp -r new old2",
        "cp -r new sub",
        "cp -r src/. sub",
        "cp src/a.py sub",
        "mv src/a.py sub/",
        "cp -r new/deep/. sub",
        "rsync -a src/ sub/",
        "sed -i.bak s/a/b/ src/a.py",
        "sed -i'old-*' s/a/b/ src/a.py",
    ],
)
def test_ordinary_copies_are_not_asked_about(trees: Engine, command: str) -> None:
    found = trees.bash(command, allow=["Bash", "Edit"])
    assert found.behavior is Behavior.ALLOW, found.message


def test_more_files_than_can_be_looked_at_are_asked_about(trees: Engine) -> None:
    folder = trees.root / "many"
    folder.mkdir()
    for number in range(1_100):
        (folder / str(number)).touch()
    assert trees.bash("cp -r many/. sub", allow=["Bash"]).behavior is Behavior.ASK
    assert trees.bash("cp -r many copy", allow=["Bash"]).behavior is Behavior.ALLOW
