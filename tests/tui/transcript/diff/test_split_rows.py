"""Changes in two columns: same lines beside each other, changed ones beside what they became."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.display import DiffDisplay
from tests.tui.transcript.diff.test_change_rows import LINES
from themes.theme import Role
from tui.text.highlight import Highlighter
from tui.text.styled_rows import Row
from tui.text.wrap import runs_width
from tui.transcript.blocks import ToolCard, UserMessage
from tui.transcript.diff.change_rows import change_rows
from tui.transcript.diff.diff_view import diff_texts
from tui.transcript.diff.split_rows import SPLIT_CELLS, set_split, split_lines
from tui.transcript.viewport import Viewport

HIGHLIGHTER = Highlighter()
OLD = "def f(a):\n    return a\n\nold = 1\n"
NEW = "def f(a, b):\n    return a + b\n\nnothing alike\nat all\n"


@pytest.fixture(autouse=True)
def _default() -> Iterator[None]:
    set_split(True)
    yield
    set_split(True)


def text_of(old: str, new: str, width: int = SPLIT_CELLS) -> list[str]:
    return [row.text for row in change_rows(DiffDisplay("a.py", old, new), width, HIGHLIGHTER)]


def test_lines_stand_beside_what_they_became() -> None:
    lines = [tuple(side.strip() for side in text.split("│")) for text in text_of(OLD, NEW)]
    assert lines == [
        ("1 - def f(a):", "1 + def f(a, b):"),
        ("2 -     return a", "2 +     return a + b"),
        ("3", "3"),
        ("4 - old = 1", "4 + nothing alike"),
        ("", "5 + at all"),
    ]


def test_each_side_has_a_ground_of_its_own() -> None:
    def grounds(row: Row) -> list[set[Role | None]]:
        at = next(n for n, (text, _) in enumerate(row.runs) if "│" in text)
        inks = [ink.ground or row.fill for _, ink in row.runs]
        return [{*inks[1:at]}, {*inks[at + 1 :]}]

    changed = [grounds(row) for row in change_rows(DiffDisplay("a.py", OLD, NEW), 160, HIGHLIGHTER)]
    removed, added = (
        {Role.DIFF_REMOVED, Role.DIFF_REMOVED_WORD},
        {Role.DIFF_ADDED, Role.DIFF_ADDED_WORD},
    )
    assert all(left <= removed and right <= added for left, right in (changed[0], changed[3]))
    assert changed[2] == [{None}, {None}]
    left, right = changed[4]
    assert left == {None}
    assert right <= added


def test_the_right_column_always_begins_at_the_same_place() -> None:
    texts = text_of(OLD + "wide 漢字 " * 30, NEW)
    assert len({text.index("│") for text in texts if "漢" not in text}) == 1


@given(LINES, LINES, st.integers(SPLIT_CELLS, SPLIT_CELLS + 40), st.data())
def test_a_part_of_the_rows_is_that_part_of_all_rows(
    before: list[str], after: list[str], width: int, data: st.DataObject
) -> None:
    display = DiffDisplay("a.py", "\n".join(["same", *before]), "\n".join(["same", *after]))
    rows = change_rows(display, width, HIGHLIGHTER)
    whole = list(rows)
    assert len(rows) == len(whole)
    assert all(runs_width(row.runs) <= width for row in whole)
    start = data.draw(st.integers(0, len(whole)))
    assert rows[start:] == whole[start:]


@given(LINES, LINES)
def test_no_line_is_lost_and_the_order_of_both_sides_stays(
    before: list[str], after: list[str]
) -> None:
    for hunk in diff_texts("\n".join(before), "\n".join(after)).hunks:
        pairs = list(split_lines(hunk))
        assert [p.old for p in pairs if p.old] == [n for n in hunk if n.kind != "added"]
        assert [p.new for p in pairs if p.new] == [n for n in hunk if n.kind != "removed"]


def test_narrower_windows_new_files_and_the_setting_have_one_column() -> None:
    assert not any("│" in text for text in text_of(OLD, NEW, SPLIT_CELLS - 1))
    assert not any("│" in text for text in text_of("", NEW))
    set_split(False)
    assert not any("│" in text for text in text_of(OLD, NEW))


def test_a_change_is_wider_than_the_reading_width() -> None:
    viewport = Viewport(HIGHLIGHTER)
    viewport.resize(100, 40, SPLIT_CELLS)
    card = ToolCard("t", "Edit", "Edit a.py", "ok", {}, 0.0, display=DiffDisplay("a.py", OLD, NEW))
    viewport.replace_from(0, [UserMessage("u", "word " * 60), card])
    widths = [[runs_width(row.runs) for row in rows(viewport, block)] for block in (0, 1)]
    assert max(widths[0]) <= 100 < max(widths[1])


def rows(viewport: Viewport, block: int) -> list[Row]:
    layout = viewport.layout_of(block)
    return [layout.row(line) for line in range(layout.height)]
