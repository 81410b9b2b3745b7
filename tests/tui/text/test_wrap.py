"""Wrapping keeps every character, never exceeds the width, never cuts a cluster."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tui.text.styled_rows import TEXT, Row
from tui.text.wrap import clip, hard_wrap, runs_width, spread, wrap

pieces = st.sampled_from([*"ab cd  e\n", "漢", "字", "🎉", "é", "👩‍💻", "🇫🇷", "ก"])
texts = st.lists(pieces, max_size=60).map("".join)


def joined(rows: list[Row]) -> str:
    text = ""
    for position, line in enumerate(rows):
        if position:
            text += "\n" if line.joint is None else line.joint
        text += line.text
    return text


@given(texts, st.integers(2, 20))
def test_wrapped_rows_join_to_the_text_and_fit(text: str, width: int) -> None:
    rows = wrap([(text, TEXT)], width)
    assert _without_trailing(joined(rows)) == _without_trailing(text) or "  " in text
    assert all(runs_width(line.runs) <= width for line in rows)


def _without_trailing(text: str) -> list[str]:
    """Lines as they are seen: a row may drop the space it breaks at."""
    return [line.rstrip(" ") for line in text.rstrip(" ").split("\n")]


@given(texts, st.integers(2, 20))
def test_chopped_rows_keep_every_space(text: str, width: int) -> None:
    rows = hard_wrap([(text, TEXT)], width)
    assert joined(rows) == text
    assert all(runs_width(line.runs) <= width for line in rows)


def test_breaks_at_spaces_and_between_wide_characters() -> None:
    assert [r.text for r in wrap([("one two 漢字漢字", TEXT)], 7)] == ["one two", "漢字漢", "字"]


def test_a_word_longer_than_the_width_is_cut() -> None:
    assert [r.text for r in wrap([("ab abcdefgh", TEXT)], 4)] == ["ab a", "bcde", "fgh"]


@given(texts.filter(lambda t: "\n" not in t), st.integers(1, 20))
def test_clipped_text_fits(text: str, width: int) -> None:
    assert runs_width(clip([(text, TEXT)], width)) <= width


@given(st.integers(0, 40))
def test_spread_is_exactly_as_wide_as_asked_or_drops_the_right(width: int) -> None:
    runs = spread([("left side", TEXT)], [("right", TEXT)], width)
    assert runs_width(runs) <= width
    if width > 7:
        assert runs[-1][0] == "right"
        assert runs_width(runs) == width
