"""Partition, gather, sibling abort: order kept, ten at once, a crash stops its neighbors only."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from pydantic import BaseModel

from agent.abort import AbortController
from agent.events import AgentEvent, ToolResult
from agent.loop.no_hooks import NoHooks
from agent.messages import ToolUse
from agent.stream import TurnEvents
from agent.tools.base import (
    Concurrency,
    InterruptBehavior,
    Tool,
    ToolContext,
    ToolError,
    ToolOutcome,
    build_tool,
)
from agent.tools.builtin.bash import bash_tool
from agent.tools.call import MAX_CONCURRENT, CallOutcome, CallPorts
from agent.tools.dispatch import Dispatcher, partition
from agent.tools.registry import ToolRegistry
from permissions.context import PermissionContext
from permissions.gate import PermissionGate
from permissions.mode import Mode
from permissions.resolve.handlers import HeadlessHandler
from permissions.rules.rule_set import RuleSet
from tests.agent.tools.conftest import Bench


class Empty(BaseModel):
    """No input."""


Body = Callable[[ToolContext], Awaitable[ToolOutcome]]


def tool(name: str, body: Body, *, concurrency: Concurrency = Concurrency.READ_ONLY) -> Tool[Any]:
    async def run(_input: Empty, context: ToolContext) -> ToolOutcome:
        return await body(context)

    return build_tool(
        name=name,
        description="",
        input_model=Empty,
        run=run,
        concurrency=lambda _: concurrency,
        interrupt_behavior=InterruptBehavior.CANCEL,
    )


async def done(_context: ToolContext) -> ToolOutcome:
    return ToolOutcome("done")


async def never(_context: ToolContext) -> ToolOutcome:
    await asyncio.Event().wait()
    return ToolOutcome("unreachable")


async def crash(_context: ToolContext) -> ToolOutcome:
    await asyncio.sleep(0)
    raise RuntimeError("boom")


async def miss(_context: ToolContext) -> ToolOutcome:
    raise ToolError("no such file")


def ports(bench: Bench, *tools: Tool[Any], mode: Mode = Mode.DEFAULT) -> CallPorts:
    tmp_path = bench.root
    context = PermissionContext(
        mode=mode,
        bypass_available=True,
        rules=RuleSet(),
        launch_dir=tmp_path,
        project_root=tmp_path,
        home=tmp_path,
    )
    return CallPorts(
        registry=ToolRegistry(tools),
        gate=PermissionGate(context, HeadlessHandler()),
        hooks=NoHooks(),
        services=bench.services,
    )


async def dispatch(
    ports: CallPorts, names: list[str], controller: AbortController | None = None
) -> tuple[list[AgentEvent], dict[str, str]]:
    events: list[AgentEvent] = []

    async def emit(event: AgentEvent) -> None:
        events.append(event)

    dispatcher = Dispatcher(ports, TurnEvents(emit, "t"))
    calls = [ToolUse(str(index), name, {}) for index, name in enumerate(names)]
    await dispatcher.run(calls, controller or AbortController())
    return events, {key: outcome.outcome for key, outcome in dispatcher.outcomes.items()}


@given(kinds=st.lists(st.sampled_from("rwx"), max_size=12))
def test_partition_keeps_order_and_never_merges_across_a_write(kinds: list[str]) -> None:
    registry = ToolRegistry(
        (
            tool("r", done),
            tool("w", done, concurrency=Concurrency.WRITE_EXCLUSIVE),
            tool("x", done, concurrency=Concurrency.UNSAFE),
        )
    )
    calls = [ToolUse(str(index), kind, {}) for index, kind in enumerate(kinds)]
    batches = partition(calls, registry)
    assert [call for batch in batches for call in batch.calls] == calls
    for batch in batches:
        assert batch.is_concurrent or len(batch.calls) == 1
        assert batch.is_concurrent == all(call.name == "r" for call in batch.calls)
    for first, second in pairwise(batches):
        assert not (first.is_concurrent and second.is_concurrent)


async def test_a_crash_stops_its_neighbors_and_not_the_next_batch(bench: Bench) -> None:
    made = ports(
        bench,
        tool("Glob", never),
        tool("Grep", crash),
        tool("TodoWrite", done, concurrency=Concurrency.UNSAFE),
    )
    controller = AbortController()
    events, outcomes = await dispatch(made, ["Glob", "Grep", "TodoWrite"], controller)
    texts = {e.tool_use_id: e.text for e in events if isinstance(e, ToolResult)}
    assert "a call in the same round failed: Grep" in texts["0"]
    assert outcomes == {"0": "interrupted", "1": "failed", "2": "ok"}
    assert not controller.signal.aborted


async def test_a_miss_stops_no_one(bench: Bench) -> None:
    made = ports(bench, tool("Glob", done), tool("Grep", miss))
    _, outcomes = await dispatch(made, ["Grep", "Glob", "Glob"])
    assert outcomes == {"0": "failed", "1": "ok", "2": "ok"}


async def test_at_most_ten_run_at_once(bench: Bench) -> None:
    running = 0
    most = 0

    async def count(_context: ToolContext) -> ToolOutcome:
        nonlocal running, most
        running += 1
        most = max(most, running)
        for _ in range(3):
            await asyncio.sleep(0)
        running -= 1
        return ToolOutcome("done")

    made = ports(bench, tool("Glob", count))
    _, outcomes = await dispatch(made, ["Glob"] * 25)
    assert most == MAX_CONCURRENT
    assert list(outcomes.values()) == ["ok"] * 25
    most = 0
    await dispatch(replace(made, max_concurrent=3), ["Glob"] * 25)
    assert most == 3


async def test_an_abort_ends_all_and_starts_no_more(bench: Bench) -> None:
    controller = AbortController()

    async def interrupt(_context: ToolContext) -> ToolOutcome:
        controller.abort()
        await asyncio.Event().wait()
        return ToolOutcome("unreachable")

    made = ports(bench, tool("Glob", never), tool("Grep", interrupt), tool("Read", done))
    _, outcomes = await dispatch(made, ["Glob", "Grep", "Nothing", "Read"], controller)
    assert outcomes == {"0": "interrupted", "1": "interrupted"}


@pytest.mark.parametrize("name", ["Nothing", "Glob"])
async def test_every_call_has_one_dispatch_and_one_result(bench: Bench, name: str) -> None:
    events, _ = await dispatch(ports(bench, tool("Glob", done)), [name])
    assert [event.type for event in events] == ["tool_dispatch", "tool_result"]


async def test_a_reading_command_that_fails_stops_no_one(bench: Bench) -> None:
    made = ports(bench, bash_tool(), mode=Mode.BYPASS)
    (bench.root / "a.txt").write_text("a\n")
    commands = ["ls nowhere", "cat a.txt", "ls"]
    calls = [ToolUse(str(n), "Bash", {"command": c}) for n, c in enumerate(commands)]
    assert [batch.is_concurrent for batch in partition(calls, made.registry)] == [True]
    outcomes = await run_all(made, calls)
    assert [outcomes[str(n)].outcome for n in range(3)] == ["failed", "ok", "ok"]


async def test_a_stopped_command_names_the_call_that_failed(bench: Bench) -> None:
    made = ports(bench, bash_tool(), tool("Grep", crash), mode=Mode.BYPASS)
    os.mkfifo(bench.root / "silent")
    calls = [ToolUse("0", "Bash", {"command": "cat silent"}), ToolUse("1", "Grep", {})]
    assert [batch.is_concurrent for batch in partition(calls, made.registry)] == [True]
    outcomes = await run_all(made, calls)
    text = str(outcomes["0"].block["content"])
    assert "a call in the same round failed: Grep" in text
    assert "person" not in text


async def run_all(made: CallPorts, calls: list[ToolUse]) -> dict[str, CallOutcome]:
    async def emit(_event: AgentEvent) -> None:
        pass

    dispatcher = Dispatcher(made, TurnEvents(emit, "t"))
    await dispatcher.run(calls, AbortController())
    return dispatcher.outcomes
