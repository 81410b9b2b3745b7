"""What is the same in two texts: what `difflib` says where they are short, and quickly found."""

from __future__ import annotations

from difflib import SequenceMatcher

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.transcript.diff import line_matching
from tui.transcript.diff.diff_view import diff_texts
from tui.transcript.diff.line_matching import LineSpan, changed_groups

TEXTS = st.lists(st.sampled_from("aabcdef"), max_size=24)


def _groups(before: list[str], after: list[str], context: int) -> list[list[LineSpan]]:
    return list(changed_groups(before, after, context))


@given(TEXTS, TEXTS, st.integers(0, 4))
def test_short_texts_are_compared_as_difflib_does(
    before: list[str], after: list[str], context: int
) -> None:
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    groups = [
        [LineSpan(tag == "equal", *place) for tag, *place in group]
        for group in matcher.get_grouped_opcodes(context)
    ]
    # `difflib` names equal lines at the edges also where there are none.
    expected = [[span for span in group if span[1:] != _empty(span)] for group in groups]
    assert _groups(before, after, context) == [group for group in expected if group]


def _empty(span: LineSpan) -> tuple[int, int, int, int]:
    return (span.old_start, span.old_start, span.new_start, span.new_start)


@pytest.mark.parametrize("exact_lines", [0, 7])
@given(before=TEXTS, after=TEXTS)
def test_long_texts_lose_no_line(exact_lines: int, before: list[str], after: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(line_matching, "_EXACT_LINES", exact_lines)
        groups = _groups(before, after, 50)
    made: list[str] = []
    at = 0
    for span in (span for group in groups for span in group):
        assert span.old_start == at
        assert span.new_start == len(made)
        old, new = before[at : span.old_end], after[len(made) : span.new_end]
        assert (old == new) is span.is_same
        at = span.old_end
        made += new
    assert before[at:] == after[len(made) :]


def test_a_long_text_with_few_changes_shows_just_these() -> None:
    before = [f"line {number}" if number % 2 else "" for number in range(9_000)]
    after = [*before[:10], "new", *before[10:4_000], "other", *before[4_001:8_990], *before[8_992:]]
    diff = diff_texts("\n".join(before), "\n".join(after))
    assert (diff.added_count, diff.removed_count, len(diff.hunks)) == (2, 3, 3)


def test_lines_that_are_all_alike_are_matched_in_order() -> None:
    before = ["same"] * 9_000
    diff = diff_texts("\n".join(before), "\n".join(["one", *before[1:-1], "two"]))
    assert (diff.added_count, diff.removed_count) == (2, 2)


def test_of_a_huge_change_only_the_first_lines_show_which_words_changed() -> None:
    before = [f"value_{number} = 1" for number in range(2_000)]
    after = [line.replace("= 1", "= 2") for line in before]
    (hunk,) = diff_texts("\n".join(before), "\n".join(after)).hunks
    paired = [line.text for line in hunk if line.other is not None]
    assert paired == [*before[:300], *after[:300]]


def test_words_are_marked_between_lines_that_are_alike() -> None:
    removed = "    item.quantity = item.quantity - count"
    added = "    if count > item.quantity:\n        raise Short(count)\n    item.quantity -= count"
    (hunk,) = diff_texts(f"a\n{removed}\n", f"a\n{added}\n").hunks
    assert [(line.text, line.other) for line in hunk if line.other is not None] == [
        (removed, "    item.quantity -= count"),
        ("    item.quantity -= count", removed),
    ]


def test_no_words_are_marked_between_lines_that_have_little_in_common() -> None:
    (hunk,) = diff_texts("return total(items)\n", "raise NotImplementedError\n").hunks
    assert all(line.other is None for line in hunk)
