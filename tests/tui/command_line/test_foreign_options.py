"""Command lines that users bring from other agents."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from agent.options import RunOptions
from tests.repo.checkout import ROOT
from tui import cli
from tui.command_line.command_line import run
from tui.command_line.foreign_options import INSTEAD, WORDS, repeat_options
from tui.input.early_prompt import EarlyPrompt

UUID = "0a1b2c3d-0000-4000-8000-00000000beef"


@pytest.mark.parametrize(
    ("typed", "understood"),
    [
        ("--allowedTools Read Edit", "--allowedTools Read --allowedTools Edit"),
        ("--allowedTools 'Bash(git log:*)' mcp__a__b go",
         "--allowedTools 'Bash(git log:*)' --allowedTools mcp__a__b go"),
        ("--allowedTools Read 'Look at it'", "--allowedTools Read 'Look at it'"),
        ("--allowedTools Read -p Edit", "--allowedTools Read -p Edit"),
        ("--add-dir a ../b ~/c why", "--add-dir a --add-dir ../b --add-dir '~/c' why"),
        ("--allow Read Edit", "--allow Read Edit"),
        ("--debug=api hi", "--debug hi"),
        ("-p -- --debug=api", "-p -- --debug=api"),
    ],
)  # fmt: skip
def test_several_values_in_a_row(typed: str, understood: str) -> None:
    assert repeat_options(shlex.split(typed)) == shlex.split(understood)


def options_of(*arguments: str) -> RunOptions:
    seen: list[RunOptions] = []

    def start(options: RunOptions, _early: EarlyPrompt | None) -> int:
        seen.append(options)
        return 0

    context = run.make_context("agent-tui", list(arguments))
    with context, pytest.MonkeyPatch.context() as patch:
        patch.setattr("tui.startup.start.start", start)
        run.invoke(context)
    return seen[0]


def test_rules_and_directories_without_an_option_each(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    directories = (tmp_path, tmp_path / "b")
    arguments = [
        "--disallowedTools",
        "Bash",
        "Edit",
        "--add-dir",
        *map(str, directories),
        "-p",
        "go",
    ]
    options = options_of(*arguments)
    assert options.disallowed_tools == ("Bash", "Edit")
    assert (options.add_dirs, options.prompt) == (directories, "go")


def test_system_prompts_from_files(tmp_path: Path) -> None:
    file = tmp_path / "a b.md"
    file.write_text("Be kurz.")
    options = options_of("--append-system-prompt-file", str(file), "--system-prompt", "x")
    assert (options.append_system_prompt, options.system_prompt) == ("Be kurz.", "x")
    with pytest.raises(click.UsageError, match="either --system-prompt or --system-prompt-file"):
        options_of("--system-prompt-file", str(file), "--system-prompt", "x")
    file.write_bytes(b"\xff")
    with pytest.raises(click.UsageError, match="not UTF-8 text"):
        options_of("--system-prompt-file", str(file))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--json-schema", "{}"], "--json-schema goes with -p"),
        (["--worktree=x", "--demo"], "--worktree goes without --bg and --demo"),
        (["--permision-mode", "plan"], "--permission-mode"),
        (["fix", "the", "test"], "in quotes"),
        (["--add-dir", "/there/is/none"], "does not exist"),
        (["login"], "ANTHROPIC_API_KEY"),
        (["doctorr"], "Did you mean 'doctor'?"),
    ],
)
def test_what_is_not_here_explains_what_to_do(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(arguments) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-c", "-r"], "only one of them"),
        (["-c", "-r", "abcd", "-p", "x"], "only one of them"),
        (["--fork-session", "-p", "x"], "goes with -c or -r"),
        (["-c", "--session-id", UUID], "goes with --fork-session"),
        (["--session-id", "abcd"], "not a valid UUID"),
        (["--dangerously-skip-permissions", "--permission-mode", "plan"], "opposite things"),
        (["-p", "x", "--include-partial-messages"], "needs --output-format stream-json"),
        (["-p", "--input-format", "stream-json"], "needs --output-format stream-json"),
        (["--permission-prompt-tool", "ask", "-p", "x"], "takes stdio, or the tool of an MCP"),
        (["--permission-prompt-tool", "mcp__a__b", "x"], "goes with -p"),
        (["--permission-prompt-tool", "stdio", "-p", "x"], "needs --input-format stream-json"),
        (["--permission-mode", "Plan", "-p", "x"], "'plan', 'auto', 'dontAsk'"),
        (["--init-only", "x"], "-p and --init"),
        (["--max-budget-usd", "nan", "-p", "x"], "not a valid amount"),
        *((["-p", "x", flag, " "], "empty") for flag in
          ("--model", "--settings", "--mcp-config", "--name", "--fallback-model")),
    ],
)  # fmt: skip
def test_what_cannot_go_together_is_refused(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(arguments) == 2
    assert said in capsys.readouterr().err


def test_a_session_has_an_id_and_a_name_from_the_command_line() -> None:
    options = options_of("--session-id", UUID.upper(), "-n", "a b", "-p", "x")
    assert (options.session_id, options.name) == (UUID, "a b")


def test_models_that_take_over_are_a_list() -> None:
    assert options_of("--fallback-model", "sonnet, haiku").fallback_models == ("sonnet", "haiku")


def test_settings_that_are_text_stay_as_they_are() -> None:
    text = '{"permissions": {"deny": ["Read(//etc/**)"]}}'
    assert options_of("--settings", text, "--mcp-config", "{ }//").settings_file == text


@pytest.mark.parametrize("form", ["json", "stream-json"])
def test_forms_for_programs_have_no_screen(form: str) -> None:
    assert options_of("--output-format", form, "x").headless


@pytest.mark.parametrize("word", ["help", "version"])
def test_words_that_mean_an_option(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([word]) == 0
    told = capsys.readouterr().out
    assert cli.main([f"--{word}"]) == 0
    assert capsys.readouterr().out == told


@pytest.mark.parametrize("prompt", ["login", "fix", "doctorr"])
def test_two_dashes_make_any_word_a_prompt(prompt: str) -> None:
    assert options_of("--", prompt).prompt == prompt


def test_options_that_are_here_are_not_talked_away() -> None:
    own = {name for parameter in run.params for name in parameter.opts}
    assert own.isdisjoint(INSTEAD)
    assert "doctor" not in WORDS


def test_each_subcommand_that_the_documentation_translates_is_answered() -> None:
    page = (ROOT / "docs" / "start.md").read_text()
    words = re.findall(r"`(?:codex|opencode) ([a-z]+)", page)
    assert {"exec", "run", "resume", "execpolicy"} == set(words)
    assert set(words) <= set(WORDS)


def test_short_options_that_are_known_from_elsewhere() -> None:
    given = options_of("-m", "opus", "-d", "x")
    assert (given.model, given.debug) == ("opus", True)


def test_sources_of_settings_are_named_or_none_at_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert options_of("x").setting_sources is None
    assert options_of("--setting-sources", "user, local").setting_sources == ("user", "local")
    assert options_of("--setting-sources=", "x").setting_sources == ()
    assert cli.main(["--setting-sources", "mine", "x"]) == 2
    assert "'mine' is not one of user, project, local" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        "--no-session-persistence x",
        "--no-session-persistence -c -p x",
        "--replay-user-messages -p x",
    ],
)
def test_options_of_streams_and_scripts_say_what_they_go_with(arguments: str) -> None:
    assert cli.main(shlex.split(arguments)) == 2


@pytest.mark.parametrize(("tokens", "thinks"), [("0", False), ("2000", True)])
def test_a_budget_for_thinking_says_whether_to_think(tokens: str, thinks: bool) -> None:
    assert options_of("--max-thinking-tokens", tokens, "x").wants_thinking is thinks


def test_only_a_run_without_a_screen_takes_a_modes_name_for_its_permission() -> None:
    mode = ("--permission-mode", "bypassPermissions")
    assert options_of("-p", "x", *mode).allow_bypass
    assert not options_of("x", *mode).allow_bypass
