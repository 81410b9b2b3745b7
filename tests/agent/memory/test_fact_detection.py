"""Which turns are looked through for facts."""

from __future__ import annotations

import pytest

from agent.memory.fact_detection import may_contain_facts
from agent.messages import Message, tool_result_block, tool_results_message, user_message
from agent.tools.decline_text import declined_with


def answered(name: str, result: str) -> list[Message]:
    """Return a call and its result."""
    call = {"type": "tool_use", "id": "t1", "name": name, "input": {}}
    return [
        Message("assistant", (call,), "model"),
        tool_results_message([tool_result_block("t1", result)]),
    ]


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("Never commit to main.", True),
        ("No, use pytest instead", True),
        ("I'm the maintainer", True),
        ("We decided on Postgres", True),
        ("Bitte nicht auf Deutsch, lieber Englisch", True),
        ("커밋은 항상 영어로", True),
        ("List the files", False),
        ("Fix the failing test in parser.py", False),
        ("déplace ce fichier", False),
    ],
)
def test_words_of_a_decision_are_found(prompt: str, expected: bool) -> None:
    assert may_contain_facts([user_message(prompt)]) is expected


def test_answers_and_comments_of_the_user_count() -> None:
    assert may_contain_facts(answered("AskUserQuestion", "SQLite"))
    assert may_contain_facts(answered("Bash", declined_with("use make")))
    assert not may_contain_facts(answered("Bash", "you should never see this"))


def test_words_of_the_program_do_not_count() -> None:
    assert not may_contain_facts([user_message("always and never", origin="reminder")])
