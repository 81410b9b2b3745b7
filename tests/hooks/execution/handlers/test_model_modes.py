"""Prompt, agent and MCP tool hooks, through the ports the agent hands in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from hooks.events import (
    HookEventPayload,
    PermissionRequestEvent,
    PostToolUse,
    PreToolUse,
    Stop,
    TeammateIdle,
    UserPromptSubmit,
)
from hooks.execution.handlers.hook_call import fill_arguments
from hooks.execution.handlers.mcp_tool import fill
from hooks.ports import HookPorts
from tests.hooks.conftest import Place

PRE = PreToolUse(tool_name="Bash", tool_input={"command": "ls"}, tool_use_id="t")
POST = PostToolUse(tool_name="Bash", tool_input={}, tool_use_id="t", tool_response={"stdout": ""})
ASKED = PermissionRequestEvent(tool_name="Bash", tool_input={})
IDLE = TeammateIdle(teammate_name="a", team_name="b")
PROMPT = UserPromptSubmit(prompt="p")


@dataclass
class Model:
    """A small model with one answer; an exception is raised instead."""

    answer: str | Exception
    asked: list[tuple[str, str, str | None]] = field(default_factory=list)

    async def __call__(self, prompt: str, *, system: str, model: str | None) -> str:
        self.asked.append((prompt, system, model))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@dataclass
class SubAgent:
    """A hook agent with one answer; None is running out of turns."""

    answer: Mapping[str, object] | None
    turns: list[int] = field(default_factory=list)

    async def __call__(
        self, prompt: str, *, system: str, model: str | None, max_turns: int
    ) -> Mapping[str, object] | None:
        self.turns.append(max_turns)
        return self.answer


@pytest.mark.parametrize(
    ("payload", "fields", "decision", "continue_", "proceeds"),
    [
        (Stop(), {}, "block", True, False),
        (PRE, {}, "deny", False, False),
        (PRE, {"continueOnBlock": True}, "deny", True, False),
        (POST, {}, "block", False, False),
        (POST, {"continueOnBlock": True}, "block", True, True),
        (PROMPT, {}, "block", False, False),
        (ASKED, {}, "none", True, None),
        (IDLE, {}, "none", False, True),
        (IDLE, {"continueOnBlock": True}, "block", True, False),
    ],
    ids=lambda value: value.event_name if isinstance(value, HookEventPayload) else None,
)
async def test_what_not_ok_means(
    place: Place,
    payload: HookEventPayload,
    fields: dict[str, object],
    decision: str,
    continue_: bool,
    proceeds: bool | None,
) -> None:
    ports = HookPorts(ask_small_model=Model('```json\n{"ok": false, "reason": "bad"}\n```'))
    handler = {"type": "prompt", "prompt": "Is it fine? $ARGUMENTS", **fields}
    runner = place.runner(payload.event_name, handler, ports=ports)
    outcome = await runner.run(payload)
    assert (outcome.decision, outcome.continue_, outcome.proceeds) == (
        decision,
        continue_,
        proceeds,
    )
    if decision != "none":
        assert outcome.reason == "bad"
    if not continue_:
        assert outcome.stop_reason == "bad"


async def test_ok_is_success_and_the_model_sees_the_event(place: Place) -> None:
    model = Model('{"ok": true}')
    handler = {"type": "prompt", "prompt": "Fine? $ARGUMENTS Yes?", "model": "small-1"}
    runner = place.runner("Stop", handler, ports=HookPorts(ask_small_model=model))
    assert (await runner.run(Stop(last_assistant_message="done"))).outcome == "success"
    ((prompt, _, name),) = model.asked
    assert name == "small-1"
    assert prompt.startswith('Fine? {"session_id"')
    assert '"last_assistant_message": "done"' in prompt
    assert prompt.endswith(" Yes?")


async def test_impossible_lets_a_stop_through(place: Place) -> None:
    model = Model('{"ok": false, "reason": "no tests", "impossible": true}')
    runner = place.runner(
        "Stop", {"type": "prompt", "prompt": "x"}, ports=HookPorts(ask_small_model=model)
    )
    outcome = await runner.run(Stop())
    assert (outcome.outcome, outcome.proceeds) == ("success", True)
    assert "no tests" in outcome.notices[0]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("YES", "did not answer with JSON"),
        ('{"ok": "yes"}', '"ok" must be true or false'),
        ("{ok: true}", "invalid JSON"),
        (RuntimeError("overloaded"), "RuntimeError: overloaded"),
    ],
)
async def test_a_useless_answer_is_an_error(
    place: Place, answer: str | Exception, said: str
) -> None:
    ports = HookPorts(ask_small_model=Model(answer))
    runner = place.runner("Stop", {"type": "prompt", "prompt": "x"}, ports=ports)
    outcome = await runner.run(Stop())
    assert (outcome.outcome, outcome.proceeds) == ("non_blocking_error", True)
    assert said in outcome.notices[0]


async def test_without_a_model_the_hook_reports_it(place: Place) -> None:
    runner = place.runner(
        "Stop",
        {"type": "prompt", "prompt": "x"},
        {"type": "agent", "prompt": "x"},
        {"type": "mcp_tool", "server": "s", "tool": "t"},
    )
    outcome = await runner.run(Stop())
    assert outcome.outcome == "non_blocking_error"
    no_prompt, no_agent, no_server = outcome.notices
    assert no_prompt.endswith(": no model is configured that prompt hooks could ask")
    assert no_agent.endswith(": no model is configured")
    assert "the MCP server 's' cannot be reached: no MCP servers are connected here" in no_server


async def test_agent_hooks_have_fifty_turns_and_running_out_is_visible(place: Place) -> None:
    agent = SubAgent(None)
    ports = HookPorts(run_hook_agent=agent)
    outcome = await place.runner("Stop", {"type": "agent", "prompt": "x"}, ports=ports).run(Stop())
    assert (outcome.outcome, outcome.proceeds, agent.turns) == ("cancelled", True, [50])
    assert "no answer within 50 turns" in outcome.notices[0]


async def test_agent_hooks_deny_without_ending_the_turn(place: Place) -> None:
    ports = HookPorts(run_hook_agent=SubAgent({"ok": False, "reason": "tests fail"}))
    outcome = await place.runner("PreToolUse", {"type": "agent", "prompt": "x"}, ports=ports).run(
        PRE
    )
    assert (outcome.decision, outcome.continue_, outcome.reason) == ("deny", True, "tests fail")


async def test_mcp_tools_get_values_of_the_event(place: Place) -> None:
    seen: list[tuple[str, str, Mapping[str, object]]] = []

    async def call(server: str, tool: str, tool_input: Mapping[str, object]) -> str:
        seen.append((server, tool, tool_input))
        return '{"decision": "block", "reason": "from mcp"}'

    handler = {
        "type": "mcp_tool",
        "server": "audit",
        "tool": "log",
        "input": {"text": "ran ${tool_input.command}!", "all": "${tool_input}", "no": "${x.y}"},
    }
    runner = place.runner("PreToolUse", handler, ports=HookPorts(call_mcp_tool=call))
    outcome = await runner.run(PRE)
    assert (outcome.decision, outcome.reason) == ("deny", "from mcp")
    expected = {"text": "ran ls!", "all": {"command": "ls"}, "no": ""}
    assert seen == [("audit", "log", expected)]


def test_references_reach_into_lists_and_objects() -> None:
    payload = {"a": {"b": 3}}
    assert fill({"x": ["${a.b}", "v${a.b}"]}, payload) == {"x": [3, "v3"]}


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("a $ARGUMENTS b", "a {} b"),
        ("a", "a\n\n{}"),
        (r"costs \$5 $ARGUMENTS", "costs $5 {}"),
        (r"literal \$ARGUMENTS", "literal $ARGUMENTS\n\n{}"),
    ],
)
def test_arguments_go_where_the_prompt_says(prompt: str, expected: str) -> None:
    assert fill_arguments(prompt, b"{}") == expected


def test_nothing_in_the_payload_is_taken_for_the_prompts_own_text() -> None:
    payload = rb'{"command": "echo \\$ARGUMENTS \$HOME"}'
    assert fill_arguments(r"\$5 for $ARGUMENTS", payload) == "$5 for " + payload.decode()
