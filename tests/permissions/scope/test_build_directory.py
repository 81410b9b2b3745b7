"""Build tools in folders outside, and what symbolic links lead to."""

from __future__ import annotations

import pytest

from permissions.decision import Behavior, Reason
from permissions.mode import Mode
from tests.permissions.engine import Engine


@pytest.mark.parametrize(
    "command",
    [
        "cd .. && make", "cd /tmp && npm test", "cd .. && time make", "(cd ..; make -j4)",
        "cd outlink && make", "pushd .. && cargo build", 'sh -c "cd .. && make"',
        "cd .. && timeout 5 pytest", "env -C .. make" ,
    ],
)  # fmt: skip
def test_no_rule_lets_a_build_tool_run_outside(engine: Engine, command: str) -> None:
    found = engine.bash(command, allow=["Bash", "Edit"])
    assert found.behavior is not Behavior.ALLOW
    assert found.reason is Reason.SCOPE_BOUNDS_VIOLATION


@pytest.mark.parametrize(
    "command",
    [
        "make", "cd sub && make", "cd sub && cd .. && make", "cd ../project && make",
        "(cd .. && ls); make", "cd .. && git status", "cd .. && make --version",
        "source .venv/bin/activate && make",
    ],
)  # fmt: skip
def test_inside_they_run_as_ever(engine: Engine, command: str) -> None:
    found = engine.bash(command, allow=["Bash"])
    assert found.behavior is Behavior.ALLOW, found.message


LINKS = [
    ("ln -s ../x sub/y", True),
    ("ln -s ../src/a.py sub/a.py", True),
    ("ln -sf src/a.py latest", True),
    ("ln -s .. sub/up", True),
    ("ln -st sub ../src/a.py", True),
    ("ln -s ../outside l", False),
    ("ln -s ../../outside/s.txt sub/l", False),
    ("cd sub && ln -s ../outside/s.txt ../l", False),
    ("ln -s /etc/passwd l", False),
    ("ln -sr ../outside/s.txt sub/l", False),
    ("ln -s ../outside/s.txt .", False),
    ("ln -s ../.. sub/up", False),
    ("ln ../outside/s.txt l", False),
]


@pytest.mark.parametrize(("command", "stays"), LINKS, ids=str)
def test_a_link_is_read_from_its_own_folder(engine: Engine, command: str, stays: bool) -> None:
    found = engine.bash(command, mode=Mode.BYPASS)
    assert (found.behavior is Behavior.ALLOW) is stays, found.message
