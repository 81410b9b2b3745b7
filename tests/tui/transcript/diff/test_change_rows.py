"""The rows of a change are made when they are looked at, and are the same rows whichever way."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agent.display import DiffDisplay
from tui.text.highlight import Highlighter
from tui.text.sequence_view import SequenceView
from tui.transcript.diff.change_rows import change_rows, diff_rows

LINES = st.lists(
    st.text(st.sampled_from("ab =\t世é\u0301👩\u200d💻"), max_size=40)
    | st.sampled_from(["", "\t\tindented = 1", "a long line " * 5, "世界" * 15]),
    max_size=12,
)
HIGHLIGHTER = Highlighter()


@given(LINES, LINES, st.integers(14, 60), st.data())
def test_a_part_of_the_rows_is_that_part_of_all_rows(
    before: list[str], after: list[str], width: int, data: st.DataObject
) -> None:
    display = DiffDisplay("a.py", "\n".join(before), "\n".join(after))
    rows = change_rows(display, width, HIGHLIGHTER)
    whole = list(rows)
    assert len(rows) == len(whole)
    start = data.draw(st.integers(0, len(whole)))
    stop = data.draw(st.integers(0, len(whole)))
    assert rows[start:stop] == whole[start:stop]
    assert [rows[at] for at in range(len(whole))] == whole
    folded = diff_rows(display, width, highlighter=HIGHLIGHTER, max_rows=5)
    if len(whole) > 5:
        assert folded[:4] == whole[:4]
        assert f"… {len(whole) - 4} more lines" in folded[4].runs[0][0]
    else:
        assert folded == whole


def test_rows_stay_the_same_until_colors_change() -> None:
    highlighter = Highlighter()
    display = DiffDisplay("a.py", "x = 1\n", "x = 2\n")
    first = change_rows(display, 40, highlighter)
    assert change_rows(display, 40, highlighter) is first
    highlighter.is_on = False
    plain = change_rows(display, 40, highlighter)
    assert list(plain) != list(first)


@given(st.lists(st.lists(st.integers(), max_size=4), max_size=4), st.data())
def test_joined_parts_read_like_their_sum(parts: list[list[int]], data: st.DataObject) -> None:
    whole = [number for part in parts for number in part]
    joined = SequenceView(parts)
    assert list(joined) == whole
    assert len(joined) == len(whole)
    assert [joined[at] for at in range(-len(whole), len(whole))] == [*whole, *whole]
    window = data.draw(st.slices(len(whole)))
    assert joined[window] == whole[window]


def test_a_change_that_cannot_be_seen_is_reported() -> None:
    (only,) = change_rows(DiffDisplay("a.py", "same", "same"), 40, HIGHLIGHTER)
    assert [text for text, _ in only.runs] == ["   ", "no visible change"]
