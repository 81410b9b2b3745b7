"""The completion scripts, asked by the shells they are for."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tui.command_line.shell_completion import SCRIPTS, Flag, Node, Takes, zsh_script
from tui.command_line.subcommands.completion import command_tree

BASH_ASKS = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_agent_tui
printf '%s\\n' "${COMPREPLY[@]}"
"""

CASES = [
    (["agent-tui", "perm"], {"permissions"}),
    (["agent-tui", "--effort", "x"], {"xhigh"}),
    (["agent-tui", "--permission-mode", "accept"], {"acceptEdits"}),
    (["agent-tui", "permissions", "ex"], {"explain"}),
    (["agent-tui", "sessions", "export", "--form"], {"--format"}),
    (["agent-tui", "completion", "f"], {"fish"}),
    (["agent-tui", "config", "set", "them"], {"theme"}),
    (["agent-tui", "config", "get", "outputS"], {"outputStyle"}),
    (["agent-tui", "config", "set", "editorMode", "v"], {"vim"}),
    (["agent-tui", "config", "set", "--json", "reducedMotion", ""], {"true", "false"}),
    (["agent-tui", "config", "set", "theme", "au"], {"auto"}),
    (["agent-tui", "config", "set", "model", "mod"], set()),
    (["agent-tui", "hooks", "run", "PreTool"], {"PreToolUse"}),
    (["agent-tui", "--resume", "perm"], {"permissions"}),
]


def script(tmp_path: Path, shell: str) -> Path:
    file = tmp_path / f"completion.{shell}"
    file.write_text(SCRIPTS[shell](command_tree()))
    return file


@pytest.mark.parametrize(("words", "offered"), CASES, ids=lambda value: str(value))
def test_bash_offers(tmp_path: Path, words: list[str], offered: set[str]) -> None:
    asked = subprocess.run(
        ["bash", "-c", BASH_ASKS, "-", str(script(tmp_path, "bash")), *words],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert (set(asked.stdout.split()), asked.stderr) == (offered, "")


def test_bash_leaves_file_names_to_readline(tmp_path: Path) -> None:
    asked = subprocess.run(
        ["bash", "-c", BASH_ASKS, "-", str(script(tmp_path, "bash")),
         "agent-tui", "--settings", ""],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert asked.stdout.split() == []


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
@pytest.mark.parametrize(("words", "offered"), CASES, ids=lambda value: str(value))
def test_fish_offers(tmp_path: Path, words: list[str], offered: set[str]) -> None:
    asked = subprocess.run(
        ["fish", "--no-config", "-c",
         f"source {script(tmp_path, 'fish')}; complete -C '{' '.join(words)}'"],
        capture_output=True, text=True, check=True,
        env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    found = {line.split("\t")[0] for line in asked.stdout.splitlines()}
    assert offered <= found
    assert "modelProviders" not in found


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
def test_zsh_accepts_its_script(tmp_path: Path) -> None:
    file = script(tmp_path, "zsh")
    load = (
        f"autoload -U compinit; compinit -D; source {file}; whence -w _agent_tui_permissions_check"
    )
    asked = subprocess.run(
        ["zsh", "-f", "-c", load], capture_output=True, text=True, check=True,
        env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    assert (asked.stdout.strip(), asked.stderr) == ("_agent_tui_permissions_check: function", "")


def test_help_with_signs_of_the_shell_stays_text() -> None:
    flag = Flag(("--x",), "it's [a]: $(rm)", Takes.TEXT)
    assert "'*--x[it'\\''s \\[a\\]\\: $(rm)]:value: '" in zsh_script(Node("agent-tui", "", (flag,)))


def test_every_option_of_the_command_line_is_known() -> None:
    from tui.command_line.command_line import run

    shown = {name for flag in command_tree().flags for name in flag.names}
    given = {
        name
        for option in run.params
        if not getattr(option, "hidden", False)
        for name in option.opts
        if name.startswith("-")
    }
    assert given <= shown


def test_values_that_may_be_files_or_text_are_completed_as_files() -> None:
    takes = {name: flag.takes for flag in command_tree().flags for name in flag.names}
    assert {takes[name] for name in ("--settings", "--mcp-config", "--system-prompt-file")} == {
        Takes.FILE
    }
    assert takes["--permission-mode"] is Takes.WORD
    assert takes["--session-id"] is Takes.TEXT
