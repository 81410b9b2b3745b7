"""The prompt's rows: lines of plain cells take a shorter way to the same rows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.editing import edit_layout
from tui.editing.draft import FIRST_CHIP, Chip
from tui.editing.edit_layout import EditLayout, edit_rows, place_of


@given(st.text(alphabet="ab  \n", max_size=60), st.integers(1, 14))
def test_the_short_way_gives_the_same_rows(text: str, width: int) -> None:
    short = edit_rows(text, width, {})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(edit_layout, "is_plain", lambda _: False)
        assert edit_rows(text, width, {}) == short


def test_rows_break_after_spaces_and_leave_a_cell_for_the_cursor() -> None:
    rows = edit_rows("one two three", 8, {})
    assert [(line.start, line.end) for line in rows] == [(0, 4), (4, 8), (8, 13)]


CHIP = chr(FIRST_CHIP)


@given(
    st.lists(
        st.tuples(
            st.text(alphabet=f"ab 好é\n{CHIP}", max_size=40),
            st.integers(1, 14),
            st.sampled_from([{}, {CHIP: Chip(1, "x")}, {CHIP: Chip(1, "y" * 3000)}]),
        ),
        min_size=1,
        max_size=5,
    )
)
def test_a_text_that_changes_is_laid_out_as_if_it_were_new(
    steps: list[tuple[str, int, dict[str, Chip]]],
) -> None:
    layout = EditLayout()
    for text, width, chips in steps:
        rows, whole = layout.rows(text, width, chips), edit_rows(text, width, chips)
        assert list(rows) == whole
        assert rows[1:3] == whole[1:3]
        assert [place_of(rows, at) for at in range(len(text) + 1)] == [
            place_of(whole, at) for at in range(len(text) + 1)
        ]


def test_a_key_in_a_long_text_lays_out_its_own_line(monkeypatch: pytest.MonkeyPatch) -> None:
    layout, laid_out = EditLayout(), []
    real = edit_layout._line_rows

    def counted(line: str, *others: object) -> object:
        laid_out.append(line)
        return real(line, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(edit_layout, "_line_rows", counted)
    text = "\n".join(f"line {number} 好" for number in range(2000))
    layout.rows(text, 80, {})
    laid_out.clear()
    layout.rows(text.replace("line 700 好", "line 700 好!"), 80, {})
    assert laid_out == ["line 700 好!"]
