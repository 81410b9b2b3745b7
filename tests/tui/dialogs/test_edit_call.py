"""A call edited in the permission dialog: what is taken, what becomes of it, what is never lost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agent.display import DiffDisplay
from permissions.base.text.sanitize import reveal
from permissions.decision import (
    Behavior,
    Decision,
    DecisionSource,
    GrantChoice,
    Reason,
    TraceEntry,
    TraceStep,
)
from permissions.request import PermissionRequest
from tests.tui.dialogs.test_dialogs import PENDING, drawn, press
from tui.dialogs.call_text import NotACall, call_text, input_with
from tui.dialogs.permission import PermissionDialog
from tui.dialogs.permission_ask import GrantOffer, JudgeAgain, PermissionAsk
from tui.dialogs.text_area import TextArea
from tui.text.highlight import Highlighter

ASK = replace(PENDING, parts=(), trace=())
ALLOW = replace(ASK, behavior=Behavior.ALLOW, reason=Reason.ALLOW_RULE)
DENY = replace(
    ASK,
    behavior=Behavior.DENY,
    reason=Reason.DENY_RULE,
    message="the deny rule Bash(curl *) applies",
)


def judged(decision: Decision, *offers: GrantOffer) -> JudgeAgain:
    return lambda request: PermissionAsk(request, decision, offers=offers)


def opened(
    tool: str = "Bash",
    given_input: dict[str, Any] | None = None,
    *,
    display: DiffDisplay | None = None,
    pending: Decision = ASK,
    judge: JudgeAgain | None = None,
    editor: Any = None,
    offers: Sequence[GrantOffer] = (),
) -> PermissionDialog:
    request = PermissionRequest(tool, given_input or {"command": "make a"}, tool_use_id="u")
    ask = PermissionAsk(request, pending, display, tuple(offers))
    return PermissionDialog(ask, Highlighter(), editor, judge=judge)


def write(dialog: PermissionDialog, text: str) -> None:
    for character in text:
        dialog.press(character, character, None)


async def test_without_an_editor_a_command_is_edited_in_the_dialog() -> None:
    dialog = opened(judge=judged(ASK))
    press(dialog, "e")
    assert "❯ make a" in drawn(dialog)
    assert "1. Yes" not in drawn(dialog)
    write(dialog, "bc")
    press(dialog, "ctrl+j")
    write(dialog, "yn 1")
    press(dialog, "enter")
    assert "make abc\n" in drawn(dialog)
    assert "Run your changed version?" in drawn(dialog)
    assert not dialog.is_done
    press(dialog, "enter")
    decision = await dialog.wait()
    assert decision.updated_input == {"command": "make abc\nyn 1"}


async def test_what_rules_allow_runs_as_it_was_taken() -> None:
    dialog = opened(judge=judged(ALLOW))
    press(dialog, "e", "backspace", "enter")
    decision = await dialog.wait()
    assert decision.behavior is Behavior.ALLOW
    assert decision.source is DecisionSource.USER
    assert decision.updated_input == {"command": "make "}


async def test_a_hook_that_asked_is_not_got_round_by_an_edit() -> None:
    asked = replace(
        ASK,
        source=DecisionSource.HOOK,
        message="a hook asks: look twice",
        trace=(TraceEntry(TraceStep.HOOK, "ask", "a hook"),),
    )
    dialog = opened(pending=asked, judge=judged(ALLOW))
    press(dialog, "e", "backspace", "enter")
    assert not dialog.is_done
    assert "a hook asks: look twice" in drawn(dialog)
    press(dialog, "ctrl+y")
    assert "Hook        asks (a hook)" in drawn(dialog)


async def test_what_would_be_denied_cannot_be_said_yes_to() -> None:
    dialog = opened(judge=judged(DENY))
    press(dialog, "e", "x", "enter", "y")
    shown = drawn(dialog)
    assert "the deny rule Bash(curl *) applies" in shown
    assert "Your version would be denied. Edit it (e), or say no." in shown
    assert "Yes" not in shown
    assert not dialog.is_done
    press(dialog, "enter")
    assert (await dialog.wait()).behavior is Behavior.DENY


async def test_escape_leaves_the_call_as_it_was_and_the_dialog_open() -> None:
    dialog = opened(judge=judged(DENY))
    press(dialog, "e")
    write(dialog, " --now")
    press(dialog, "escape")
    assert not dialog.is_done
    assert "--now" not in drawn(dialog)
    press(dialog, "enter")
    assert (await dialog.wait()).updated_input is None


async def test_an_edit_taken_back_is_the_models_call_again() -> None:
    offer = GrantOffer(GrantChoice(("Bash(make a)",), "session"))
    dialog = opened(judge=judged(ASK), offers=[offer])
    press(dialog, "e", "x", "enter")
    assert "Bash(make a)" not in drawn(dialog)
    press(dialog, "e", "backspace", "enter")
    assert "Bash(make a)" in drawn(dialog)
    press(dialog, "enter")
    assert (await dialog.wait()).updated_input is None


async def test_what_could_be_stored_is_what_fits_the_new_call() -> None:
    new = GrantOffer(GrantChoice(("Bash(make b)",), "session"))
    dialog = opened(judge=judged(ASK, new))
    press(dialog, "e", "backspace", "b", "enter", "2")
    decision = await dialog.wait()
    assert decision.grant == new.choice
    assert decision.updated_input == {"command": "make b"}


async def test_a_comment_outlives_an_edit() -> None:
    dialog = opened(judge=judged(ASK))
    press(dialog, "tab")
    write(dialog, "careful")
    press(dialog, "tab", "e", "x", "enter", "enter")
    assert (await dialog.wait()).feedback == "careful"


async def test_an_editor_that_fails_is_reported_and_loses_nothing() -> None:
    dialog = opened(editor=lambda _text, _name: None)
    press(dialog, "e", "x", "ctrl+g")
    assert "The editor failed" in drawn(dialog)
    assert dialog.typed_text == "make ax"
    press(dialog, "enter")
    assert "make ax" in drawn(dialog)


async def test_an_editor_takes_over_what_was_typed() -> None:
    dialog = opened(editor=lambda text, _name: text + " -j2\n", judge=judged(ASK))
    press(dialog, "e", "x", "ctrl+g", "enter", "enter")
    assert (await dialog.wait()).updated_input == {"command": "make ax -j2"}


async def test_what_an_editor_made_too_long_for_here_is_taken_at_once() -> None:
    dialog = opened(editor=lambda _text, _name: "x" * 30_000, judge=judged(ASK))
    press(dialog, "e", "ctrl+g", "enter")
    assert (await dialog.wait()).updated_input == {"command": "x" * 30_000}


async def test_the_key_of_the_editor_edits_here_where_there_is_none() -> None:
    dialog = opened()
    press(dialog, "ctrl+g")
    assert "Edit the command" in drawn(dialog)


CHANGE = DiffDisplay("n.txt", "one\ntwo\n", "one\nTWO\n")


async def test_the_new_text_of_an_edit_is_edited_without_an_editor() -> None:
    given_input = {"file_path": "/n.txt", "old_string": "two", "new_string": "TWO"}
    dialog = opened("Edit", given_input, display=CHANGE, judge=judged(ASK))
    press(dialog, "e")
    assert "❯ TWO" in drawn(dialog)
    write(dialog, "!")
    press(dialog, "enter")
    assert "TWO!" in drawn(dialog)
    assert "Use your changed version?" in drawn(dialog)
    press(dialog, "enter")
    assert (await dialog.wait()).updated_input == {**given_input, "new_string": "TWO!"}


async def test_the_input_of_another_tool_is_edited_as_json() -> None:
    dialog = opened("mcp__shop__buy", {"item": "tea", "count": 2}, judge=judged(ASK))
    press(dialog, "e", "backspace", "enter")
    assert "This is not valid JSON" in drawn(dialog)
    write(dialog, "}")
    press(dialog, "up", "end", "backspace")
    write(dialog, "1")
    press(dialog, "enter", "enter")
    assert (await dialog.wait()).updated_input == {"item": "tea", "count": 1}


async def test_a_command_of_nothing_is_no_call() -> None:
    dialog = opened()
    press(dialog, "e", "ctrl+u", "enter")
    assert "The command is empty" in drawn(dialog)
    press(dialog, "escape")
    assert "make a" in drawn(dialog)


async def test_a_text_that_no_key_could_lay_out_needs_an_editor() -> None:
    dialog = opened(given_input={"command": "x" * 30_000})
    press(dialog, "e")
    assert "too long to edit here" in drawn(dialog)
    assert not dialog.is_done


async def test_a_paste_that_no_key_could_lay_out_is_left_out_and_reported() -> None:
    dialog = opened()
    press(dialog, "e")
    dialog.paste("x" * 30_000)
    assert "nothing was pasted" in drawn(dialog)
    assert dialog.typed_text == ""


TEXTS = st.text(
    st.sampled_from("ab \t\n\r\x1b\x07\u202e\u200d👩\ud800\U0010f000é\u0301漢") | st.characters(),
    max_size=60,
)


@given(TEXTS)
def test_a_text_that_no_one_changed_is_the_same(text: str) -> None:
    assert TextArea(text).text == text


@given(TEXTS, st.integers(4, 40))
def test_nothing_unseen_is_drawn(text: str, width: int) -> None:
    for line in TextArea(text).rows(width):
        assert reveal(line.row.text) == line.row.text
        assert "\t" not in line.row.text


@given(TEXTS, TEXTS)
def test_a_paste_keeps_what_is_unseen(before: str, pasted: str) -> None:
    area = TextArea(before)
    area.paste(pasted)
    assert area.text == before + pasted.replace("\r\n", "\n")


@pytest.mark.parametrize("tool", ["Bash", "Edit", "Write", "mcp__a__b"])
@given(given_input=st.dictionaries(st.text(max_size=4), st.text(max_size=9), max_size=3))
def test_a_text_makes_the_call_that_it_came_from(tool: str, given_input: dict[str, str]) -> None:
    try:
        assert input_with(tool, given_input, call_text(tool, given_input).text) == given_input
    except NotACall:
        assert tool == "Bash"
