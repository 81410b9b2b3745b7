"""Answers of agents of a script that follow a schema, and the question at a run's limit."""

from __future__ import annotations

import json

import pytest

from agent.model.scripted.scenario import Part, Text, ToolCall
from agent.orchestration.script.script_engine import has_engine
from tests.journeys.conftest import Begin
from tests.journeys.test_agent_worktrees import Owner
from tests.journeys.test_workflows import (
    HEAD,
    reporting,
    result_in_background,
    scripted,
    workflow_result,
)

SCHEMA = '{ type: "object", properties: { n: { type: "integer" } }, required: ["n"] }'


@pytest.mark.skipif(not has_engine(), reason="quickjs-ng has no build here")
@pytest.mark.parametrize(
    ("answers", "result"),
    [
        (["three", '{"n": "three"}', '{"n": 3}'], {"n": 3}),
        (["three"] * 5, "agent() got no answer that follows the schema"),
    ],
)
async def test_an_agent_answers_by_the_schema_or_the_script_gets_an_error(
    begin: Begin, answers: list[str], result: object
) -> None:
    script = (
        f"{HEAD}try {{ return await agent('count', {{ schema: {SCHEMA} }}) }}"
        " catch (error) { return error.message }"
    )
    texts = iter(answers)
    main: list[list[Part]] = [
        [ToolCall("Workflow", {"script": script})],
        [Text("Started.")],
        [Text("Done.")],
    ]
    journey = await begin(
        respond=scripted(main, lambda _task: [Text(next(texts))]), allow=("Workflow",)
    )
    await journey.send("go")
    (run,) = journey.conversation.workflows.running
    await result_in_background(journey)
    workflows = journey.conversation.workflows
    record = await workflows.journal.ask(lambda store: store.runs.get(run.record.id))
    assert record is not None
    found = json.loads(record.result)
    assert found == result if isinstance(result, dict) else str(result) in found
    assert next(texts, None) is None


async def test_at_a_runs_limit_the_user_is_asked_and_a_yes_continues_it(begin: Begin) -> None:
    tasks = {"subtasks": ["look at part one", "look at part two"], "verify": False, "maxAgents": 1}
    main: list[list[Part]] = [[ToolCall("Workflow", tasks)], [Text("Done.")]]
    user = Owner("Allow")
    journey = await begin(respond=scripted(main, reporting), allow=("Workflow",), ask=user)
    text = workflow_result(await journey.send("go"))
    assert "part one is fine" in text
    assert "part two is odd" in text
    assert "1 of 1 agents of this run are used. Allow as much again?" in user.asked[0]
