"""Agents on the program's own endpoints: tools, handoffs, guardrails, approvals, sessions."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from pydantic import BaseModel

from agent import (
    Agent,
    FunctionTool,
    GuardrailFunctionOutput,
    InputGuardrailTripwireTriggered,
    MaxTurnsExceeded,
    RunConfig,
    RunContextWrapper,
    Runner,
    RunState,
    SQLiteSession,
    function_tool,
    handoff,
    input_guardrail,
    program_gate,
)
from agent.model.scripted.scenario import Text, Thinking, ToolCall, Turn
from tests.agent.library.conftest import Serve

DONE = Turn((Text("Done."),), times=0)


@function_tool
def add(a: int, b: int) -> str:
    """Add two numbers.

    Args:
        a: The first one.
        b: The second one.
    """
    return str(a + b)


async def test_a_tool_is_called_and_its_output_goes_back(serve: Serve) -> None:
    server = await serve(
        Turn(
            (Thinking("hm"), ToolCall("add", {"a": 1, "b": 2}), ToolCall("add", {"a": 3, "b": 4}))
        ),
        DONE,
    )
    result = await Runner.run(Agent("Adder", instructions="Add.", tools=[add]), "go")
    assert result.final_output == "Done."
    kinds = [getattr(item, "type", "") for item in result.new_items]
    assert kinds == [
        "reasoning_item",
        "tool_call_item",
        "tool_call_item",
        "tool_call_output_item",
        "tool_call_output_item",
        "message_output_item",
    ]
    last = server.requests[-1].body
    assert last["system"][0]["text"] == "Add."
    assert last["tools"][0]["input_schema"]["properties"]["a"]["description"] == "The first one."
    assert [block["type"] for block in last["messages"][1]["content"]] == [
        "thinking",
        "tool_use",
        "tool_use",
    ]
    assert [block["content"] for block in last["messages"][2]["content"]] == ["3", "7"]
    assert result.context_wrapper.usage.requests == 2
    assert result.last_response_id


async def test_a_streamed_run_yields_deltas_and_items(serve: Serve) -> None:
    await serve(Turn((ToolCall("add", {"a": 1, "b": 2}),)), DONE)
    result = Runner.run_streamed(Agent("Adder", tools=[add]), "go")
    names = [
        getattr(event, "name", "") or str(getattr(getattr(event, "data", None), "type", ""))
        for event in [event async for event in result.stream_events()]
    ]
    assert result.final_output == "Done."
    assert names.index("tool_called") < names.index("tool_output")
    assert "response.output_text.delta" in names
    assert names[-1] == "message_output_created"


async def test_a_reader_that_is_cancelled_between_two_events_leaves_the_run_alone(
    serve: Serve,
) -> None:
    await serve(Turn((ToolCall("add", {"a": 1, "b": 2}),)), DONE)
    result = Runner.run_streamed(Agent("Adder", tools=[add]), "go")
    events, has_output = result.stream_events(), asyncio.Event()

    async def read() -> None:
        async for event in events:
            if getattr(event, "name", "") == "tool_output":
                has_output.set()
                await asyncio.Event().wait()

    reader = asyncio.ensure_future(read())
    await has_output.wait()
    reader.cancel()
    assert result.run_loop_task is not None
    await result.run_loop_task
    assert result.final_output == "Done."


async def test_another_agent_takes_over(serve: Serve) -> None:
    server = await serve(Turn((ToolCall("transfer_to_billing", {}),)), DONE)
    billing = Agent("Billing", instructions="You bill.")
    result = await Runner.run(Agent("Triage", handoffs=[handoff(billing)]), "bill me")
    assert result.last_agent is billing
    assert server.requests[-1].body["system"][0]["text"] == "You bill."


async def test_a_guardrail_stops_the_run_before_the_model(serve: Serve) -> None:
    server = await serve(DONE)

    @input_guardrail(run_in_parallel=False)
    def no_secrets(
        context: RunContextWrapper, agent: object, given: object
    ) -> GuardrailFunctionOutput:
        return GuardrailFunctionOutput(None, "secret" in str(given))

    agent = Agent("Careful", input_guardrails=[no_secrets])
    with pytest.raises(InputGuardrailTripwireTriggered):
        await Runner.run(agent, "a secret")
    assert server.requests == []
    assert (await Runner.run(agent, "anything else")).final_output == "Done."


class Verdict(BaseModel):
    """What a reviewer says."""

    approved: bool
    remarks: list[str]


async def test_output_of_another_form_is_asked_for_again(serve: Serve) -> None:
    good = json.dumps({"approved": True, "remarks": []})
    server = await serve(Turn((Text("Looks fine!"),)), Turn((Text(good),)))
    result = await Runner.run(Agent("Reviewer", output_type=Verdict), "review")
    assert result.final_output == Verdict(approved=True, remarks=[])
    assert len(server.requests) == 2
    assert "does not follow the JSON schema" in str(server.requests[-1].body["messages"][-1])


async def test_approvals_survive_another_process(serve: Serve, tmp_path: Path) -> None:
    await serve(Turn((ToolCall("erase", {"name": "a"}),)), DONE)
    erased: list[str] = []

    @function_tool(needs_approval=True)
    def erase(name: str) -> str:
        erased.append(name)
        return "gone"

    agent = Agent("Eraser", tools=[erase])
    waiting = await Runner.run(agent, "erase a")
    assert waiting.final_output is None
    assert erased == []
    stored = waiting.to_state().to_string()
    state = await RunState.from_string(agent, stored)
    state.approve(state.get_interruptions()[0])
    result = await Runner.run(agent, state)
    assert (result.final_output, erased) == ("Done.", ["a"])


async def test_the_session_remembers(serve: Serve, tmp_path: Path) -> None:
    server = await serve(DONE)
    session = SQLiteSession("one", tmp_path / "sessions.db")
    await Runner.run(Agent("A"), "first", session=session)
    await Runner.run(Agent("A"), "second", session=session)
    session.close()
    texts = [message["content"][0]["text"] for message in server.requests[-1].body["messages"]]
    assert texts == ["first", "Done.", "second"]


async def test_turns_are_model_calls(serve: Serve) -> None:
    server = await serve(Turn((ToolCall("add", {"a": 1, "b": 2}),), times=0))
    with pytest.raises(MaxTurnsExceeded, match="Max turns \\(2\\) exceeded"):
        await Runner.run(Agent("Adder", tools=[add]), "go", max_turns=2)
    assert len(server.requests) == 2


async def test_rules_of_the_settings_count_for_tools_of_the_caller(
    serve: Serve, fresh_home: Path
) -> None:
    server = await serve(Turn((ToolCall("add", {"a": 1, "b": 2}),)), DONE)
    settings = fresh_home / ".agent" / "settings.json"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(json.dumps({"permissions": {"deny": ["add"]}}))
    result = await Runner.run(Agent("Adder", tools=[add]), "go")
    assert "Permission denied" in str(result.to_input_list())
    assert "Permission denied" in str(server.requests[-1].body["messages"][-1])


async def test_a_rule_that_asks_makes_a_call_wait(serve: Serve) -> None:
    await serve(Turn((ToolCall("add", {"a": 1, "b": 2}),)), DONE)
    agent = Agent("Adder", tools=[add])
    config = RunConfig(permissions=program_gate(ask=["add"]))
    waiting = await Runner.run(agent, "go", run_config=config)
    state = waiting.to_state()
    assert [item.name for item in state.get_interruptions()] == ["add"]
    state.reject(state.get_interruptions()[0], rejection_message="not now")
    result = await Runner.run(agent, state, run_config=config)
    assert result.final_output == "Done."
    assert "not now" in str(result.to_input_list())


async def test_a_function_is_a_hook_before_the_callers_tools(serve: Serve) -> None:
    await serve(Turn((ToolCall("add", {"a": 1, "b": 2}),)), DONE)

    async def change(payload: Mapping[str, object]) -> Mapping[str, object]:
        output = {"hookEventName": "PreToolUse", "updatedInput": {"a": 40, "b": 2}}
        return {"hookSpecificOutput": output}

    config = RunConfig(permissions=program_gate(hooks={"PreToolUse": [change]}))
    result = await Runner.run(Agent("Adder", tools=[add]), "go", run_config=config)
    assert "42" in [getattr(item, "output", None) for item in result.new_items]


async def test_hooks_are_informed_of_failures_and_denials(serve: Serve) -> None:
    heard: list[tuple[object, object]] = []

    async def hear(payload: Mapping[str, object]) -> Mapping[str, object] | None:
        heard.append((payload["hook_event_name"], payload.get("error") or payload.get("reason")))
        name = payload["hook_event_name"]
        return {"hookSpecificOutput": {"hookEventName": name, "additionalContext": "Try later."}}

    @function_tool
    def broken() -> str:
        """Fail."""
        raise ValueError("no disk")

    server = await serve(Turn((ToolCall("broken", {}), ToolCall("add", {"a": 1, "b": 2}))), DONE)
    events = ("PostToolUse", "PostToolUseFailure", "PermissionDenied")
    gate = program_gate(deny=["add"], hooks={name: [hear] for name in events})
    await Runner.run(Agent("A", tools=[add, broken]), "go", run_config=RunConfig(permissions=gate))
    assert {name for name, _ in heard} == {"PermissionDenied", "PostToolUseFailure"}
    assert ("PostToolUseFailure", "ValueError: no disk") in heard
    given = [block["content"] for block in server.requests[-1].body["messages"][-1]["content"]]
    assert "no disk" not in given[0]
    assert given[0].endswith("Try later.")
    assert given[1].startswith("Permission denied")


async def test_hooks_may_replace_what_a_tool_returned(serve: Serve) -> None:
    await serve(Turn((ToolCall("add", {"a": 1, "b": 2}),)), DONE)

    async def replace_output(payload: Mapping[str, object]) -> Mapping[str, object]:
        name = payload["hook_event_name"]
        return {"hookSpecificOutput": {"hookEventName": name, "updatedToolOutput": "hidden"}}

    config = RunConfig(permissions=program_gate(hooks={"PostToolUse": [replace_output]}))
    result = await Runner.run(Agent("Adder", tools=[add]), "go", run_config=config)
    assert [getattr(item, "output", None) for item in result.new_items].count("hidden") == 1


async def test_a_deny_rule_holds_for_arguments_that_are_no_json(serve: Serve) -> None:
    ran: list[str] = []

    async def invoke(_context: object, arguments: str) -> str:
        ran.append(arguments)
        return "ran"

    raw = FunctionTool("raw", "", {"type": "object"}, invoke, strict_json_schema=False)
    await serve(Turn((ToolCall("raw", {}, input_json="[1"),)), DONE)
    config = RunConfig(permissions=program_gate(deny=["raw"]))
    await Runner.run(Agent("A", tools=[raw]), "go", run_config=config)
    assert ran == []
