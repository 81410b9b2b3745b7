"""Long prompts in the transcript: their start, and how much more there is."""

from __future__ import annotations

from tui.text.highlight import Highlighter
from tui.text.wrap import runs_width
from tui.transcript.block_rows import block_rows
from tui.transcript.blocks import UserMessage


def rows_of(text: str, width: int = 40, *, is_detailed: bool = False) -> list[str]:
    block = UserMessage("p", text)
    rows = block_rows(block, width, is_detailed=is_detailed, highlighter=Highlighter())
    assert all(runs_width(row.runs) <= width for row in rows)
    return [row.text.strip() for row in rows]


def test_thirty_lines_are_shown_whole() -> None:
    assert rows_of("\n".join(f"line {n}" for n in range(30)))[-1] == "line 29"


def test_more_lines_are_counted() -> None:
    text = "\n".join(f"line {n}" for n in range(80_000))
    rows = rows_of(text)
    assert rows[-2:] == ["line 28", "… 79,971 more lines"]


def test_one_endless_line_is_not_wrapped_to_its_end() -> None:
    rows = rows_of("word " * 100_000)
    assert len(rows) == 30
    assert rows[-1].endswith("more characters")


def test_in_detail_nothing_is_hidden() -> None:
    assert len(rows_of("\n".join("x" * 99), is_detailed=True)) == 99
