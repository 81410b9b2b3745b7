"""The same failing call, again and again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agent.abort import AbortController, AbortSignal
from agent.messages import ToolUse
from agent.sandbox.network.host_gate import HostAnswer, HostRequest
from agent.sandbox.refusal_request import RefusalAnswer, RefusalRequest
from agent.tools.repeated_failures import AGAIN, DIFFERENTLY, RepeatedFailures
from agent.tools.services import PlanAnswer, Question

CALL = ToolUse("1", "Read", {"file_path": "/nowhere"})
OTHER = ToolUse("2", "Edit", {"file_path": "/a"})
SIGNAL = AbortController().signal


class User:
    """Answers every question with the same words."""

    def __init__(self, answer: str | None) -> None:
        self.answer = answer
        self.asked: list[Question] = []

    async def ask(
        self, questions: Sequence[Question], abort: AbortSignal
    ) -> Mapping[str, str] | None:
        self.asked += questions
        return None if self.answer is None else {questions[0].question: self.answer}

    async def approve_plan(self, plan: str, abort: AbortSignal) -> PlanAnswer:
        return PlanAnswer(is_approved=False)

    async def decide_host(self, request: HostRequest) -> HostAnswer:
        return HostAnswer(False)

    async def decide_refusal(self, request: RefusalRequest) -> RefusalAnswer:
        raise AssertionError(request)


def failed_twice() -> RepeatedFailures:
    failures = RepeatedFailures()
    failures.note(CALL, "failed")
    failures.note(CALL, "failed")
    return failures


async def test_the_third_time_is_refused_where_no_one_can_be_asked() -> None:
    failures = RepeatedFailures()
    failures.note(CALL, "failed")
    assert await failures.refusal(CALL, "Read /nowhere", None, SIGNAL) is None
    failures.note(CALL, "invalid")
    text = await failures.refusal(CALL, "Read /nowhere", None, SIGNAL)
    assert text is not None
    assert "failed 2 times" in text
    assert await failures.refusal(OTHER, "Edit /a", None, SIGNAL) is None


async def test_success_in_between_starts_anew() -> None:
    failures = failed_twice()
    failures.note(OTHER, "ok")
    assert await failures.refusal(CALL, "Read /nowhere", None, SIGNAL) is None


async def test_refusals_are_not_failures() -> None:
    """A rule, a hook or the user said no: whoever it was says so again, or does not."""
    failures = RepeatedFailures()
    for _ in range(3):
        failures.note(CALL, "denied")
    assert await failures.refusal(CALL, "Read /nowhere", None, SIGNAL) is None


async def test_the_user_decides() -> None:
    again, differently, comment = User(AGAIN), User(DIFFERENTLY), User("the file is in /b")
    assert await failed_twice().refusal(CALL, "Read /nowhere", again, SIGNAL) is None
    assert "Read /nowhere" in again.asked[0].question
    text = await failed_twice().refusal(CALL, "Read /nowhere", differently, SIGNAL)
    assert text is not None
    assert text.endswith("what is in the way.")
    text = await failed_twice().refusal(CALL, "Read /nowhere", comment, SIGNAL)
    assert text is not None
    assert text.endswith("The user says: the file is in /b")
    assert await failed_twice().refusal(CALL, "Read /nowhere", User(None), SIGNAL) is not None
