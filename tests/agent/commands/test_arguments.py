"""Arguments in the text of commands."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.commands.arguments import CommandArguments, first_number, substitute, uses_arguments
from agent.commands.template import ShellPart, TextPart, parse_template


@pytest.mark.parametrize(
    ("template", "arguments", "expected"),
    [
        pytest.param("Fix $ARGUMENTS.", CommandArguments("a b"), "Fix a b.", id="all"),
        pytest.param("$1 then $2", CommandArguments("'a b' c"), "a b then c", id="quotes"),
        pytest.param("$1|$3", CommandArguments("a"), "a|", id="missing is empty"),
        pytest.param("$0 $1", CommandArguments("a b", first=0), "a b", id="skills count from 0"),
        pytest.param("$ARGUMENTS[1]", CommandArguments("a b"), "b", id="index counts from 0"),
        pytest.param(r"\$1 \$ARGUMENTS", CommandArguments("a"), "$1 $ARGUMENTS", id="escaped"),
        pytest.param("$who", CommandArguments("ada", names=("who",)), "ada", id="named"),
        pytest.param("$HOME ${HOME}", CommandArguments("a"), "$HOME ${HOME}", id="others stay"),
        pytest.param("${A}", CommandArguments("", variables={"A": "x"}), "x", id="variable"),
        pytest.param("$1", CommandArguments("it's"), "it's", id="open quote"),
        pytest.param(
            "costs $100", CommandArguments("a"), "costs $100", id="three digits are money"
        ),
    ],
)
def test_placeholders(template: str, arguments: CommandArguments, expected: str) -> None:
    assert substitute(template, arguments) == expected


@given(st.text(max_size=40))
def test_values_are_never_read_again(text: str) -> None:
    assert substitute("<$ARGUMENTS>", CommandArguments(text)) == f"<{text}>"


def test_a_text_that_uses_zero_counts_from_zero() -> None:
    assert first_number("Do $0 and $1", 1) == 0
    assert first_number("Do $1", 1) == 1


def test_whether_arguments_have_a_place() -> None:
    assert uses_arguments("x $1")
    assert uses_arguments("x $who", ("who",))
    assert not uses_arguments("x $who ${CLAUDE_SESSION_ID}")


def test_commands_are_cut_out_before_arguments_go_in() -> None:
    parts = parse_template("Status: !`git status`\n```!\ngit log\n```\n")
    assert parts == (
        TextPart("Status: "),
        ShellPart("git status"),
        TextPart("\n"),
        ShellPart("git log"),
    )


def test_code_that_only_shows_a_command_runs_nothing() -> None:
    body = "Like this:\n```md\n!`rm -rf /`\n```\nor wow!`x`"
    assert parse_template(body) == (TextPart(body),)


@given(st.text(alphabet="a!`\n $~", max_size=60))
def test_nothing_of_a_template_gets_lost(body: str) -> None:
    text = "".join(p.text for p in parse_template(body) if isinstance(p, TextPart))
    commands = [p for p in parse_template(body) if isinstance(p, ShellPart)]
    assert commands or text == body
