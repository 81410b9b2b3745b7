"""The tools that go through a port: the user, the task list, modes, sub-agents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pytest

from agent.abort import AbortSignal
from agent.display import PlanDisplay, TextDisplay, TodoDisplay, TodoItem
from agent.sandbox.network.host_gate import HostAnswer, HostRequest
from agent.sandbox.refusal_request import RefusalAnswer, RefusalRequest
from agent.tools.agent_port import AgentTask, SubagentReport
from agent.tools.base import ToolContext, ToolError
from agent.tools.builtin.agent import agent_tool
from agent.tools.builtin.ask_user_question import ask_user_question_tool
from agent.tools.builtin.enter_plan_mode import enter_plan_mode_tool
from agent.tools.builtin.exit_plan_mode import exit_plan_mode_tool
from agent.tools.builtin.todo_write import todo_write_tool
from agent.tools.services import (
    PartialAnswers,
    PlanAnswer,
    Question,
    QuestionOption,
)
from tests.agent.tools.conftest import Bench

ASK, ENTER, EXIT = ask_user_question_tool(), enter_plan_mode_tool(), exit_plan_mode_tool()
TODO, AGENT = todo_write_tool(), agent_tool()


@dataclass
class Person:
    answers: Mapping[str, str] | None = None
    plan_answer: PlanAnswer = field(default_factory=lambda: PlanAnswer(False))
    asked: list[Question] = field(default_factory=list)

    async def ask(
        self, questions: Sequence[Question], abort: AbortSignal
    ) -> Mapping[str, str] | None:
        self.asked.extend(questions)
        return self.answers

    async def approve_plan(self, plan: str, abort: AbortSignal) -> PlanAnswer:
        return self.plan_answer

    async def decide_host(self, request: HostRequest) -> HostAnswer:
        return HostAnswer(False)

    async def decide_refusal(self, request: RefusalRequest) -> RefusalAnswer:
        raise AssertionError(request)


@dataclass
class Subagents:
    report: SubagentReport
    calls: list[dict[str, object]] = field(default_factory=list)

    async def run(self, task: AgentTask, abort: AbortSignal) -> SubagentReport:
        self.calls.append(
            {
                "prompt": task.prompt,
                "type": task.subagent_type,
                "model": task.model,
                "id": task.tool_use_id,
            }
        )
        return self.report

    async def send(self, to: str, message: str) -> str:
        raise AssertionError(to)

    def listing(self) -> str:
        raise AssertionError

    def has(self, agent_id: str) -> bool:
        return False

    async def stop(self, agent_id: str) -> str:
        raise AssertionError(agent_id)


QUESTION = {
    "question": "Which one?",
    "header": "Choice",
    "options": [{"label": "a", "description": "first"}, {"label": "b"}],
    "multiSelect": True,
}


async def test_answers_come_back_by_question(bench: Bench) -> None:
    person = Person({"Which one?": "b"})
    bench.services.user = person
    outcome = await bench.call(ASK, questions=[QUESTION])
    assert outcome.content == "The user answered:\n\nWhich one?\n→ b"
    assert outcome.tool_response is not None
    assert outcome.tool_response["answers"] == {"Which one?": "b"}
    assert person.asked == [
        Question(
            "Which one?",
            "Choice",
            (QuestionOption("a", "first"), QuestionOption("b")),
            multi_select=True,
        )
    ]


async def test_declined_question_is_an_error_result(bench: Bench) -> None:
    bench.services.user = Person(None)
    outcome = await bench.call(ASK, questions=[QUESTION])
    assert outcome.is_error
    assert "declined to answer" in str(outcome.content)


async def test_no_one_to_ask(bench: Bench) -> None:
    with pytest.raises(ToolError, match="There is no user"):
        await bench.call(ASK, questions=[QUESTION])


@pytest.mark.parametrize(
    "questions",
    [
        [],
        [QUESTION] * 2,
        [{**QUESTION, "options": [{"label": "a"}]}],
        [{**QUESTION, "options": [{"label": "a"}, {"label": "a"}]}],
        [{**QUESTION, "question": f"{n}?"} for n in range(5)],
    ],
    ids=["none", "twice", "one option", "same options", "too many"],
)
def test_malformed_questions_are_refused(questions: list[object]) -> None:
    with pytest.raises(ValueError, match=r"questions|option|answers|same"):
        ASK.parse({"questions": questions})


async def test_task_list_is_replaced(bench: Bench) -> None:
    todos = [
        {"content": "Write", "status": "completed", "activeForm": "Writing"},
        {"content": "Test", "status": "in_progress", "activeForm": "Testing"},
    ]
    outcome = await bench.call(TODO, todos=todos)
    items = (TodoItem("Write", "completed", "Writing"), TodoItem("Test", "in_progress", "Testing"))
    assert bench.services.todos == items
    assert outcome.display == TodoDisplay(items)
    assert outcome.content == "The list now has 2 tasks, 1 completed. In progress: Test"
    assert outcome.tool_response == {"oldTodos": [], "newTodos": todos}
    assert await bench.text(TODO, todos=[]) == "The list is empty now."


async def test_plan_mode_and_back(bench: Bench) -> None:
    bench.services.user = Person(plan_answer=PlanAnswer(True, "acceptEdits", "but carefully"))
    assert await bench.objection(EXIT, plan="x") is not None
    outcome = await bench.call(ENTER)
    # What to do next is for the model alone.
    assert outcome.display == TextDisplay("Plan mode is on.")
    assert "call ExitPlanMode" in str(outcome.content)
    assert bench.services.mode.mode == "plan"
    assert await bench.text(ENTER) == "Plan mode is already on."
    outcome = await bench.call(EXIT, plan="# Do it")
    assert bench.services.mode.mode == "acceptEdits"
    assert outcome.display == PlanDisplay("# Do it")
    assert str(outcome.content).endswith("(mode: acceptEdits).\nThey added:\nbut carefully")


async def test_a_plan_that_the_user_changed_is_the_one_to_carry_out(bench: Bench) -> None:
    bench.services.user = Person(plan_answer=PlanAnswer(True, plan="# Do this"))
    await bench.call(ENTER)
    outcome = await bench.call(EXIT, plan="# Do that")
    assert outcome.display == PlanDisplay("# Do this")
    assert str(outcome.content).endswith("Carry out this version, not yours:\n# Do this")


async def test_rejected_plan_keeps_plan_mode(bench: Bench) -> None:
    bench.services.user = Person(plan_answer=PlanAnswer(False, feedback="smaller steps"))
    await bench.call(ENTER)
    outcome = await bench.call(EXIT, plan="x")
    assert outcome.is_error
    assert "smaller steps" in str(outcome.content)
    assert bench.services.mode.mode == "plan"


async def test_subagents_cannot_change_the_mode(bench: Bench) -> None:
    bench.services.user = Person()
    context = ToolContext("t", "t", "agent1", bench.controller.signal, print, bench.services)
    with pytest.raises(ToolError, match="sub-agent cannot"):
        await ENTER.run(ENTER.parse({}), context)
    with pytest.raises(ToolError, match="sub-agent cannot"):
        await EXIT.run(EXIT.parse({"plan": "x"}), context)
    assert bench.services.mode.mode == "default"


async def test_report_of_a_subagent(bench: Bench) -> None:
    port = Subagents(SubagentReport("found it", "completed", 3, 1_234, "agent1"))
    bench.services.subagents = port
    outcome = await bench.call(AGENT, description="Find it", prompt="where?")
    assert outcome.content == "found it"
    assert outcome.tool_response is not None
    assert outcome.tool_response["status"] == "completed"
    assert outcome.tool_response["content"] == [{"type": "text", "text": "found it"}]
    assert port.calls == [
        {"prompt": "where?", "type": "general-purpose", "model": None, "id": "toolu_1"}
    ]


async def test_unfinished_subagent_is_an_error_with_its_words(bench: Bench) -> None:
    bench.services.subagents = Subagents(SubagentReport("half", "max_turns", 9, 1, "a"))
    outcome = await bench.call(AGENT, description="x", prompt="y")
    assert outcome.is_error
    assert outcome.content == "The sub-agent did not finish (max_turns). Its last words:\nhalf"


async def test_no_subagents_here(bench: Bench) -> None:
    with pytest.raises(ToolError, match="cannot be started here"):
        await bench.call(AGENT, description="x", prompt="y")


async def test_an_absent_user_is_notified_in_the_way_they_chose(bench: Bench) -> None:
    bench.services.user = Person(PartialAnswers({"Which one?": "b"}))
    other = {**QUESTION, "question": "And then?"}
    outcome = await bench.call(ASK, questions=[QUESTION, other])
    assert not outcome.is_error
    assert str(outcome.content).startswith("The form was not finished")
    assert str(outcome.content).endswith("Which one?\n→ b\n\nAnd then?\n→ (no answer)")


async def test_answers_may_have_previews(bench: Bench) -> None:
    person = Person({})
    bench.services.user = person
    shown = {**QUESTION, "options": [{"label": "a", "preview": "[a]"}, {"label": "b"}]}
    await bench.call(ASK, questions=[shown])
    assert [option.preview for option in person.asked[0].options] == ["[a]", ""]
