"""What a card shows of a result that is no output of a command."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from agent.display import CommandDisplay, DiffDisplay
from agent.tools.decline_text import UNANSWERED, declined_with, plan_rejected_with
from tui.text.highlight import Highlighter
from tui.transcript.block_rows import needs_gap
from tui.transcript.blocks import ToolCard, UserMessage
from tui.transcript.tool_card import tool_card_rows


def shown(name: str, result: str, elapsed_s: float = 0.0) -> list[str]:
    card = ToolCard("u1", name, f"{name} x", "ok", {}, 0.0, result=result, elapsed_s=elapsed_s)
    rows = tool_card_rows(card, 40, is_detailed=False, highlighter=Highlighter())
    return [row.text.rstrip() for row in rows]


def test_all_answers_of_the_user_are_shown_and_not_how_long_they_took() -> None:
    lines = "\n".join(f"Which {number}?\n→ {number}" for number in range(4))
    rows = shown("AskUserQuestion", f"The user answered:\n\n{lines}", 30.0)
    assert rows[0].strip().endswith("x")
    assert [row.strip(" └") for row in rows[1:]] == lines.splitlines()


def test_sentences_of_our_tools_are_broken_between_words() -> None:
    rows = shown("EnterPlanMode", "Plan mode is on: writes and commands are refused here.")
    assert [row.strip(" └") for row in rows[1:]] == [
        "Plan mode is on: writes and commands",
        "are refused here.",
    ]


def test_all_output_of_the_users_own_command_is_shown() -> None:
    output = "\n".join(map(str, range(30)))
    display = CommandDisplay("seq 30", output, 0)
    card = ToolCard("u1", "Bash", "Bash seq 30", "ok", {}, 0.0, display=display, is_users=True)
    rows = tool_card_rows(card, 40, is_detailed=False, highlighter=Highlighter())
    assert [row.text.strip(" └") for row in rows] == output.split("\n")


def test_the_lines_that_the_output_leaves_out_count_as_earlier_lines() -> None:
    note = "[… 2,000 characters, 1,003 lines, left out here; all of it is in x …]"
    output = "\n".join(["1", "", note, "", *map(str, range(9))])
    display = CommandDisplay("seq", output, 0)
    card = ToolCard("u1", "Bash", "Bash seq", "ok", {}, 0.0, display=display)
    rows = tool_card_rows(card, 40, is_detailed=False, highlighter=Highlighter())
    assert rows[1].text == " └ … 1,009 earlier lines (ctrl+o)"


def test_the_users_own_command_is_not_repeated_below_itself() -> None:
    typed = UserMessage("p1", "!make", "shell")
    card = ToolCard("u1", "Bash", "Bash make", "running", {}, 0.0, is_users=True)
    rows = tool_card_rows(card, 40, is_detailed=False, highlighter=Highlighter())
    assert [row.text.strip(" └") for row in rows] == ["running"]
    assert not needs_gap(typed, card, is_detailed=False)
    display = CommandDisplay("make", "done", 0)
    done = replace(card, state="ok", display=display, elapsed_s=3.2)
    rows = tool_card_rows(done, 40, is_detailed=False, highlighter=Highlighter())
    assert [row.text.strip(" └") for row in rows] == ["done", "3.2 s"]


def test_a_declined_call_of_a_resumed_conversation_is_reported_in_words_for_the_user() -> None:
    card = ToolCard("u1", "Bash", "Bash x", "denied", {}, 0.0, result=declined_with("use make"))
    rows = tool_card_rows(card, 60, is_detailed=False, highlighter=Highlighter())
    assert rows[1].text.strip(" └") == "Denied by you “use make”"


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (plan_rejected_with(""), "Rejected by you; plan mode stays on"),
        (plan_rejected_with("no tests"), "Rejected by you; plan mode stays on “no tests”"),
        (f"{UNANSWERED} Do not ask the same again.", "You declined to answer"),
    ],
)
def test_what_the_user_rejected_is_shown_in_words_for_the_user(result: str, text: str) -> None:
    card = ToolCard("u1", "ExitPlanMode", "Plan", "failed", {}, 0.0, result=result)
    rows = tool_card_rows(card, 60, is_detailed=False, highlighter=Highlighter())
    assert [each.text.strip(" └") for each in rows[1:]] == [text]


def test_the_note_of_a_background_command_breaks_between_words() -> None:
    note = "In the sandbox: your browser cannot reach its ports."
    display = CommandDisplay("make", note, None, background_id="bash_1")
    card = ToolCard("u1", "Bash", "Bash make", "ok", {}, 0.0, display=display)
    rows = tool_card_rows(card, 40, is_detailed=False, highlighter=Highlighter())
    assert [row.text for row in rows[2:]] == [
        "   In the sandbox: your browser cannot",
        "   reach its ports.",
    ]


def test_the_file_of_a_call_is_a_link() -> None:
    card = ToolCard("u1", "Read", "Read a b.py", "ok", {"file_path": "/w/a b.py"}, 0.0)
    (head,) = tool_card_rows(card, 40, is_detailed=False, highlighter=Highlighter())
    assert [text for text, ink in head.runs if ink.link == "file:///w/a%20b.py"] == ["a b.py"]


@pytest.mark.parametrize(
    ("given", "change", "line"),
    [
        ({"offset": 40}, None, "#40"),
        ({}, DiffDisplay("a.py", "a\nb\nc\n", "a\nb\nx\n"), "#3"),
        ({}, DiffDisplay("a.py", "a\nb\n", "a\nb\nc\n", first_line=10), "#12"),
        ({}, DiffDisplay("a.py", "", "a\n", is_new=True), ""),
    ],
)
def test_the_link_names_the_line(
    given: dict[str, object], change: DiffDisplay | None, line: str
) -> None:
    call = {"file_path": "/w/a.py", **given}
    card = ToolCard("u1", "Edit", "Edit a.py", "ok", call, 0.0, display=change)
    head = tool_card_rows(card, 40, is_detailed=False, highlighter=Highlighter())[0]
    assert f"file:///w/a.py{line}" in [ink.link for _, ink in head.runs]


def test_a_search_that_was_not_complete_is_reported() -> None:
    left_out = "left out by permission rules: 2 files"
    note = f"[{left_out}; not searched, since the sandbox hides credentials: ~/.ssh]"
    rows = [row.strip(" └") for row in shown("Grep", f"a.py\n\n{note}")]
    assert rows[1:] == ["not searched, since the sandbox", "hides credentials: ~/.ssh"]
    assert len(shown("Grep", f"a.py\n\n[{left_out}]")) == 1
