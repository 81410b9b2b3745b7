"""Git in a repository that came along inside the project is not a command that only reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from permissions.decision import Behavior
from permissions.evaluate.read_only_classifier import decide_with_classifier
from permissions.request import PermissionRequest
from tests.permissions.engine import Engine, make_engine


@pytest.fixture
def project(tmp_path: Path) -> Engine:
    engine = make_engine(tmp_path)
    for folder in ("vendor/x/.git", "vendor/x/src", "docs/bare/objects", "docs/bare/refs", "lib"):
        (engine.root / folder).mkdir(parents=True)
    (engine.root / "docs/bare/HEAD").write_text("ref: refs/heads/main\n")
    (engine.root / "lib/.git").write_text("gitdir: ../.git/modules/lib\n")
    return engine


def _answer(engine: Engine, command: str) -> Behavior:
    request = PermissionRequest("Bash", {"command": command})
    return decide_with_classifier(request, engine.context()).behavior


@pytest.mark.parametrize(
    "command",
    [
        "cd vendor/x && git status", "git -C vendor/x status", "cd vendor/x/src; git log -3",
        "cd docs/bare && git status", "git -C docs/bare log", "cd docs && git -C bare diff",
        "(cd vendor/x && git diff) | head", "cd lib && git status",
        "git -C ./vendor/../vendor/x log",
    ],
)  # fmt: skip
def test_a_repository_inside_is_asked_about(project: Engine, command: str) -> None:
    assert _answer(project, command) is Behavior.ASK


@pytest.mark.parametrize(
    "command",
    [
        "git status", "cd src && git status", "git -C src log -3", "git diff -- vendor/x",
        "cd docs && git log", "cd vendor && ls", "cd sub && git blame a",
    ],
)  # fmt: skip
def test_the_project_itself_is_not(project: Engine, command: str) -> None:
    assert _answer(project, command) is Behavior.ALLOW


def test_a_submodule_belongs_to_the_project(project: Engine) -> None:
    (project.root / ".git/modules/lib").mkdir(parents=True)
    assert _answer(project, "cd lib && git status") is Behavior.ALLOW
