"""Where the text of a replaced tool output is."""

from __future__ import annotations

import pytest

from agent.tools.replaced_output import replaced_content


@pytest.mark.parametrize(
    ("replacement", "content"),
    [
        ("plain", "plain"),
        ({"stdout": "out", "stderr": "", "interrupted": False}, "out"),
        ({"stdout": "out", "stderr": "err"}, "out\nerr"),
        ({"stdout": ""}, ""),
        ({"type": "text", "file": {"filePath": "/a", "content": "x = 1"}}, "x = 1"),
        ({"mode": "content", "content": "a:1"}, "a:1"),
        ({"filenames": ["a", "b"], "numFiles": 2}, "a\nb"),
        ([{"type": "text", "text": "hi"}], ({"type": "text", "text": "hi"},)),
        ({"content": [{"type": "text", "text": "hi"}]}, ({"type": "text", "text": "hi"},)),
        ([{"type": "image"}], '[{"type": "image"}]'),
        ({"ü": 1}, '{"ü": 1}'),
        ([], "[]"),
        (7, "7"),
    ],
)
def test_the_model_reads_the_text_and_not_its_wrapping(
    replacement: object, content: object
) -> None:
    assert replaced_content(replacement) == content
