"""Dialogs as lines, and typed lines as answers; the dialogs are those of the drawn screen."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from permissions.decision import Behavior, TraceEntry, TraceStep
from permissions.request import PermissionRequest
from tests.screens.test_screens import DIALOGS
from tests.tui.dialogs.test_dialogs import BASH, OFFER, PENDING, QUESTIONS, permission
from tests.tui.dialogs.test_hunks import CHANGE, NEW, WRITE
from tests.tui.transcript.samples import DIFF
from tui.dialogs.onboarding import OnboardingDialog
from tui.dialogs.permission import PermissionDialog
from tui.dialogs.permission_ask import PermissionAsk
from tui.dialogs.question import QuestionDialog
from tui.panels.list_panel import Item, ListPanel
from tui.panels.text_panel import TextPanel, text_rows
from tui.screen_reader.dialog_lines import (
    LineEffect,
    answer,
    answer_hint,
    dialog_lines,
    is_read_only,
)
from tui.text.highlight import Highlighter

DRAWN = set("─│┌┐└┘├┤╭╮╰╯═║❯◆•☑☐●▏█▌")


async def test_a_permission_is_read_in_the_order_of_the_decision() -> None:
    assert dialog_lines(permission()) == [
        "Run this command?",
        "pytest -q && git push",
        "allow pytest -q, Bash(pytest *) — ~/.agent/settings.json:12",
        "ask   git push, nothing matches",
        "No rule covers git push, and manual mode asks.",
        "1. Yes (selected)",
        "2. Yes, always in this project, Bash(git push), .agent/settings.local.json",
        "3. No, and stop",
        "4. No, and tell it why",
    ]


async def test_a_change_is_read_line_by_line() -> None:
    lines = dialog_lines(PermissionDialog(PermissionAsk(BASH, PENDING, DIFF), Highlighter()))
    assert lines[2:4] == [
        "line 2 removed:     text = text.lower()",
        "line 2 added:     text = normalise(text).lower()",
    ]


async def test_a_command_is_read_as_it_is() -> None:
    command = "echo 'a  b' … ❯  •"
    dialog = permission(request=PermissionRequest("Bash", {"command": command}))
    assert command in dialog_lines(dialog)


@pytest.mark.parametrize("name", DIALOGS)
async def test_nothing_drawn_is_read(name: str) -> None:
    lines = dialog_lines(DIALOGS[name]())
    assert set("".join(lines)) & DRAWN == set()
    assert any(line.startswith("1. ") for line in lines)


@pytest.mark.parametrize(
    ("line", "behavior", "feedback"),
    [
        ("1", Behavior.ALLOW, None),
        ("yes", Behavior.ALLOW, None),
        ("1 but only once", Behavior.ALLOW, "but only once"),
        ("2", Behavior.ALLOW, None),
        ("3", Behavior.DENY, None),
        ("esc", Behavior.DENY, None),
        ("no, use make", Behavior.DENY, "use make"),
        ("4: use make", Behavior.DENY, "use make"),
    ],
)
async def test_an_answer_decides(line: str, behavior: Behavior, feedback: str | None) -> None:
    dialog = permission()
    assert answer(dialog, line) is LineEffect.APPLIED
    decision = await dialog.wait()
    assert (decision.behavior, decision.feedback) == (behavior, feedback)
    assert (decision.grant == OFFER.choice) is (line == "2")


@pytest.mark.parametrize("line", ["", "   ", "fix the other test too", "yes please", "5", "0", "!"])
async def test_what_was_meant_as_something_else_decides_nothing(line: str) -> None:
    dialog = permission()
    assert answer(dialog, line) is LineEffect.NOT_APPLIED
    assert not dialog.is_done


@pytest.mark.parametrize("word", ["ctrl+y", "why"])
async def test_the_trace_is_read_on_demand(word: str) -> None:
    dialog = permission()
    answer(dialog, word)
    assert "How this was decided (» = deciding step)" in dialog_lines(dialog)
    assert not dialog.is_done


async def test_a_form_is_filled_by_numbers_and_words() -> None:
    dialog = QuestionDialog(QUESTIONS, Highlighter())
    for line in ("3", "DuckDB", "1", "2", "enter"):
        assert answer(dialog, line) is LineEffect.APPLIED
    assert dialog_lines(dialog) == [
        "Review your answers:",
        "answered, Database, answered, Extras, Review",
        "Which database?",
        "→ DuckDB",
        "Which extras?",
        "→ Docs, Tests",
        "1. Submit answers (selected)",
        "2. Decline to answer",
    ]
    assert answer(dialog, "1") is LineEffect.APPLIED
    assert await dialog.wait() == {
        "Which database?": "DuckDB",
        "Which extras?": "Docs, Tests",
    }


async def test_a_comment_where_none_is_taken_decides_nothing() -> None:
    dialog = DIALOGS["trust"]()
    assert answer(dialog, "1 because") is LineEffect.NOT_APPLIED
    assert not dialog.is_done


async def test_a_list_is_searched_by_text_and_picked_by_number() -> None:
    panel = ListPanel("Model", [Item(f"model-{number}") for number in range(40)])
    answer(panel, "model-37")
    assert dialog_lines(panel)[1].startswith("38. model-37")
    answer(panel, "38")
    picked = await panel.wait()
    assert picked is not None
    assert picked.index == 37


async def test_a_text_asks_nothing() -> None:
    panel = TextPanel("Doctor", text_rows("✓ git: /usr/bin/git\n✗ bash: not found"))
    assert is_read_only(panel)
    assert dialog_lines(panel) == ["Doctor:", "ok, git: /usr/bin/git", "problem, bash: not found"]


async def test_the_keys_of_the_hint_are_words_and_open_what_they_name() -> None:
    asked = PermissionAsk(WRITE, replace(PENDING, parts=()), CHANGE)
    dialog = PermissionDialog(asked, Highlighter())
    assert "h hunks, " in answer_hint(dialog)
    assert "ctrl+y why, " in answer_hint(dialog)
    assert answer(dialog, "h") is LineEffect.APPLIED
    assert dialog_lines(dialog)[-1].startswith("3. marked, line 11  +1 −0, eleven")
    for line in ("3", "space"):
        answer(dialog, line)
    assert dialog_lines(dialog)[-1].startswith("3. not marked, ")
    answer(dialog, "enter")
    decision = await dialog.wait()
    assert decision.updated_input is not None
    assert decision.updated_input["content"] == NEW.replace("eleven\n", "")


async def test_what_decided_and_what_it_would_do_is_reported_in_words() -> None:
    asked = replace(PENDING, parts=PENDING.parts[1:], effects=("network: git",))
    asked = replace(asked, trace=(TraceEntry(TraceStep.SCOPE, "none"), *PENDING.trace[2:]))
    dialog = permission(pending=asked)
    answer(dialog, "ctrl+y")
    lines = dialog_lines(dialog)
    assert "effect: network: git" in lines
    assert "decided by 5. Mode        nothing matches" in lines
    assert not [line for line in lines if "←" in line]


async def test_a_command_is_written_anew_in_one_line() -> None:
    dialog = permission()
    assert "edit followed by the command" in answer_hint(dialog)
    change = PermissionRequest("Edit", {"file_path": "a.py", "new_string": "b"})
    assert "edit followed by the new text," in answer_hint(permission(request=change))
    assert answer(dialog, "edit: git push --dry-run") is LineEffect.APPLIED
    lines = dialog_lines(dialog)
    assert "git push --dry-run" in lines
    assert "Run your changed version?" in lines
    answer(dialog, "1")
    assert (await dialog.wait()).updated_input == {"command": "git push --dry-run"}


async def test_the_first_start_in_lines_names_no_keys_of_the_drawn_screen() -> None:
    drawn, flat = (OnboardingDialog(Highlighter(), shows_keys=told) for told in (True, False))
    assert "shift+tab" in " ".join(dialog_lines(drawn))
    assert "shift+tab" not in " ".join(dialog_lines(flat))
