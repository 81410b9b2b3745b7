"""Runs in one process: waves, limits, pauses and stops, and a journal that cannot be written."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress

import pytest
from msgspec.structs import replace

from agent.abort import AbortSignal
from agent.orchestration.journal.journal_error import RunTakenError
from agent.orchestration.journal.journal_records import (
    CapReached,
    Caps,
    OwnerRequest,
    RunChange,
    StepState,
    WorkflowState,
)
from agent.orchestration.run import step_runner
from agent.orchestration.run.agent_order import AgentAnswer, AgentOrder
from agent.orchestration.run.step_runner import StepRunner
from agent.orchestration.run.workflow_run import NESTED_AT_ONCE, RunParts, WorkflowRun
from agent.orchestration.script.script_engine import has_engine
from tests.agent.orchestration.run_place import Place, fan_out, script

needs_engine = pytest.mark.skipif(not has_engine(), reason="quickjs-ng has no build here")


async def test_every_result_has_a_verdict(place: Place) -> None:
    end = await (await place.started(fan_out("a", "b"))).to_the_end()
    assert end.state is WorkflowState.COMPLETED
    assert end.result.startswith("[agent 1: a]\ndid a\n\n[verify 1]\n")
    assert "confirmed: yes" in end.result
    prompts = [order.prompt for order in place.model.orders]
    assert prompts[:2] == ["a", "b"]
    assert all("did a" in p or "did b" in p for p in prompts[2:])


async def test_a_failed_agent_is_named_and_not_verified(place: Place) -> None:
    place.model.answers["b"] = [AgentAnswer(state=StepState.FAILED, reason="ModelError: gone")]
    end = await (await place.started(fan_out("a", "b"))).to_the_end()
    assert "[agent 2: b]\n(subagent failed: ModelError: gone)" in end.result
    assert "[verify 2]\nnot run: no result" in end.result
    assert len(place.model.orders) == 3


@pytest.mark.parametrize("state", [StepState.FAILED, StepState.PARTIAL])
async def test_a_verifier_that_could_not_check_refutes_nothing(
    place: Place, state: StepState
) -> None:
    run = await place.started(fan_out("a"))
    original = place.model.run

    async def fails(order: AgentOrder, abort: AbortSignal) -> AgentAnswer:
        if order.label.startswith("verify"):
            return AgentAnswer(state=state, value="half", reason="Overloaded: 529")
        return await original(order, abort)

    run.steps._run_agent = fails
    assert "[verify 1]\nunverified: Overloaded: 529" in (await run.to_the_end()).result


async def test_at_most_ten_work_at_once(place: Place) -> None:
    place.model.holds = asyncio.Event()
    run = await place.started(fan_out(*map(str, range(40))))
    ending = asyncio.ensure_future(run.to_the_end())
    while place.model.at_once < 10:
        place.model.started.clear()
        await place.model.started.wait()
    place.model.holds.set()
    await ending
    assert place.model.most == 10
    assert len(place.model.orders) == 80


async def test_the_same_subtask_of_the_conversation_is_not_run_again(place: Place) -> None:
    await (await place.started(fan_out("a", "b"))).to_the_end()
    before = len(place.model.orders)
    end = await (await place.started(fan_out("b", "c", run="r2"))).to_the_end()
    assert "did b" in end.result
    assert [order.prompt for order in place.model.orders[before:]][:1] == ["c"]
    assert len(place.model.orders) == before + 2


async def test_equal_subtasks_of_one_wave_both_run(place: Place) -> None:
    await (await place.started(fan_out("a", "a"))).to_the_end()
    assert [order.prompt for order in place.model.orders].count("a") == 2


async def test_overload_slows_the_run_and_fails_nothing(place: Place) -> None:
    busy = AgentAnswer(state=StepState.FAILED, reason="529", retry_after_s=0.01)
    place.model.answers["a"] = [busy, busy]
    run = await place.started(fan_out("a"))
    end = await run.to_the_end()
    assert "did a" in end.result
    assert run.steps._slots.limit < 10


class Limits:
    """A user who is asked at a limit, and raises it or not."""

    def __init__(self, answers: list[bool], limits: RunChange) -> None:
        self.asked: list[str] = []
        self._answers = answers
        self._limits = limits

    async def __call__(self, steps: StepRunner, limit: CapReached) -> bool:
        self.asked.append(limit.text)
        if not self._answers.pop(0):
            steps._control.stop("enough")
            return False
        await steps._journal.ask(lambda store: store.runs.change(steps.run.id, self._limits))
        return True


async def test_the_budget_pauses_and_a_raised_one_continues(place: Place) -> None:
    place.at_limit = Limits([True], RunChange(usd=100.0))
    run = await place.started(fan_out("a", "b", "c", budget_usd=2.0), Caps(concurrent=1))
    end = await run.to_the_end()
    assert end.state is WorkflowState.COMPLETED
    assert place.at_limit.asked == ["$2.00 of $2.00 of this run are used"]
    assert len(place.model.orders) == 6


async def test_a_cap_of_agents_pauses(place: Place) -> None:
    place.at_limit = Limits([False], RunChange())
    run = await place.started(fan_out("a", "b", max_agents=1), Caps(concurrent=1))
    end = await run.to_the_end()
    assert place.at_limit.asked == ["1 of 1 agents of this run are used"]
    assert (end.state, end.reason) == (WorkflowState.STOPPED, "enough")


async def test_with_no_one_to_ask_a_run_is_left_paused_and_loses_no_agent(place: Place) -> None:
    run = await place.started(fan_out("a", "b", "c", max_agents=2))
    end = await run.to_the_end()
    assert (end.state, end.reason) == (
        WorkflowState.PAUSED,
        "2 of 2 agents of this run are used",
    )
    steps = await place.journal.ask(lambda store: store.steps.of_run("r"))
    assert [step.state for step in steps] == [StepState.DONE] * 2
    await place.journal.ask(lambda store: store.runs.change("r", RunChange(agents=9)))
    record = await place.journal.ask(lambda store: store.runs.take("r", "other", 15))
    parts = RunParts(place.journal, place.model.run, lambda launch: launch, place.find)
    assert (await WorkflowRun(record, parts).to_the_end()).state is WorkflowState.COMPLETED
    assert len(place.model.orders) == 6


async def test_a_user_is_informed_once_that_a_limit_is_near(place: Place) -> None:
    run = await place.started(fan_out(*"abcde", max_agents=10))
    await run.to_the_end()
    assert [text for text in place.notices if "8 of 10 agents" in text]
    assert len(place.notices) == 1


@needs_engine
async def test_a_restart_resets_no_budget_of_a_script(place: Place) -> None:
    body = "const first = await agent('a'); return [first, budget.spent(), budget.usd.spent()]"
    end = await (await place.started(script(body))).to_the_end()
    assert json.loads(end.result) == ["did a", 10, 1.0]
    record = await place.journal.ask(lambda store: store.runs.take("r", "me", 15))
    parts = RunParts(place.journal, place.model.run, lambda launch: launch, place.find)
    again = await WorkflowRun(record, parts).to_the_end()
    assert again.result == end.result
    assert len(place.model.orders) == 1


@needs_engine
async def test_an_agent_that_a_script_did_not_wait_for_is_ended_and_counted(place: Place) -> None:
    run = await place.started(script("agent('slow'); return await agent('fast')"))
    begun = asyncio.Event()

    async def slow_or_fast(order: AgentOrder, abort: AbortSignal) -> AgentAnswer:
        if order.prompt == "fast":
            await begun.wait()
            return AgentAnswer(state=StepState.DONE, value="seen", tokens=10)
        begun.set()
        await abort.wait()
        return AgentAnswer(state=StepState.PARTIAL, value="half", tokens=7)

    run.steps._run_agent = slow_or_fast
    assert (await run.to_the_end()).state is WorkflowState.COMPLETED
    steps = await place.journal.ask(lambda store: store.steps.of_run("r"))
    states = {step.prompt: step.state for step in steps}
    assert states == {"slow": StepState.PARTIAL, "fast": StepState.DONE}
    assert (await place.journal.usage(run="r")).tokens == 17


async def test_another_process_stops_a_run_and_no_finished_result_is_lost(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(step_runner, "GRACE_S", 0.01)
    place.model.answers["b"] = []
    run = await place.started(fan_out("a", "b"), Caps(concurrent=1))
    original, holds = place.model.run, asyncio.Event()

    async def second_waits(order: AgentOrder, abort: AbortSignal) -> AgentAnswer:
        if order.prompt != "a":
            holds.set()
            await abort.wait()
            return AgentAnswer(state=StepState.PARTIAL, value="half", reason="stopped")
        return await original(order, abort)

    run.steps._run_agent = second_waits
    ending = asyncio.ensure_future(run.to_the_end())
    await holds.wait()
    other = place.another_journal()
    await other.ask(lambda store: store.runs.request("r", OwnerRequest.STOP))
    end = await ending
    assert end.state is WorkflowState.STOPPED
    states = {
        step.prompt: step.state for step in await other.ask(lambda store: store.steps.of_run("r"))
    }
    assert states["a"] is StepState.DONE
    stopped = await other.ask(lambda store: store.runs.get("r"))
    assert stopped is not None
    assert stopped.state is WorkflowState.STOPPED


async def test_a_stopped_run_ends_after_the_agents_that_work(place: Place) -> None:
    """One ends after the stop, and its place becomes free: the others still finish."""
    run = await place.started(fan_out("a", "b", "c"), Caps(concurrent=2))
    goes = {"a": asyncio.Event(), "b": asyncio.Event()}

    async def held(order: AgentOrder, _abort: AbortSignal) -> AgentAnswer:
        place.model.orders.append(order)
        if len(place.model.orders) == 2:
            place.model.started.set()
        await goes[order.prompt].wait()
        return AgentAnswer(state=StepState.DONE, value="seen")

    run.steps._run_agent = held
    ending = asyncio.ensure_future(run.to_the_end())
    await place.model.started.wait()
    run.control.stop("enough")
    goes["a"].set()
    for _ in range(10):
        # Its journal does one thing after the other: the end of `a` is recorded by then.
        await place.journal.usage(run="r")
    goes["b"].set()
    end = await ending
    steps = await place.journal.ask(lambda store: store.steps.of_run("r"))
    assert end.state is WorkflowState.STOPPED
    assert {step.prompt: step.state for step in steps} == dict.fromkeys("ab", StepState.DONE)


async def test_a_run_that_another_process_took_over_is_left_to_it(place: Place) -> None:
    """A process that slept past its lease ends its part; the run stays the other's."""
    place.model.holds = asyncio.Event()
    run = await place.started(fan_out("a"))
    ending = asyncio.ensure_future(run.to_the_end())
    await place.model.started.wait()
    store = place.opened()
    while (found := store.runs.get("r")) is None or found.owner != "another":
        store.runs.renew("r", run.record.owner, -1)
        with suppress(RunTakenError):
            store.runs.take("r", "another", 60)
        await asyncio.sleep(0)
    end = await ending
    taken = store.runs.get("r")
    store.close()
    assert (end.state, end.reason) == (
        WorkflowState.STOPPED,
        "another process took the run r over",
    )
    assert taken is not None
    assert (taken.owner, taken.state) == ("another", WorkflowState.RUNNING)


@needs_engine
async def test_a_script_calls_another_workflow_one_level_deep(place: Place) -> None:
    head = "export const meta = { name: 'n', description: 'd' };\n"
    place.scripts["inner"] = head + "return 'inner ' + await agent('from ' + args.who)"
    place.scripts["deep"] = head + "return await workflow('inner', {who: 'deep'})"
    body = """const first = await workflow('inner', {who: 'outer'});
    let reason = '';
    try { await workflow('deep'); } catch (error) { reason = error.message; }
    try { await workflow('none'); } catch (error) { reason += '; ' + error.message; }
    return [first, reason];"""
    end = await (await place.started(script(body))).to_the_end()
    first, reason = json.loads(end.result)
    assert first == "inner did from outer"
    assert "cannot call a third" in reason
    assert "there is no workflow none" in reason


@needs_engine
async def test_an_edited_script_reuses_what_did_not_change(place: Place) -> None:
    body = "return await pipeline(['a', 'b'], x => agent(x))"
    await (await place.started(script(body))).to_the_end()
    before = len(place.model.orders)
    edited = "return await pipeline(['new', 'b', 'a'], x => agent(x))"
    record = await place.journal.ask(lambda store: store.runs.take("r", "me", 15))
    assert record.script.endswith(body)
    changed = script(edited)
    parts = RunParts(place.journal, place.model.run, lambda launch: launch, place.find)
    end = await WorkflowRun(changed, parts).to_the_end()
    assert json.loads(end.result) == ["did new", "did b", "did a"]
    assert [order.prompt for order in place.model.orders[before:]] == ["new"]


@needs_engine
@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("return await agent('a', {isolation: 'moon'})", "no isolation 'moon'"),
        ("return await agent('a', {schema: 'text'})", "schema"),
        ("return await agent('a', {label: 7})", "label"),
        ("return await agent('  ')", "not empty"),
    ],
)
async def test_wrong_options_are_errors_in_the_script(place: Place, body: str, reason: str) -> None:
    end = await (await place.started(script(body))).to_the_end()
    assert end.state is WorkflowState.FAILED
    assert reason in end.reason
    assert place.model.orders == []


@needs_engine
async def test_few_workflows_of_a_script_run_at_the_same_time(place: Place) -> None:
    """Each has a process, so that a script could fill the machine with them."""
    place.scripts["one"] = "export const meta = { name: 'one', description: 'd' };\n" + (
        "return await agent('in one ' + args)"
    )
    place.model.holds = asyncio.Event()
    numbers = list(range(3 * NESTED_AT_ONCE))
    calls = "return await parallel(args.map(n => () => workflow('one', n)))"
    record = replace(script(calls), args=json.dumps(numbers))
    run = await place.started(record, Caps(concurrent=64))
    working = asyncio.ensure_future(run.to_the_end())
    while len(place.model.orders) < NESTED_AT_ONCE:
        place.model.started.clear()
        await place.model.started.wait()
    assert len(place.model.orders) == NESTED_AT_ONCE
    place.model.holds.set()
    end = await working
    assert json.loads(end.result) == [f"did in one {number}" for number in numbers]
    assert place.model.most <= NESTED_AT_ONCE


@needs_engine
async def test_labels_and_phases_are_shown_as_text(place: Place) -> None:
    body = (
        "phase('\\u001b[2JLook'); return await agent('a', { label: 'l'.repeat(999) + '\\u0007' })"
    )
    await (await place.started(script(body))).to_the_end()
    (order,) = place.model.orders
    assert (order.phase, order.label) == ("Look", "l" * 200)
