"""Files that a hook, the status line or a server runs are changed with a user's word only."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from permissions.decision import Behavior, Reason
from permissions.evaluate.cascade import decide
from permissions.mode import Mode
from permissions.request import PermissionRequest
from tests.permissions.engine import Engine


def decision_on(
    engine: Engine, tool: str, *, mode: Mode = Mode.ACCEPT_EDITS, **call: str
) -> object:
    scripts = engine.root / "scripts"
    scripts.mkdir(exist_ok=True)
    (scripts / "lint.sh").touch()
    files = frozenset({str(scripts / "lint.sh"), str(engine.root / "new" / "run.sh")})
    context = replace(engine.context(mode=mode, allow=["Bash(echo *)"]), protected_files=files)
    decision = decide(PermissionRequest(tool, call), context)
    return decision.behavior if decision.reason is Reason.PROTECTED_PATH else decision.reason


@pytest.mark.parametrize(
    "command",
    [
        "cp x scripts/lint.sh",
        "echo x > scripts/lint.sh",
        "echo x > scripts/../scripts/LINT.sh",
        "rm scripts/lint.sh",
        "mv scripts old",
        "rm -r scripts",
        "mkdir new",
        "ln -s scripts new",
    ],
)
def test_f21_commands_that_change_one_ask(engine: Engine, command: str) -> None:
    assert decision_on(engine, "Bash", command=command) is Behavior.ASK


@pytest.mark.parametrize("command", ["cp x scripts/other.sh", "mkdir other", "rm scripts/other.sh"])
def test_their_neighbors_are_ordinary(engine: Engine, command: str) -> None:
    (engine.root / "x").touch()
    assert decision_on(engine, "Bash", command=command) is Reason.MODE_DEFAULT


@pytest.mark.parametrize("path", ["scripts/lint.sh", "new/run.sh"])
def test_f21_edits_of_one_ask_and_plan_denies(engine: Engine, path: str) -> None:
    file = str(engine.root / path)
    assert decision_on(engine, "Write", file_path=file) is Behavior.ASK
    assert decision_on(engine, "Write", mode=Mode.DONT_ASK, file_path=file) is Behavior.DENY


@pytest.mark.parametrize(
    ("launch", "path", "is_asked"),
    [
        (".", ".vimrc", True),
        (".", ".config/autostart/x.desktop", True),
        (".", ".ssh/authorized_keys", True),
        (".", "node_modules/x/index.js", True),
        (".", "notes/node_modules/x.js", False),
        (".", "notes/.todo", False),
        (".", "notes/a", False),
        ("..", ".local/bin/git", True),
        (".config/nvim", ".config/nvim/init.lua", False),
    ],
)
def test_the_configuration_of_a_user_who_starts_at_home_is_theirs(
    engine: Engine, launch: str, path: str, is_asked: bool
) -> None:
    for name in (".config/nvim", "notes"):
        (engine.home / name).mkdir(parents=True, exist_ok=True)
    (engine.home / "x").touch()
    context = replace(
        engine.context(mode=Mode.ACCEPT_EDITS),
        launch_dir=Path(os.path.normpath(engine.home / launch)),
    )
    target = engine.home / path
    for tool, call in (
        ("Write", {"file_path": str(target), "content": ""}),
        ("Bash", {"command": f"cp {engine.home}/notes/a {target}"}),
    ):
        if tool == "Bash" and launch == ".config/nvim":
            continue
        decision = decide(PermissionRequest(tool, call), context)
        reason = Reason.PROTECTED_PATH if is_asked else Reason.MODE_DEFAULT
        assert decision.reason is reason, decision.message
        assert (decision.behavior is Behavior.ASK) is is_asked
