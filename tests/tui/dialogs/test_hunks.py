"""Taking parts of a proposed change, or editing it, before it is allowed."""

from __future__ import annotations

import asyncio

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agent.display import CommandDisplay, DiffDisplay
from permissions.decision import Behavior, Decision
from permissions.request import PermissionRequest
from tests.tui.dialogs.test_dialogs import BASH, PENDING, drawn, press
from tui.dialogs.hunks import chosen_text, split_change
from tui.dialogs.permission import PermissionDialog
from tui.dialogs.permission_ask import PermissionAsk
from tui.text.highlight import Highlighter

OLD = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n"
NEW = OLD.replace("two", "TWO").replace("six\n", "").replace("ten\n", "ten\neleven\n")
CHANGE = DiffDisplay("n.txt", OLD, NEW)
WRITE = PermissionRequest("Write", {"file_path": "/p/n.txt", "content": NEW}, tool_use_id="u1")


def dialog(display: DiffDisplay = CHANGE, edit: str | None = None) -> PermissionDialog:
    ask = PermissionAsk(WRITE, replace(PENDING, parts=()), display)
    return PermissionDialog(ask, Highlighter(), None if edit is None else lambda _text, _name: edit)


async def answer(opened: PermissionDialog) -> Decision:
    async with asyncio.timeout(5):
        return await opened.wait()


async def test_the_taken_parts_alone_are_written() -> None:
    opened = dialog()
    press(opened, "h", "n", "y", "n", "enter")
    decision = await answer(opened)
    assert decision.behavior is Behavior.ALLOW
    assert decision.updated_input == {
        "file_path": "/p/n.txt",
        "content": OLD.replace("six\n", ""),
    }


async def test_all_parts_are_the_proposal_itself() -> None:
    opened = dialog()
    press(opened, "h", "enter")
    assert (await answer(opened)).updated_input is None


async def test_no_part_taken_is_no_answer_and_escape_leads_back() -> None:
    opened = dialog()
    press(opened, "h", "a", "enter")
    assert not opened.is_done
    press(opened, "escape")
    assert "Allow this call?" in drawn(opened) or "Write this file?" in drawn(opened)
    assert not opened.is_done


async def test_the_parts_are_listed_and_the_selected_one_is_shown() -> None:
    opened = dialog()
    press(opened, "h", "down", "space")
    assert drawn(opened) == PARTS


async def test_a_change_in_one_piece_has_no_parts() -> None:
    opened = dialog(DiffDisplay("n.txt", "a\nb\n", "a\nB\n"))
    press(opened, "h")
    assert "hunks" not in drawn(opened)
    assert "Write this file?" in drawn(opened)


async def test_an_edited_change_is_shown_and_then_written() -> None:
    opened = dialog(edit=NEW.replace("nine", "NEUN"))
    press(opened, "ctrl+g")
    assert "NEUN" in drawn(opened)
    assert "You changed it" in drawn(opened)
    press(opened, "enter")
    decision = await answer(opened)
    assert decision.updated_input is not None
    assert decision.updated_input["content"] == NEW.replace("nine", "NEUN")


async def test_an_edited_command_runs_as_edited_and_a_no_forgets_it() -> None:
    def edited() -> PermissionDialog:
        ask = PermissionAsk(BASH, PENDING, CommandDisplay("pytest -q && git push"))
        opened = PermissionDialog(ask, Highlighter(), lambda text, _: text.split(" &&")[0] + "\n")
        press(opened, "ctrl+g")
        return opened

    opened = edited()
    assert "git push" not in drawn(opened).split("--")[0]
    press(opened, "enter")
    assert (await answer(opened)).updated_input == {"command": "pytest -q"}
    opened = edited()
    press(opened, "n")
    assert (await answer(opened)).updated_input is None


async def test_an_editor_that_fails_or_changes_nothing_leaves_the_call_as_it_was() -> None:
    outcomes: list[str | None] = [None, NEW]
    for outcome in outcomes:

        def edited(_text: str, _name: str, given: str | None = outcome) -> str | None:
            return given

        ask = PermissionAsk(WRITE, replace(PENDING, parts=()), CHANGE)
        opened = PermissionDialog(ask, Highlighter(), edited)
        press(opened, "ctrl+g", "enter")
        assert (await answer(opened)).updated_input is None


LINES = st.lists(st.sampled_from(["a", "b", "c", "", "  d", "e\r", "\x0b"]), max_size=12)


@given(LINES, LINES, st.booleans(), st.booleans(), st.data())
def test_each_choice_of_parts_gives_old_or_new_lines(
    old_lines: list[str], new_lines: list[str], old_end: bool, new_end: bool, data: st.DataObject
) -> None:
    old = "\n".join(old_lines) + "\n" * (old_end and bool(old_lines))
    new = "\n".join(new_lines) + "\n" * (new_end and bool(new_lines))
    change = DiffDisplay("f", old, new)
    hunks = split_change(change)
    assert chosen_text(change, hunks, [True] * len(hunks)) == new or not hunks
    assert chosen_text(change, hunks, [False] * len(hunks)) == (old if hunks else new)
    taken = data.draw(st.lists(st.booleans(), min_size=len(hunks), max_size=len(hunks)))
    made = chosen_text(change, hunks, taken).rstrip("\n").split("\n")
    expected: list[str] = []
    at = 0
    before = old.split("\n")
    for hunk, is_in in zip(hunks, taken, strict=True):
        expected += before[at : hunk.start]
        at = hunk.start + hunk.removed_count
        kept = before[hunk.start : at]
        expected += [line.removesuffix("\n") for line in hunk.added_lines] if is_in else kept
    whole = "\n".join([*expected, *before[at:]]).rstrip("\n").split("\n")
    if hunks and any(taken) and not all(taken):
        assert made == whole


PARTS = """\
[Write this file? n.txt  +2 −2]
    3   three
    4   four
    5   five
    6 - six
    6   seven
    7   eight
    8   nine
--

   Make 2 of 3 changes?
   ☑ line 2  +1 −1         two
 ❯ ☐ line 6  +0 −1         six
   ☑ line 11  +1 −0        eleven

   space or y n take · a all · enter confirm · esc back"""


async def test_each_part_is_a_body_of_its_own_that_begins_at_what_changes() -> None:
    opened = dialog()
    press(opened, "h")
    first = opened.view(60)
    press(opened, "down")
    second = opened.view(60)
    assert first.body_id != second.body_id
    assert (first.first_row, second.first_row) == (1, 3)
