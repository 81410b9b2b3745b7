"""Calls in words, in the forms that models of several makes use."""

from __future__ import annotations

import pytest

from agent.loop.written_calls import written_call

NAMES = frozenset({"Read", "Bash"})


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>\n{"name": "Read", "arguments": {"file_path": "a"}}\n</tool_call>',
        '<tool_call>{"arguments": {}, "name": "Read"}</tool_call>',
        "<function=Read><parameter=file_path>a</parameter></function>",
        '[TOOL_CALLS] [{"name": "Read", "arguments": {}}]',
        'I will look.\n```json\n{"name": "Read", "arguments": {"file_path": "a"}}\n```',
        '{"name": "Read", "parameters": {"file_path": "a"}}',
        '<invoke name="Read"><parameter name="file_path">a</parameter></invoke>',
    ],
)
def test_a_call_in_words_is_recognized(text: str) -> None:
    assert written_call(text, NAMES) == "Read"


@pytest.mark.parametrize(
    "text",
    [
        "I would use Read here.",
        '```json\n{"name": "left-pad", "version": "1.0"}\n```',
        '<tool_call>{"name": "Nothing"}</tool_call>',
        '{"name": "Read"}',
    ],
)
def test_other_text_is_not(text: str) -> None:
    assert written_call(text, NAMES) is None
