"""Commands that the grammar cannot read, and their other spelling."""

from __future__ import annotations

import subprocess

import pytest

from permissions.decision import Behavior
from permissions.mode import Mode
from permissions.shell.parse.grammar_workarounds import respell
from permissions.shell.parse.lexer import Lexer
from tests.permissions.engine import Engine

BODY = 'it\'s one\n\n two \\ $x `y` "z"\n'
REDIRECTED = [
    f"cat <<'E' 2>&1 | sort -r\n{BODY}E\n",
    f"cat <<'E' 2>/dev/null | sort -r\n{BODY}E\necho after\n",
    f"cat <<'E'; echo done\n{BODY}E\n",
    f"if cat <<'E'; then echo yes; fi\n{BODY}E\necho after",
    f"cat <<'E' 2>&1 && echo 'it is' | sort\n{BODY}E\n",
    f'cat <<"E" 2>&1 |\n{BODY}E\nsort -r\n',
    "cat <<E 2>&1 | sort -r\none\ntwo\nE\n",
    "cat <<-'E' 2>&1 | sort -r\n\t\tone\n\ttwo\n\tE\n",
    "cat <<'E' 2>&1 | wc -c\nE\n",
    "time { echo x; } 2>&1",
]


def _respelled(command: str) -> str | None:
    source = command.encode()
    found = respell(source, Lexer(source.decode("latin-1")).scan().here_documents)
    return None if found is None else found.decode()


def _output(command: str) -> bytes:
    return subprocess.run(["bash", "-c", command], capture_output=True, check=False).stdout


@pytest.mark.parametrize("command", [one for one in REDIRECTED if "wc -c" not in one])
def test_the_other_spelling_does_the_same(command: str) -> None:
    plainer = _respelled(command)
    assert plainer is not None
    assert plainer != command
    assert _output(plainer) == _output(command)


@pytest.mark.parametrize("command", REDIRECTED)
def test_what_is_respelled_is_judged(engine: Engine, command: str) -> None:
    rules = ["Bash(cat *)", "Bash(sort *)", "Bash(echo *)", "Bash(wc *)", "Bash(time)"]
    found = engine.bash(command, allow=rules)
    assert found.behavior is Behavior.ALLOW, found.message


@pytest.mark.parametrize(
    "command",
    [
        "cat <<E 2>&1 | head\n$(id)\nE", "cat <<E 2>&1 | head\n`id`\nE",
        "cat <<E 2>&1 | head\n\\\nE\nid", "cat <<'E' 2>&1 | head \\\nb\nE\nid\nE",
        "cat <<'E' 2>&1 | head $(id)\nb\nE", "cat <<'E' 2>&1 | (\nb\nE\nid)",
        "cat <<'E' | head # '\nb\nE\nid #'", "(cat <<'E' 2>&1 | head\nb\nE\n)",
        "echo $(cat <<'E' 2>&1 | head\nb\nE\n)", "cat <<'E' <<'F' | head\nE\nF", "cat x | head",
    ],
)  # fmt: skip
def test_what_is_not_certain_stays_as_it_is(command: str) -> None:
    assert _respelled(command) is None


@pytest.mark.parametrize(
    "command",
    [
        "cat <<'E' 2>&1 | rm x\nb\nE", "cat > f <<'E'; rm x\nb\nE", "sh <<'E' 2>&1 | head\nrm x\nE",
        "sh - <<'E' 2>&1 | head\nrm x\nE", "bash <<-'E' 2>&1 | cat\n\trm x\n\tE",
        "cat <<'E' 2>&1 | head\nb\nE\nrm x", "time { rm x; }", "time -p { ls; rm x; } | head",
        "time { ls; }; rm x", "cat <<'E' 2>&1 | head\nb\n E\nE\nrm x", "rm - > x", "rm x - > y",
        "echo 'rm x' | sh - 2>&1",
    ],
)  # fmt: skip
def test_a_deny_sees_what_is_respelled(engine: Engine, command: str) -> None:
    found = engine.bash(command, allow=["Bash", "Edit"], deny=["Bash(rm *)"], mode=Mode.BYPASS)
    assert found.behavior is Behavior.DENY, found.message
