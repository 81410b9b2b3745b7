"""The user's editor: whatever it does to its file, the text here survives."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tui.prompt.external_editor import EditorFailed, edit_text, editor_command


@pytest.mark.parametrize(
    ("env", "there", "command"),
    [
        ({"EDITOR": "emacs -nw"}, ["nano"], ["emacs", "-nw"]),
        ({"VISUAL": "code -w", "EDITOR": "ed"}, [], ["code", "-w"]),
        ({"EDITOR": ""}, ["vi", "nano"], ["nano"]),
        ({}, ["vi"], ["vi"]),
        ({"VISUAL": "./evil", "EDITOR": "bin/evil -x"}, ["vi"], ["vi"]),
        ({"EDITOR": "/usr/bin/ed -p x"}, [], ["ed", "-p", "x"]),
        ({}, [], None),
    ],
)
def test_without_a_named_editor_the_usual_ones_are_looked_for(
    tmp_path: Path, env: dict[str, str], there: list[str], command: list[str] | None
) -> None:
    for name in there:
        (tmp_path / name).touch(0o755)
    found = editor_command({**env, "PATH": str(tmp_path)})
    assert (found and [Path(found[0]).name, *found[1:]]) == command


def test_what_the_editor_saved_comes_back() -> None:
    assert edit_text(["sed", "-i", "s/a/b/"], "a cat", "a.md", os.environ) == "b cat"


@pytest.mark.parametrize(
    ("command", "text", "said"),
    [
        (["rm"], "a", "No such file"),
        (["false"], "a", "status 1"),
        (["no-such-editor"], "a", "No such file"),
        (["true"], "half \ud800", "incomplete characters"),
    ],
)
def test_an_editor_that_leaves_no_text_is_a_failure(
    command: list[str], text: str, said: str
) -> None:
    with pytest.raises(EditorFailed, match=said):
        edit_text(command, text, "a.md", os.environ)
