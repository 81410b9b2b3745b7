"""Long answers in parts: cut only where Markdown allows it, and the same rows as the whole."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import examples
from tui.text.highlight import Highlighter
from tui.text.styled_rows import BLANK, Row
from tui.transcript.markdown import markdown_parts as text_parts
from tui.transcript.markdown.markdown_parts import MarkdownParts, split_text
from tui.transcript.markdown.markdown_rows import block_starts, markdown_rows

LINES = (
    "", "", "A paragraph", "goes on", "# Heading", "- item", "  more of it", "1. one", "   text",
    "```python", "```", "  ```", "    ```", "~~~", "````", "> quote", "| a | b |", "| - | - |",
    "    code", "<div>", "<!-- note", "-->", "<pre>", "</pre>", "**bold** text", "---", "* star",
    "[a]: http://x", "`inline`", "\ttab", "+", "10) ten",
)  # fmt: skip
markdown = st.lists(st.sampled_from(LINES), max_size=30).map(lambda lines: "\n".join(lines))


@given(markdown, st.lists(st.integers(0, 300), max_size=5))
@settings(max_examples=examples(400))
def test_a_cut_lies_where_a_block_begins_however_the_text_came(text: str, cuts: list[int]) -> None:
    with patch.object(text_parts, "PART_CHARS", 8), patch.object(text_parts, "FENCE_CHARS", 10**6):
        parts = split_text(text)
        assert "".join(part.text for part in parts) == text
        starts = set(block_starts(text))
        position = 0
        for part in parts[:-1]:
            position += len(part.text)
            assert position in starts
        stream = MarkdownParts()
        edges = sorted({min(cut, len(text)) for cut in cuts})
        finished = []
        for start, end in zip([0, *edges], [*edges, len(text)], strict=True):
            finished += stream.feed(text[start:end])
        assert [*finished, stream.current] == parts
        assert stream.whole == text


def test_a_long_fence_is_cut_into_fences() -> None:
    lines = [f"line_{number} = {number}" for number in range(3_000)]
    text = "Look:\n\n~~~python\n" + "\n".join(lines) + "\n~~~\n\nDone."
    parts = split_text(text)
    assert len(parts) > 2
    assert all(part.continues for part in parts[1:])
    rows: list[Row] = []
    for part in parts:
        made = markdown_rows(part.text, 60, Highlighter())
        rows += made if part.continues or not rows else [BLANK, *made]
    assert [row.text for row in rows] == [
        row.text for row in markdown_rows(text, 60, Highlighter())
    ]


def test_a_long_answer_has_parts_of_bounded_size() -> None:
    text = "".join(f"Paragraph {n} says something.\n\n- a\n- b\n\n" for n in range(2_000))
    parts = split_text(text)
    assert max(len(part.text) for part in parts) < 2 * text_parts.PART_CHARS
    assert not any(part.continues for part in parts)


def test_the_first_frame_knows_nothing_of_answers() -> None:
    code = (
        "import sys, tui.startup.screen_run; print([m for m in sys.modules if m in sys.argv[1:]])"
    )
    later = [
        "tui.transcript.committed_messages",
        "tui.transcript.streaming_answer",
        "tui.transcript.markdown.markdown_parts",
        "tui.terminal.clipboard",
    ]
    done = subprocess.run(
        [sys.executable, "-c", code, *later],
        cwd=Path(__file__).parents[4],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "[]\n"
