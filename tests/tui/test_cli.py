"""The entry point takes short cuts that must give what the command line parser gives."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from agent.options import RunOptions
from tui import cli
from tui.command_line.command_line import run
from tui.input.early_prompt import EarlyPrompt


@pytest.mark.parametrize(
    "arguments", [[], ["fix the test"], ["sessions of yesterday"], ["-c"], ["--continue"]]
)
def test_a_plain_start_has_the_options_that_the_parser_reads(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[RunOptions] = []

    def start(options: RunOptions, early: EarlyPrompt | None = None) -> int:
        assert early is None, "there is no terminal"
        seen.append(options)
        return 7

    monkeypatch.setattr("tui.startup.start.start", start)
    assert cli.main(arguments) == 7
    assert run.main(arguments, prog_name="agent-tui", standalone_mode=False) == 7
    assert seen[0] == seen[1]


@pytest.mark.parametrize("arguments", [["--nonsense"], ["", "two"], ["sessions", "--nonsense"]])
def test_bad_usage_is_an_exit_status(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(arguments) == 2
    assert "Usage: agent-tui" in capsys.readouterr().err


def test_a_parent_that_ignores_its_children_hands_that_down_to_no_one() -> None:
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        assert cli.main(["--version"]) == 0
        assert signal.getsignal(signal.SIGCHLD) is signal.SIG_DFL
    finally:
        signal.signal(signal.SIGCHLD, before)


@pytest.mark.parametrize(
    ("value", "expected"),
    [("~/x", "{home}/x"), ("x/y", "{cwd}/x/y"), ("/x/y", "/x/y"), (" ", None)],
)
def test_the_agents_home_is_one_directory_for_every_reader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str, expected: str | None
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AGENT_TUI_HOME", value)
    assert cli.main(["--version"]) == 0
    directory = expected and expected.format(home=tmp_path / "home", cwd=tmp_path)
    assert os.environ.get("AGENT_TUI_HOME") == directory
