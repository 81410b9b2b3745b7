"""Workflows on the scripted model: fan-outs, scripts, orchestration mode, runs that resume."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from io import StringIO
from pathlib import Path

import pytest

from agent.abort import AbortController
from agent.assembly.agents import workflow_setup
from agent.assembly.agents.workflow_setup import CALL_LIMITS
from agent.events import AgentEvent
from agent.headless.headless_output import HeadlessOutput
from agent.model.scripted.record import RecordedRequest
from agent.model.scripted.scenario import ModelInfo, Part, Scenario, Text, ToolCall, Turn
from agent.orchestration.mode_reminders import ENTER, EXIT
from agent.orchestration.script.script_engine import has_engine
from agent.tools.agent_port import CallLimits
from agent.tools.base import ToolError
from agent.tools.workflow_port import WorkflowCall
from agent.user_prompt import Prompt
from permissions.decision import Decision
from permissions.request import PermissionRequest
from tests.journeys.conftest import Begin, Journey, results, yes

needs_engine = pytest.mark.skipif(not has_engine(), reason="quickjs-ng has no build here")
ALLOW = ("Workflow",)
HEAD = "export const meta = { name: 'audit', description: 'looks at parts' };\n"


def tools_of(request: RecordedRequest) -> list[str]:
    return [tool["name"] for tool in request.body.get("tools", ())]


def is_agent(request: RecordedRequest) -> bool:
    return "Workflow" not in tools_of(request)


def task_of(request: RecordedRequest) -> str:
    return json.dumps(request.body["messages"][0]["content"])


def findings(summary: str) -> ToolCall:
    finding = {"claim": summary, "evidence": "a.py:1", "severity": "low"}
    return ToolCall("report_findings", {"summary": summary, "findings": [finding]})


def scripted(
    main: Sequence[Sequence[Part]], agent: Callable[[str], Sequence[Part]]
) -> Callable[[RecordedRequest], Turn]:
    """Answer the main conversation in order, and each agent by its task."""
    answers = iter(main)

    def respond(request: RecordedRequest) -> Turn:
        if is_agent(request):
            return Turn(tuple(agent(task_of(request))))
        return Turn(tuple(next(answers)))

    return respond


def reporting(task: str) -> Sequence[Part]:
    if "REFUTE" in task:
        return [findings("confirmed: seen" if "part one" in task else "refuted: not so")]
    return [findings("part one is fine" if "part one" in task else "part two is odd")]


def workflow_result(events: Sequence[AgentEvent]) -> str:
    (result,) = [r for r in results(events) if r.name == "Workflow" and r.agent_id is None]
    return result.text


async def result_in_background(journey: Journey) -> list[AgentEvent]:
    workflows = journey.conversation.workflows
    while not journey.conversation.hook_signals.is_woken:
        (run,) = workflows.running
        await workflows.to_the_end(run.record.id)
    return [event async for event in journey.conversation.run(None)]


async def test_subtasks_come_back_with_verdicts(begin: Begin) -> None:
    call = ToolCall("Workflow", {"subtasks": ["look at part one", "look at part two"]})
    journey = await begin(respond=scripted([[call], [Text("Summed up.")]], reporting), allow=ALLOW)
    text = workflow_result(await journey.send("check everything with a workflow"))
    assert text.startswith("[agent 1: look at part one]\n{")
    assert "confirmed: seen" in text.partition("[verify 1]")[2].partition("[agent 2")[0]
    assert "refuted: not so" in text.partition("[verify 2]")[2]
    agents = [r for r in journey.server.requests if is_agent(r)]
    assert len(agents) == 4
    assert all(tools_of(request) == ["Bash", "report_findings"] for request in agents)


async def test_a_resumed_fan_out_runs_the_subtasks_that_the_user_was_shown(begin: Begin) -> None:
    first = ToolCall("Workflow", {"subtasks": ["look at part one", "look at part two"]})
    journey = await begin(respond=scripted([[first], [Text("Well.")]], reporting), allow=ALLOW)
    await journey.send("use a workflow")
    workflows = journey.conversation.workflows
    run_id = workflows.summaries()[0].line.split()[1].rstrip(":")
    agent_count = len([r for r in journey.server.requests if is_agent(r)])
    call = WorkflowCall(subtasks=["look at part one", "look at part three"], resumes=run_id)
    plan = await workflows.plan(call, "x")
    assert plan.subtasks == ("look at part one", "look at part three")
    started = await workflows.start(call, "x", AbortController().signal)
    assert "[agent 2: look at part three]" in started.text
    agents = [r for r in journey.server.requests if is_agent(r)]
    # The first subtask and its verification are recorded.
    assert len(agents) == agent_count + 2


async def test_subtasks_that_are_not_texts_are_not_asked_about(begin: Begin) -> None:
    call = ToolCall("Workflow", {"subtasks": [{"prompt": "look"}]})
    journey = await begin(respond=scripted([[call], [Text("Well.")]], reporting), answers=[yes()])
    assert "no usable subtasks" in workflow_result(await journey.send("use a workflow"))
    assert not journey.person.asked


async def test_a_fan_out_that_no_one_can_allow_is_denied(begin: Begin) -> None:
    call = ToolCall("Workflow", {"subtasks": ["look at part one"], "verify": False})
    journey = await begin(respond=scripted([[call], [Text("Well.")]], reporting), has_person=False)
    assert "denied" in workflow_result(await journey.send("use a workflow")).lower()
    assert not [r for r in journey.server.requests if is_agent(r)]


async def test_the_other_calls_of_a_reporting_answer_still_run(begin: Begin) -> None:
    def agent(task: str) -> Sequence[Part]:
        return [findings("done"), ToolCall("Bash", {"command": "echo ran > ran.txt; echo ok"})]

    call = ToolCall("Workflow", {"subtasks": ["one"], "verify": False})
    journey = await begin(
        respond=scripted([[call], [Text("Done.")]], agent),
        allow=("Workflow", "Bash(echo *)"),
    )
    text = workflow_result(await journey.send("go"))
    assert '"summary": "done"' in text
    assert (journey.project / "ran.txt").exists()


async def test_an_agent_at_its_turn_limit_reports_it_and_runs_again(begin: Begin) -> None:
    def agent(_task: str) -> Sequence[Part]:
        return [ToolCall("Bash", {"command": "echo again"})]

    call = ToolCall("Workflow", {"subtasks": ["one"], "verify": False})
    journey = await begin(respond=scripted([[call], [Text("Done.")]], agent), allow=ALLOW)
    text = workflow_result(await journey.send("go"))
    assert "(subagent hit the turn limit before finishing)" in text
    assert len([r for r in journey.server.requests if is_agent(r)]) == 15


@pytest.mark.parametrize(
    ("command", "shown"),
    [("seq 1 2000", "too long to show: 8,89"), ("sleep 60", "after 0.2 s")],
)
async def test_calls_of_an_agent_have_the_limits_of_a_fan_out(
    begin: Begin, monkeypatch: pytest.MonkeyPatch, command: str, shown: str
) -> None:
    assert CallLimits(command_s=60.0, result_chars=8_000) == CALL_LIMITS
    if command.startswith("sleep"):
        monkeypatch.setattr(workflow_setup, "CALL_LIMITS", CallLimits(0.2, 8_000))
    answers = iter([[ToolCall("Bash", {"command": command})], [findings("done")]])
    call = ToolCall("Workflow", {"subtasks": ["one"], "verify": False})
    journey = await begin(
        respond=scripted([[call], [Text("Done.")]], lambda _task: next(answers)),
        allow=("Workflow", f"Bash({command})"),
    )
    await journey.send("go")
    agent = [request for request in journey.server.requests if is_agent(request)]
    assert shown in json.dumps(agent[-1].body["messages"][-1])


async def test_an_agent_that_does_not_report_has_its_text_taken(begin: Begin) -> None:
    call = ToolCall("Workflow", {"subtasks": ["one"], "verify": False})
    journey = await begin(
        respond=scripted([[call], [Text("Done.")]], lambda _task: [Text("I only talk.")]),
        allow=ALLOW,
    )
    text = workflow_result(await journey.send("go"))
    assert "[agent 1: one]\nI only talk." in text


@needs_engine
async def test_a_script_runs_in_the_background_and_its_result_comes_back(begin: Begin) -> None:
    body = (
        HEAD + "phase('Look'); return await parallel(['a', 'b'].map(n => () => agent('say ' + n)))"
    )
    journey = await begin(
        respond=scripted(
            [[ToolCall("Workflow", {"script": body})], [Text("Started.")], [Text("Read it.")]],
            lambda task: [Text("said a" if "say a" in task else "said b")],
        ),
        allow=ALLOW,
    )
    started = workflow_result(await journey.send("run the script"))
    assert "runs in the background as audit-" in started
    await result_in_background(journey)
    assert '["said a", "said b"]' in json.dumps(journey.last_messages()).replace("\\", "")


@needs_engine
async def test_a_wrong_script_is_an_error_that_names_its_line(begin: Begin) -> None:
    call = ToolCall("Workflow", {"script": "export const meta = { name: f() }"})
    journey = await begin(respond=scripted([[call], [Text("Well.")]], reporting), allow=ALLOW)
    assert "line 1: only literal values" in workflow_result(await journey.send("go"))


@needs_engine
async def test_a_saved_workflow_is_found_by_name(begin: Begin) -> None:
    call = ToolCall("Workflow", {"name": "audit", "args": {"n": 2}, "run_in_background": False})
    journey = await begin(
        respond=scripted([[call], [Text("Well.")]], lambda _task: [Text("fine")]),
        allow=ALLOW,
        trust=True,
    )
    place = journey.project / ".claude" / "workflows"
    place.mkdir(parents=True)
    (place / "audit.js").write_text(HEAD + "return [await agent('x'), args.n]")
    assert workflow_result(await journey.send("go")) == '["fine", 2]'


@pytest.mark.parametrize(
    ("model", "roles"),
    [("claude-opus-4-8", ["user", "system", "assistant"]), ("other", ["user", "assistant"])],
)
async def test_a_reminder_is_of_the_system_where_the_model_takes_that(
    begin: Begin, model: str, roles: list[str]
) -> None:
    info = ModelInfo("other", system_messages=False)
    journey = await begin(
        scenario=Scenario(models=(info,)),
        respond=scripted([[Text("ok")]] * 3, reporting),
        orchestrate=True,
    )
    await journey.conversation.controls.set_model(model)
    await journey.send("one")
    await journey.send("two")
    messages = journey.last_messages()
    assert [message["role"] for message in messages[:-1]] == roles
    told = next(message for message in messages if ENTER[:60] in json.dumps(message))
    assert told["role"] == roles[-2]
    assert EXIT[:60] not in json.dumps(messages)


async def test_another_model_that_takes_no_system_messages_reads_them_as_notes(
    begin: Begin,
) -> None:
    info = ModelInfo("other", system_messages=False)
    journey = await begin(
        scenario=Scenario(models=(info,)),
        respond=scripted([[Text("ok")]] * 3, reporting),
        orchestrate=True,
    )
    await journey.conversation.controls.set_model("claude-opus-4-8")
    await journey.send("one")
    await journey.conversation.controls.set_model("other")
    await journey.send("two")
    messages = journey.last_messages()
    assert {message["role"] for message in messages} == {"user", "assistant"}
    assert json.dumps(messages).count(ENTER[:60]) == 1


async def test_a_resumed_session_is_informed_that_the_mode_is_off(begin: Begin) -> None:
    first = await begin(respond=scripted([[Text("ok")]] * 3, reporting), orchestrate=True)
    await first.send("one")
    session = first.conversation.view.session_id
    await first.conversation.aclose()
    again = await begin(server=first.server, resume=session)
    await again.send("two")
    whole = json.dumps(again.last_messages())
    assert whole.index(ENTER[:60]) < whole.index("two") < whole.index(EXIT[:60])


async def test_agents_inherit_the_effort_of_the_mode(begin: Begin) -> None:
    call = ToolCall("Workflow", {"subtasks": ["look at part one"]})
    journey = await begin(
        respond=scripted([[call], [Text("Well.")]], reporting), allow=ALLOW, orchestrate=True
    )
    await journey.send("go")
    efforts = [request.body["output_config"]["effort"] for request in journey.server.requests]
    assert efforts == ["xhigh"] * 4


async def test_consent_of_the_mode_ends_with_it(begin: Begin) -> None:
    call = ToolCall("Workflow", {"subtasks": ["look at part one"], "verify": False})
    journey = await begin(
        respond=scripted([[call], [Text("Well.")], [call], [Text("Well.")]], reporting),
        allow=("Workflow(@orchestration)",),
        orchestrate=True,
    )
    await journey.send("go")
    assert journey.person.asked == []
    journey.assembled.commands.context.orchestration.switch(is_on=False)
    await journey.send("go on")
    assert [request.tool for request, _ in journey.person.asked] == ["Workflow"]


async def test_without_a_screen_the_option_is_the_consent(begin: Begin) -> None:
    call = ToolCall("Workflow", {"subtasks": ["look at part one"], "verify": False})
    journey = await begin(
        respond=scripted([[call], [Text("Well.")]], reporting), has_person=False, orchestrate=True
    )
    assert "part one is fine" in workflow_result(await journey.send("go"))


async def test_mode_reminders_follow_the_users_message(begin: Begin) -> None:
    journey = await begin(respond=scripted([[Text("ok")]] * 4, reporting))
    orchestration = journey.assembled.commands.context.orchestration
    systems = []
    for prompt, on in (("one", True), ("two", True), ("three", False), ("four", False)):
        orchestration.switch(is_on=on)
        await journey.send(prompt)
        systems.append(json.dumps(journey.server.requests[-1].body["system"]))
    texts = [json.dumps(message) for message in journey.last_messages()]
    whole = " ".join(texts)
    assert whole.count(ENTER[:60]) == 1
    assert whole.count(EXIT[:60]) == 1
    assert whole.index("one") < whole.index(ENTER[:60]) < whole.index("two")
    assert whole.index("three") < whole.index(EXIT[:60]) < whole.index("four")
    assert len(set(systems)) == 1
    efforts = [r.body.get("output_config", {}).get("effort") for r in journey.server.requests]
    assert efforts[0] == efforts[1]
    assert efforts[2] == efforts[3]


@needs_engine
async def test_a_saved_workflow_is_a_command(begin: Begin) -> None:
    journey = await begin(respond=scripted([[Text("ok")]], reporting), trust=True)
    place = journey.project / ".agent" / "workflows"
    place.mkdir(parents=True)
    (place / "audit.js").write_text(HEAD + "return 1")
    (place / "broken.js").write_text("return 1")
    registry = journey.assembled.commands.registry
    names = {command.meta.name: command.meta.description for command in registry.all()}
    assert names.get("audit") == "looks at parts"
    assert "broken" not in names
    await journey.send('/audit ["users"]')
    sent = json.dumps(journey.last_messages())
    assert "Run the saved workflow audit with the Workflow tool" in sent


async def test_a_project_that_is_not_trusted_adds_no_commands(begin: Begin) -> None:
    journey = await begin(respond=scripted([[Text("ok")]], reporting))
    place = journey.project / ".claude" / "workflows"
    place.mkdir(parents=True)
    (place / "audit.js").write_text(HEAD + "return 1")
    registry = journey.assembled.commands.registry
    assert "audit" not in {command.meta.name for command in registry.all()}


async def test_lines_of_a_run_without_a_screen_say_how_far_it_is(begin: Begin) -> None:
    call = ToolCall("Workflow", {"subtasks": ["look at part one", "look at part two"]})
    journey = await begin(respond=scripted([[call], [Text("Read.")]], reporting), allow=ALLOW)
    out, err = StringIO(), StringIO()
    output = HeadlessOutput(journey.conversation, "stream-json", stdout=out, stderr=err)
    assert await output.run(Prompt("go")) == 0
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    progress = [line for line in lines if line.get("subtype") == "workflow_progress"]
    done = [line["agents_done"] for line in progress]
    assert (done[0], done[-1], done) == (0, 4, sorted(done))
    assert progress[-1]["state"] == "ended"
    assert "workflow subtasks: ended, " in err.getvalue()


@needs_engine
async def test_a_script_that_changes_while_the_user_is_asked_does_not_run(
    begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = ToolCall("Workflow", {"scriptPath": "audit.js", "run_in_background": False})
    journey = await begin(
        respond=scripted([[call], [Text("Done.")]], lambda task: [Text(task)]), answers=[yes()]
    )
    file = journey.project / "audit.js"
    file.write_text(HEAD + "return 'what was shown'")
    decide = journey.person.decide

    async def change_and_decide(request: PermissionRequest, pending: Decision) -> Decision | None:
        file.write_text(HEAD + "return 'what came later'")
        return await decide(request, pending)

    monkeypatch.setattr(journey.person, "decide", change_and_decide)
    text = workflow_result(await journey.send("audit"))
    assert len(journey.person.asked) == 1
    assert "what was shown" in text


@needs_engine
async def test_a_run_is_resumed_only_as_what_it_is(begin: Begin) -> None:
    script = ToolCall("Workflow", {"script": HEAD + "return 1", "run_in_background": False})
    journey = await begin(
        respond=scripted([[script], [Text("Done.")]], lambda task: [Text(task)]), allow=ALLOW
    )
    await journey.send("audit")
    workflows = journey.conversation.workflows
    (ended,) = workflows.summaries()
    run_id = ended.line.split()[1].rstrip(":")
    call = WorkflowCall(subtasks=["look"], resumes=run_id)
    with pytest.raises(ToolError, match="another kind of workflow"):
        await workflows.start(call, "x", AbortController().signal)


@needs_engine
async def test_a_project_that_is_not_trusted_replaces_no_workflow(
    begin: Begin, fresh_home: Path
) -> None:
    call = ToolCall("Workflow", {"name": "audit", "run_in_background": False})
    journey = await begin(
        respond=scripted([[call], [Text("Done.")]], lambda task: [Text(task)]),
        allow=("Workflow(audit)",),
    )
    for place, answer in ((fresh_home, "mine"), (journey.project, "foreign")):
        directory = place / ".agent" / "workflows"
        directory.mkdir(parents=True)
        (directory / "audit.js").write_text(HEAD + f"return '{answer}'")
    assert "mine" in workflow_result(await journey.send("audit"))
