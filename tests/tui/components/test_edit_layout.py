"""The prompt's rows: lines of plain cells take a shorter way to the same rows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.components import edit_layout
from tui.components.edit_layout import edit_rows


@given(st.text(alphabet="ab  \n", max_size=60), st.integers(1, 14))
def test_the_short_way_gives_the_same_rows(text: str, width: int) -> None:
    short = edit_rows(text, width, {})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(edit_layout, "is_plain", lambda _: False)
        assert edit_rows(text, width, {}) == short


def test_rows_break_after_spaces_and_leave_a_cell_for_the_cursor() -> None:
    rows = edit_rows("one two three", 8, {})
    assert [(line.start, line.end) for line in rows] == [(0, 4), (4, 8), (8, 13)]
