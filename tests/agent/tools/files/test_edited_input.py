"""What a user's own version of a change becomes, and what the model hears of it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent.tools.files.edited_input import change_note, edited_input
from agent.tools.files.line_change import change_text
from agent.tools.files.text_file import TextFile

EDIT = {"file_path": "/p/f", "old_string": "b\nc", "new_string": "B\nC"}


def test_a_change_inside_the_piece_changes_the_new_text_alone() -> None:
    assert edited_input("Edit", EDIT, "a\nb\nc\nd\n", "a\nB\nc\nd\n") == {
        **EDIT,
        "new_string": "B\nc",
    }


def test_a_change_beyond_the_piece_takes_the_whole_file() -> None:
    changed = edited_input("Edit", EDIT, "a\nb\nc\n", "A\nB\nC\n")
    assert changed == {
        "file_path": "/p/f",
        "old_string": "a\nb\nc\n",
        "new_string": "A\nB\nC\n",
        "replace_all": False,
    }


def test_nothing_to_change_and_tools_without_a_text_have_no_input() -> None:
    assert edited_input("Edit", EDIT, "a", "a") is None
    assert edited_input("Bash", {"command": "ls"}, "a", "b") is None


TEXT = st.text(alphabet="ab\n", max_size=12)


@given(TEXT, TEXT, TEXT, st.booleans(), TEXT)
def test_the_edit_makes_exactly_the_wanted_text(
    head: str, piece: str, tail: str, replace_all: bool, wanted: str
) -> None:
    old = head + piece + tail
    if not old or old == wanted or not piece:
        return
    given_input = {
        "file_path": "/p/f",
        "old_string": piece,
        "new_string": "x",
        "replace_all": replace_all,
    }
    changed = edited_input("Edit", given_input, old, wanted)
    assert changed is not None
    made = change_text(
        TextFile(old),
        str(changed["old_string"]),
        str(changed["new_string"]),
        replace_all=changed["replace_all"] is True,
    )
    assert made.text == wanted


def test_the_model_is_informed_what_differs() -> None:
    note = change_note(
        {"file_path": "/p", "content": "a\nb\nc\n", "x": 1},
        {"file_path": "/p", "content": "a\nB\nc\n", "x": 2},
    )
    assert "content, from your proposal to what ran:" in note
    assert "-b\n+B" in note
    assert "x is now: 2" in note
    assert change_note({"a": "b"}, {"a": "b"}) == ""


def test_a_huge_difference_is_cut() -> None:
    before = "\n".join(f"a{i}" for i in range(1_000))
    note = change_note({"t": before}, {"t": before.replace("a", "b")})
    assert "more lines]" in note
    assert len(note.splitlines()) < 220
