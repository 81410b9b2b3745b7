"""The person's editor: whatever it does to its file, the text here survives."""

from __future__ import annotations

import pytest

from tui.external_editor import EditorFailed, edit_text


def test_what_the_editor_saved_comes_back() -> None:
    assert edit_text(["sed", "-i", "s/a/b/"], "a cat", "a.md") == "b cat"


@pytest.mark.parametrize(
    ("command", "text", "said"),
    [
        (["rm"], "a", "No such file"),
        (["false"], "a", "status 1"),
        (["no-such-editor"], "a", "No such file"),
        (["true"], "half \ud800", "halves of characters"),
    ],
)
def test_an_editor_that_leaves_no_text_is_a_failure(
    command: list[str], text: str, said: str
) -> None:
    with pytest.raises(EditorFailed, match=said):
        edit_text(command, text, "a.md")
