"""The transcript's window: follows the end, stays put when the user reads, costs what is seen."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.tui.transcript.samples import BLOCKS
from tui.text.highlight import Highlighter
from tui.transcript.blocks import AssistantText, Block, NoticeLine, UserMessage
from tui.transcript.markdown.markdown_parts import split_text
from tui.transcript.viewport import RowPosition, Viewport


def notes(count: int, start: int = 0) -> list[Block]:
    return [NoticeLine(f"n{n}", "info", f"note {n}") for n in range(start, start + count)]


def view(blocks: list[Block], height: int = 6, width: int = 40) -> Viewport:
    viewport = Viewport(Highlighter(), width, height)
    viewport.replace_from(0, blocks)
    return viewport


def shown(viewport: Viewport) -> list[str]:
    return [line.text.strip(" ·") for _, line in viewport.visible()]


def test_follows_the_end() -> None:
    viewport = view(notes(10))
    assert shown(viewport) == ["", "note 7", "", "note 8", "", "note 9"]
    viewport.replace_from(10, notes(11))
    assert shown(viewport)[-1] == "note 10"


def test_stays_put_when_the_user_scrolled_up_and_counts_what_is_new() -> None:
    viewport = view(notes(10))
    viewport.scroll(-4)
    before = shown(viewport)
    viewport.replace_from(10, notes(13))
    assert shown(viewport) == before
    assert viewport.unseen_blocks == 3
    viewport.to_end()
    assert (viewport.is_following, viewport.unseen_blocks) == (True, 0)


def test_a_block_that_grows_above_does_not_move_what_is_read() -> None:
    answer = AssistantText("a", "one", is_streaming=True)
    viewport = view([answer, *notes(10)])
    viewport.scroll(-3)
    before = shown(viewport)
    longer = replace(answer, text="one\n\ntwo\n\nthree")
    viewport.replace_from(0, [longer, *notes(10)])
    assert shown(viewport) == before


def test_scrolling_down_to_the_end_follows_again() -> None:
    viewport = view(notes(10))
    viewport.scroll(-3)
    assert not viewport.is_following
    viewport.scroll(100)
    assert viewport.is_following


def test_scrolling_up_ends_at_the_first_row() -> None:
    viewport = view(notes(10))
    viewport.scroll(-1000)
    assert viewport.top == RowPosition(0, 0)
    assert shown(viewport)[0] == "note 0"


def test_goes_from_prompt_to_prompt() -> None:
    prompts: list[Block] = [UserMessage(f"p{n}", f"ask {n}") for n in range(3)]
    viewport = view([prompts[0], *notes(8), prompts[1], *notes(8, 50), prompts[2], *notes(8, 90)])
    viewport.visible()
    viewport.to_prompt(-1)
    assert shown(viewport)[0] == "❯ ask 2"
    viewport.to_prompt(-1)
    assert shown(viewport)[0] == "❯ ask 1"
    viewport.to_prompt(1)
    assert shown(viewport)[0] == "❯ ask 2"


def test_only_what_is_seen_is_laid_out() -> None:
    viewport = view(notes(5_000))
    viewport.visible()
    viewport.scroll(-10)
    viewport.visible()
    assert sum(entry.layout is not None for entry in viewport.entries) < 30


def test_far_layouts_are_dropped() -> None:
    viewport = view(notes(3_000))
    for _ in range(700):
        viewport.scroll(-6)
        viewport.visible()
    assert sum(entry.layout is not None for entry in viewport.entries) < 1_000


@given(
    st.lists(st.sampled_from(sorted(BLOCKS)), min_size=1, max_size=12),
    st.integers(1, 12),
    st.integers(12, 60),
    st.lists(st.integers(-9, 9), max_size=12),
)
def test_scrolling_walks_over_the_rows_of_all_blocks_in_order(
    names: list[str], height: int, width: int, steps: list[int]
) -> None:
    blocks: list[Block] = [replace(BLOCKS[n], key=f"k{i}") for i, n in enumerate(names)]
    viewport = view(blocks, height, width)
    everything = Viewport(Highlighter(), width, 10_000)
    everything.replace_from(0, blocks)
    rows = everything.visible()
    places = [place for place, _ in rows]
    top = max(0, len(rows) - height)
    viewport.visible()
    for step in steps:
        viewport.scroll(step)
        top = max(0, min(top + step, len(rows) - height))
        assert [line for _, line in viewport.visible()] == [line for _, line in rows][
            top : top + height
        ]
        assert viewport.top == places[top]


def test_resizing_keeps_the_block_that_is_read() -> None:
    long: list[Block] = [UserMessage(f"p{n}", f"{n} " + "word " * 40) for n in range(30)]
    viewport = view(long, height=8, width=80)
    viewport.scroll(-40)
    block = viewport.top.block
    viewport.resize(30, 8)
    viewport.visible()
    assert viewport.top.block == block


def test_of_a_long_answer_only_the_parts_in_view_are_laid_out_again() -> None:
    parts = split_text("\n\n".join(f"Line {number} of the answer." for number in range(10_000)))
    blocks: list[Block] = [
        AssistantText(f"a/{number}", part.text, is_streaming=False, continues=part.continues)
        for number, part in enumerate(parts)
    ]
    viewport = view(blocks, height=30)
    viewport.visible()
    viewport.resize(33, 30)
    assert shown(viewport)[-1] == "Line 9999 of the answer."
    assert sum(entry.layout is not None for entry in viewport.entries) <= 2


def test_the_thumb_is_the_same_however_the_blocks_came() -> None:
    grown = view(notes(3))
    grown.scroll(-2)
    for count in (9, 5, 30):
        grown.replace_from(min(4, count), notes(count))
        grown.thumb(6)
    grown.add_before([UserMessage("p", "one\ntwo\nthree")])
    grown.set_detailed(True)
    grown.set_detailed(False)
    whole = view([UserMessage("p", "one\ntwo\nthree"), *notes(30)])
    for viewport in (grown, whole):
        viewport.to_place(RowPosition(12, 0))
    assert grown.thumb(6) == whole.thumb(6)
    assert view([]).thumb(6) == (0, 6)
