"""Rows of the transcript beside its scrollbar, and thoughts told in a line."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.tui.app.test_app_keys import played, settled
from tests.tui.recorded import make_app
from tui.text.highlight import Highlighter
from tui.text.wrap import runs_width
from tui.transcript.block_rows import block_rows
from tui.transcript.blocks import AssistantText, ThinkingText, ToolCard

CODE = "```text\n" + "\n".join(f"line {number}" for number in range(60)) + "\n```"


async def test_the_scrollbar_changes_nothing_else_of_a_row() -> None:
    app = make_app(played([]))
    async with app.run_test(size=(60, 20)) as pilot:
        await settled(pilot)
        app.parts.transcript.show(0, [AssistantText("a", CODE, is_streaming=False)])
        app.parts.transcript.scroll_rows(-20)
        rows = [line for _, line in app.parts.transcript._painted_rows]
        beside = [line for line in rows if line.runs[-1][0] == "▐"]
        assert beside
        assert {line.fill for line in beside} == {line.fill for line in rows[:-1]} != {None}
        assert all(line.is_copied == rows[0].is_copied for line in beside)


async def test_the_scrollbar_has_no_holes_beside_rows_that_fill_the_width() -> None:
    card = ToolCard("u1", "Bash", "Bash seq", "ok", {}, 0.0, result="1", elapsed_s=2.0)
    app = make_app(played([]))
    async with app.run_test(size=(60, 20)) as pilot:
        await settled(pilot)
        app.parts.transcript.show(0, [replace(card, key=f"u{n}") for n in range(30)])
        app.parts.transcript.scroll_rows(-20)
        rows = [line for _, line in app.parts.transcript._painted_rows]
        bar = [y for y, line in enumerate(rows) if line.text.endswith("▐")]
        assert bar == list(range(bar[0], bar[0] + len(bar)))
        assert any("2.0 s" in rows[y].text for y in bar)
        assert all(runs_width(line.runs) <= 60 for line in rows)


@pytest.mark.parametrize(
    ("thought", "told"),
    [
        ("I **read** `slug.py` first.\nThen more.", "I read slug.py first."),
        ("**Reading the module**", "Reading the module"),
        ("## A plan", "A plan"),
        ("2 ** 3 ** 4 and a ` mark", "2 ** 3 ** 4 and a ` mark"),
    ],
)
def test_a_thought_in_a_line_has_no_marks_of_markdown(thought: str, told: str) -> None:
    block = ThinkingText("t", thought, is_streaming=False)
    (line,) = block_rows(block, 80, is_detailed=False, highlighter=Highlighter())
    assert line.text.strip() == f"✻ Thought  {told}"
