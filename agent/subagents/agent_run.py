"""One run of an agent: the same loop with its own history, from its prompt to its report."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from agent.errors import SessionError
from agent.events import AgentEvent, Terminal
from agent.hook_events.hook_dispatch import HookDispatch
from agent.loop.answer_schema import AnswerSchema
from agent.loop.loop import AgentLoop
from agent.loop.loop_ports import LoopPorts
from agent.messages import Message, user_message
from agent.stream import Emit, TurnEvents
from agent.subagents.agent_journal import AgentJournal, messages_of
from agent.subagents.known_agents import record_of
from agent.subagents.report_text import neutralize_text
from agent.subagents.running_agent import RunningAgent
from agent.tools.agent_port import SubagentReport

STALLED: Final = "stalled"
MAX_CONTINUATIONS: Final = 50


class BuiltSubagent(Struct, frozen=True):
    """A sub-agent ready to run."""

    ports: LoopPorts
    hooks: HookDispatch
    opening: tuple[Message, ...] = ()
    """Messages before its task: texts of skills."""
    close: Callable[[], Awaitable[None]] | None = None
    """Closes its own resources."""


async def run_agent(
    agent: RunningAgent,
    subagent: BuiltSubagent,
    journal: AgentJournal,
    emit: Emit,
    *,
    prompt: str,
    continues: bool,
    more: Callable[[], Awaitable[bool]],
    stall_s: float,
) -> SubagentReport:
    """Run an agent to its end and return its report, which includes its failures.

    Args:
        emit: receives its events after they are recorded.
        continues: whether it continues with the history in its transcript.
        more: waits for reports of its own background agents; returns whether the agent continues.
        stall_s: the agent is ended after this many seconds without an event.
    """
    loop: AgentLoop | None = None

    async def record_and_emit(event: AgentEvent) -> None:
        await journal.event(event, loop.history.messages if loop is not None else ())
        agent.on_event(event)
        await emit(event)

    turn_id = agent.task.tool_use_id
    end = Terminal(turn_id, "error", agent_id=agent.id)
    events = TurnEvents(record_and_emit, turn_id, agent.id)
    watch = asyncio.ensure_future(_watch_for_stall(agent, stall_s))
    try:
        history = await asyncio.to_thread(messages_of, agent.transcript) if continues else ()
        await journal.prompt(turn_id, prompt)
        subagent.hooks.firing.abort = agent.controller.signal
        new = [
            *(() if continues else subagent.opening),
            *await _start_hook_messages(subagent),
            user_message(prompt),
        ]
        for _ in range(MAX_CONTINUATIONS):
            loop = AgentLoop(subagent.ports, events, max_turns=agent.definition.max_turns)
            end = await loop.run(history, new, agent.controller)
            agent.use.turns += end.turns
            if end.reason != "completed" or not (agent.inbox or await more()):
                break
            history, new = loop.history.messages, list(take_inbox(agent))
    except SessionError as error:
        end = replace(end, detail=str(error))
    except Exception as error:  # noqa: BLE001 - isolation boundary: one agent's defect ends that agent only
        end = replace(end, reason="error", detail=f"{type(error).__name__}: {error}")
    finally:
        watch.cancel()
        await asyncio.wait({watch})
        if agent.handed_in is not None:
            end = replace(end, reason="completed", detail="")
        with contextlib.suppress(Exception):
            if agent.in_background:
                await journal.end_in_background(record_of(agent))
            await record_and_emit(end)
            await journal.aclose()
        if subagent.close is not None:
            await subagent.close()
    outcome = STALLED if agent.is_stalled else end.reason
    return _report(agent, outcome, end.detail, subagent.ports.answer)


def take_inbox(agent: RunningAgent) -> Sequence[Message]:
    """Remove and return the messages that an agent has not received."""
    texts, agent.inbox[:] = list(agent.inbox), []
    return [user_message(text, origin="reminder") for text in texts]


async def _start_hook_messages(subagent: BuiltSubagent) -> list[Message]:
    outcome = await subagent.hooks.subagent_start()
    if outcome is None or not outcome.additional_context:
        return []
    return [user_message(outcome.additional_context, origin="hook")]


async def _watch_for_stall(agent: RunningAgent, stall_s: float) -> None:
    """End a stalled agent, unless it waits for the user, a call, a slot or its agents."""
    loop = asyncio.get_running_loop()
    while True:
        start_s = loop.time()
        last = agent.last_event_s
        await asyncio.sleep(stall_s)
        is_waiting = agent.open_questions or agent.running_calls or agent.state == "waiting"
        if agent.last_event_s == last and loop.time() - start_s >= stall_s and not is_waiting:
            agent.is_stalled = True
            agent.controller.abort(f"nothing happened for {stall_s:g} s")
            return


def _report(
    agent: RunningAgent, outcome: str, detail: str, form: AnswerSchema | None
) -> SubagentReport:
    text = neutralize_text(agent.answer.text)
    remarks = [detail] if detail and outcome != "completed" else []
    if agent.stopped_by:
        remarks.append(f"stopped by the {agent.stopped_by}")
    if agent.worktree is not None and "worktree" in agent.worktree:
        tree = agent.worktree
        is_there = "ahead" in tree and str(tree["worktree"]).startswith("kept")
        where = f" ({tree['worktreePath']}, {tree['worktreeBranch']})" if is_there else ""
        remarks.append(f"its worktree: {tree['worktree']}{where}")
    if agent.denials:
        remarks.append(f"denied calls: {'; '.join(agent.denials)}")
    if remarks:
        text = f"{text}\n\n[{'. '.join(remarks)}]" if text else f"[{'. '.join(remarks)}]"
    return SubagentReport(
        text,
        outcome,
        agent.use.turns,
        agent.use.tokens,
        agent.id,
        tool_count=agent.use.tool_count,
        model=agent.model,
        agent_type=agent.definition.name,
        transcript=str(agent.transcript),
        worktree=agent.worktree,
        value=_value(form, agent.answer.text) if outcome == "completed" else None,
    )


def _value(form: AnswerSchema | None, text: str) -> object:
    if form is None:
        return None
    try:
        return form.value(text)
    except ValueError:
        return None
