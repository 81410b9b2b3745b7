"""Answers are checked against schemas that a hostile script may have written."""

from __future__ import annotations

import gc
import json
import signal

import pytest

from agent.loop.answer_schema import AnswerSchema
from agent.loop.check_time import CheckTooLongError, processor_time

BOTH = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(30)}


@pytest.mark.parametrize(
    ("schema", "complaint"),
    [
        ({"properties": {"a": {"pattern": "^(a+)+$"}}}, "takes too long"),
        (
            {"$defs": {**BOTH, "d30": {"type": "null"}}, "$ref": "#/$defs/d0"},
            "takes too long",
        ),
        ({"properties": {"a": {"$ref": "#/properties/a"}}}, "without an end"),
        ({"properties": {"a": {"$ref": "file:///etc/passwd"}}}, "missing definition"),
        ({"properties": {"a": {"type": "number"}}}, r"\$\.a"),
    ],
)
def test_no_schema_holds_the_program(schema: dict[str, object], complaint: str) -> None:
    before = signal.getsignal(signal.SIGVTALRM)
    checked = AnswerSchema(json.dumps({"type": "object", **schema}))
    answer = json.dumps({"a": "a" * 40 + "!"})
    with pytest.raises(ValueError, match=complaint):
        checked.value(answer)
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGVTALRM) == before
    assert gc.isenabled()


def test_an_answer_that_fits_is_returned() -> None:
    schema = {"type": "object", "properties": {"a": {"pattern": "^[a-z]+$"}}, "required": ["a"]}
    assert AnswerSchema(json.dumps(schema)).value('{"a": "word"}') == {"a": "word"}


def ignore_one() -> None:
    ignored = 0
    while True:
        try:
            while True:
                pass
        except CheckTooLongError:
            if ignored:
                raise
            ignored += 1


def test_a_limit_is_not_lost_with_one_exception() -> None:
    """The interpreter ignores one that is raised in a finalizer."""
    with pytest.raises(CheckTooLongError), processor_time(0.05):
        ignore_one()
