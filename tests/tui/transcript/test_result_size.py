"""The size of a result is what the tool found, without what it noted for the model."""

from __future__ import annotations

import pytest

from tui.transcript.results.result_size import result_size


@pytest.mark.parametrize(
    ("name", "tool_input", "text", "expected"),
    [
        ("Read", {}, "     1\ta\n     2\t", "2 lines"),
        ("Read", {}, "     1\ta", "1 line"),
        ("Read", {}, "     1\ta\n\n[a.py: lines 1-1 of 3,825; continue with offset=2]", "1 line"),
        ("Read", {}, "[a.py is empty.]", "empty"),
        ("Read", {}, "logo.png: PNG, 12×34 pixels\n[image]", "12×34 PNG"),
        ("Grep", {}, "a.py\nb.py", "2 files"),
        ("Grep", {"output_mode": "content"}, "a.py:1:x", "1 line"),
        ("Grep", {"output_mode": "count"}, "a.py:3\n\n[3 matches in 1 files]", "1 file"),
        ("Grep", {"output_mode": "content"}, "No match.", "no match"),
        ("Glob", {}, "a.py\nb.py\n\n[all of these are ignored by .gitignore]", "2 files"),
        ("Glob", {}, "No file in . matches *.zig.", "no files"),
        ("Bash", {"command": "ls"}, "a\nb", ""),
    ],
)
def test_a_result_is_as_large_as_what_was_found(
    name: str, tool_input: dict[str, str], text: str, expected: str
) -> None:
    assert result_size(name, tool_input, text) == expected
