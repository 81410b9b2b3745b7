"""Long commands break at spaces, with a sign, and lose nothing that may mean something."""

from __future__ import annotations

from tui.text.highlight import plain_lines
from tui.transcript.markdown.markdown_rows import command_rows


def texts(command: str, width: int) -> list[str]:
    return [row.text for row in command_rows(plain_lines(command), width)]


def test_a_long_command_breaks_between_words() -> None:
    assert texts("pytest -q && git push --tags", 17) == [
        " pytest -q &&",
        " ↪ git push",
        " ↪ --tags",
    ]


def test_lines_of_a_command_are_no_continuations() -> None:
    assert texts("first\nsecond", 24) == [" first", " second"]


def test_where_spaces_may_mean_something_all_of_them_are_shown() -> None:
    assert "".join(text[3:] for text in texts("x" * 12 + "'a    b'" + " c", 16)[1:]) == "'a    b' c"
