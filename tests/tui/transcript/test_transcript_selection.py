"""What a marked part of the transcript is as text: source, without gutters and wraps."""

from __future__ import annotations

import pytest

from agent.display import CommandDisplay, DiffDisplay
from tests.tui.app.test_app_commands import drag
from tests.tui.app.test_app_keys import played, settled, transcript_of
from tests.tui.recorded import make_app
from tui.screen.width import clusters
from tui.text.highlight import Highlighter
from tui.text.styled_rows import row
from tui.text.wrap import runs_width
from tui.transcript.blocks import AssistantText, Block, ToolCard, UserMessage
from tui.transcript.selecting.transcript_selection import TranscriptSelection, marked_text, word_at
from tui.transcript.viewport import RowPosition, Viewport

CODE = "def f(x):\n    if x:\n        return 'a long text that is wrapped in a narrow window'\n"
WORDS = " ".join(f"word{n}" for n in range(30))


def marked(*blocks: Block, width: int = 40, rows: tuple[int, int] | None = None) -> str:
    """Return what is copied when all is marked, or some rows of the first block."""
    shown = Viewport(Highlighter(), width, 20)
    shown.replace_from(0, blocks)
    last = len(blocks) - 1
    first, end = (0, shown.height_of(last) - 1) if rows is None else rows
    return marked_text(
        shown, TranscriptSelection(RowPosition(0, first), 0, RowPosition(last, end), width)
    )


def test_a_paragraph_is_one_line_however_it_was_wrapped() -> None:
    assert marked(AssistantText("a", WORDS, False)) == WORDS
    assert marked(UserMessage("p", WORDS)) == WORDS


def test_code_is_its_source() -> None:
    text = f"Before:\n\n```python\n{CODE}```\n\nAfter."
    assert marked(AssistantText("a", text, is_streaming=False)) == f"Before:\n\n{CODE}\nAfter."


def card(old: str, new: str) -> ToolCard:
    change = DiffDisplay("a.py", old, new)
    return ToolCard("u", "Edit", "Edit a.py", "ok", {}, 0.0, display=change)


def test_a_change_is_a_patch_and_lines_of_one_kind_are_code() -> None:
    long = "x = 'a line that does not fit into forty cells, not at all'"
    edit = card("one\ntwo\nthree\n", f"one\n{long}\nthree\n")
    assert marked(edit).splitlines()[1:] == [" one", "-two", f"+{long}", " three"]
    assert marked(edit, rows=(3, 4)) == long
    assert marked(card("", CODE)).splitlines()[1:] == CODE.splitlines()


@pytest.mark.parametrize(
    ("x", "word"),
    [(1, "see"), (5, "src/a_b.py"), (3, " "), (14, ","), (17, "\u6f22\u5b57"), (40, "end")],
)
def test_the_word_at_a_cell(x: int, word: str) -> None:
    text = "see src/a_b.py, \u6f22\u5b57 end"
    start, end = word_at(row(text), x)
    cells = [part for g, width in clusters(text) for part in (g, *[""] * (width - 1))]
    assert "".join(cells[start:end]) == word


async def test_a_click_unfolds_a_card_and_a_second_one_marks_a_word() -> None:
    result = "\n".join(f"line {number}" for number in range(30))
    display = CommandDisplay("seq", result, 0)
    card = ToolCard("u1", "Bash", "Bash seq 30", "ok", {}, 0.0, display=display)
    app = make_app(played([]))
    async with app.run_test(size=(60, 40)) as pilot:
        await settled(pilot)
        transcript = app.parts.transcript
        transcript.show(0, [card])
        await settled(pilot)
        await drag(app, (5, 0), (5, 0))
        assert "line 3" in transcript_of(app)
        await drag(app, (5, 0), (5, 0))
        assert transcript.marked_text == "Bash"
        transcript.marker.clear()
        assert "line 29" in transcript_of(app)


async def test_a_reading_width_and_a_prompt_that_stays() -> None:
    app = make_app(played([]))
    async with app.run_test(size=(100, 12)) as pilot:
        await settled(pilot)
        transcript = app.parts.transcript
        text = "word " * 400
        transcript.show(
            0, [UserMessage("p", "What is it?"), AssistantText("a", text, is_streaming=False)]
        )
        transcript.set_reading(60, pins_prompt=True)
        await settled(pilot)
        rows = [line for _, line in transcript._painted_rows]
        assert rows[0].text == " \u276f What is it?"
        assert max(runs_width(line.runs) for line in rows) <= 60
        transcript.to_start()
        rows = [line for _, line in transcript._painted_rows]
        assert sum("\u276f What is it?" in line.text for line in rows) == 1
