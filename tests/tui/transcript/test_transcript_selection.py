"""What a marked part of the transcript is as text: source, without gutters and wraps."""

from __future__ import annotations

from agent.display import DiffDisplay
from tui.text.highlight import Highlighter
from tui.transcript.blocks import AssistantText, Block, ToolCard, UserMessage
from tui.transcript.transcript_selection import TranscriptSelection, marked_text
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
    assert marked(AssistantText("a", text, False)) == f"Before:\n\n{CODE}\nAfter."


def card(old: str, new: str) -> ToolCard:
    change = DiffDisplay("a.py", old, new)
    return ToolCard("u", "Edit", "Edit a.py", "ok", {}, 0.0, display=change)


def test_a_change_is_a_patch_and_lines_of_one_kind_are_code() -> None:
    long = "x = 'a line that does not fit into forty cells, not at all'"
    edit = card("one\ntwo\nthree\n", f"one\n{long}\nthree\n")
    assert marked(edit).splitlines()[1:] == [" one", "-two", f"+{long}", " three"]
    assert marked(edit, rows=(3, 4)) == long
    assert marked(card("", CODE)).splitlines()[1:] == CODE.splitlines()
