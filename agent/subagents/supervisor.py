"""The agents of one session: starts, limits and ends them, and delivers their reports.

Every agent is started through `start`, so that the limits apply to all of them.
Next: `agent.subagents.agent_run` (one run), `agent.subagents.agent_branch` (the port of tools).
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final, Protocol

from msgspec import Struct
from msgspec.structs import replace

from agent.abort import AbortController, Aborted, AbortSignal
from agent.errors import AgentError
from agent.events import (
    AgentEvent,
    PermissionRequested,
    PermissionResolved,
    Usage,
    UsageUpdate,
)
from agent.loop.answer_text import AnswerText
from agent.loop.loop_ports import LoopPorts
from agent.messages import Message
from agent.stream import Emit
from agent.subagents.agent_journal import AgentJournal
from agent.subagents.agent_limits import AgentCaps, AgentSlots, LimitQuestion
from agent.subagents.agent_run import BuiltSubagent, run_agent, take_inbox
from agent.subagents.catalog import AgentCatalog
from agent.subagents.definition import AgentDefinition
from agent.subagents.delivery.report_delivery import ReportDelivery
from agent.subagents.known_agents import KnownAgents, launch_report, record_of
from agent.subagents.report_text import message_text
from agent.subagents.running_agent import RunningAgent
from agent.subagents.spending import Spending
from agent.tools.agent_port import AgentTask, SubagentReport
from agent.tools.base import ToolError

MAX_UNREAD: Final = 20
"""Most unread messages of an agent."""
KEPT_ANSWER_CHARS: Final = 2_000
"""Characters of an agent's answer that are kept in memory after its end."""
CLOSE_S: Final = 5.0
"""How long the end of agents is awaited when the program closes."""


class BuildAgent(Protocol):
    """Builds one agent from its definition."""

    async def __call__(self, agent: RunningAgent, parent: LoopPorts | None) -> BuiltSubagent:
        """Return the agent; `parent` None means the main conversation. Raises AgentError."""
        ...


class SupervisorPorts(Struct, frozen=True, kw_only=True):
    """The ports that a supervisor uses."""

    build: BuildAgent
    emit: Emit
    """Emits the events of agents in the stream of the conversation."""
    price: Callable[[str, Usage], float]
    """Returns the cost of a response in US dollars."""
    ask: LimitQuestion
    directory: Path
    """The session's directory."""
    project: Path
    version: str = ""
    redact: Callable[[str], str] | None = None


class AgentSupervisor:
    """Owns the agents of one session."""

    def __init__(self, catalog: AgentCatalog, ports: SupervisorPorts, caps: AgentCaps) -> None:
        """Start without agents."""
        self.catalog = catalog
        self.caps = caps
        self._ports = ports
        self._slots = AgentSlots(caps.concurrent)
        self.spending = Spending(caps, ports.ask, self.all)
        self._agents = KnownAgents(ports.directory, catalog)
        self.reports = ReportDelivery(self._agents, self._slots, caps.stall_s)
        self._ports_by_agent: dict[str, LoopPorts] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._starts = 0
        self.between_turns: Callable[[AgentEvent], None] = lambda _event: None
        """Receives events of agents between turns, when there is no stream for them."""
        self.on_change: Callable[[], None] = lambda: None
        """Called when an agent starts, ends or asks, but not for every change of its figures."""

    def all(self) -> tuple[RunningAgent, ...]:
        """Return the agents of the session in the order of their starts."""
        return tuple(self._agents.values())

    @property
    def running(self) -> tuple[RunningAgent, ...]:
        """The agents that have not ended."""
        return self._agents.running

    @property
    def has_waited_for(self) -> bool:
        """Whether the conversation waits for an agent that could go to the background."""
        return any(agent.depth == 1 and not agent.in_background for agent in self.running)

    def find(self, name: str) -> RunningAgent | None:
        """Return an agent of this or an earlier run of the program by its id; None if unknown."""
        return self._agents.find(name)

    # -- start ------------------------------------------------------------------------------

    async def start(
        self,
        task: AgentTask,
        parent: RunningAgent | None,
        *,
        in_background: bool = False,
        definition: AgentDefinition | None = None,
    ) -> RunningAgent:
        """Start an agent. Raises ToolError if a limit or the definition forbids it.

        Args:
            definition: Used instead of the one that the task names; set for agents of a workflow,
                which are counted in its journal and not here.
        """
        is_counted = definition is None
        if definition is None:
            try:
                definition = self.catalog.get(task.subagent_type)
            except AgentError as error:
                raise ToolError(str(error)) from error
        depth = 1 if parent is None else parent.depth + 1
        if depth > self.caps.depth:
            raise ToolError(
                f"Agents may be nested {self.caps.depth} deep, and this one would be deeper.",
                "Do the work yourself.",
            )
        if is_counted:
            await self._count_start()
        agent_id = self._agents.free_id(task.name, definition)
        agent = RunningAgent(
            id=agent_id,
            definition=definition,
            task=task,
            depth=depth,
            parent_id=parent.id if parent is not None else None,
            reports_to=parent.id if parent is not None else None,
            transcript=self._agents.path(agent_id),
            in_background=in_background,
        )
        self._agents[agent_id] = agent
        self._begin(agent, task.prompt, continues=False)
        return agent

    async def _count_start(self) -> None:
        if not await self.spending.may_start(self._starts):
            raise ToolError(
                f"{self._starts} agents were started in this session, which is the limit.",
                "Do not try again; do the work yourself.",
            )
        self._starts += 1

    def _begin(self, agent: RunningAgent, prompt: str, *, continues: bool) -> None:
        agent.runs += 1
        task = asyncio.ensure_future(self._run_in_slot(agent, prompt, continues=continues))
        self._tasks[agent.id] = task
        task.add_done_callback(lambda _: self._tasks.pop(agent.id, None))
        self.on_change()

    async def _run_in_slot(self, agent: RunningAgent, prompt: str, *, continues: bool) -> None:
        # If it is aborted while it waits, it still runs: this ends at once, with a report.
        with contextlib.suppress(Aborted):
            await agent.controller.signal.race(self._slots.take(agent.id))
        try:
            agent.state = "working"
            self.on_change()
            report = await self._run(agent, prompt, continues=continues)
        finally:
            self._slots.give_back(agent.id)
            self._ports_by_agent.pop(agent.id, None)
        self._end(agent, report)

    async def _run(self, agent: RunningAgent, prompt: str, *, continues: bool) -> SubagentReport:
        parent = self._ports_by_agent.get(agent.parent_id) if agent.parent_id is not None else None
        try:
            subagent = await self._ports.build(agent, parent)
        except AgentError as error:
            return SubagentReport(str(error), "error", 0, 0, agent.id)
        except Exception as error:  # noqa: BLE001 - isolation boundary: its caller gets a report
            text = f"It could not be started: {type(error).__name__}: {error}"
            return SubagentReport(text, "error", 0, 0, agent.id)
        # In a thread: creating the file waits for the disk, which must not delay key presses.
        journal = await asyncio.to_thread(AgentJournal, agent.transcript, redact=self._ports.redact)
        subagent = replace(subagent, ports=self._agent_ports(agent, subagent.ports, journal))
        self._ports_by_agent[agent.id] = subagent.ports
        await journal.begin(record_of(agent), self._ports.project, self._ports.version)

        async def emit(event: AgentEvent) -> None:
            if isinstance(event, UsageUpdate):
                agent.use.usd += self._ports.price(agent.model, event.usage)
                await self.spending.check(agent)
            await self._ports.emit(event)
            if isinstance(event, PermissionRequested | PermissionResolved):
                self.on_change()

        return await run_agent(
            agent,
            subagent,
            journal,
            emit,
            prompt=prompt,
            continues=continues,
            more=partial(self.reports.more, agent),
            stall_s=self.caps.stall_s,
        )

    def _agent_ports(
        self, agent: RunningAgent, ports: LoopPorts, journal: AgentJournal
    ) -> LoopPorts:
        """Return an agent's ports with its own limits, messages and transcript."""
        spent = ports.spent

        async def queued_messages() -> Sequence[Message]:
            return take_inbox(agent)

        return replace(
            ports,
            calls=replace(ports.calls, recorder=journal),
            spent=lambda: spent() or self.spending.exhaustion_reason(agent),
            take_queue=queued_messages,
            reports=partial(self.reports.take, agent),
        )

    def _end(self, agent: RunningAgent, report: SubagentReport) -> None:
        agent.report = report
        agent.current = ""
        # The transcript has the whole answer; a session may have hundreds of agents.
        agent.answer = AnswerText(agent.answer.text[-KEPT_ANSWER_CHARS:])
        agent.open_questions.clear()
        agent.running_calls.clear()
        agent.ended_s = time.monotonic()
        if agent.stopped_by or report.outcome.startswith("aborted"):
            agent.state = "stopped"
        else:
            agent.state = "completed" if report.is_complete else "failed"
        for other in self.running:
            if other.reports_to == agent.id:
                other.controller.abort(f"{agent.id} has ended")
        agent.done_event.set()
        self.reports.take_report(agent)
        self.on_change()

    # -- wait -------------------------------------------------------------------------------

    async def wait(
        self, agent: RunningAgent, abort: AbortSignal, parent: RunningAgent | None
    ) -> SubagentReport:
        """Wait for an agent's end, or until it goes to the background; an abort ends it."""
        gave_up = parent is not None and self._slots.give_back(parent.id)
        waits = [
            asyncio.ensure_future(wait)
            for wait in (agent.done_event.wait(), agent.background_event.wait(), abort.wait())
        ]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            if not agent.done_event.is_set() and not agent.background_event.is_set():
                agent.controller.abort(abort.reason or "")
                await agent.done_event.wait()
        except asyncio.CancelledError:
            agent.controller.abort("the call was abandoned")
            raise
        finally:
            for wait in waits:
                wait.cancel()
            if gave_up and parent is not None:
                await self._slots.take(parent.id)
        if agent.report is None:
            return launch_report(agent)
        report, agent.report = agent.report, None
        return report

    def to_background(self) -> bool:
        """Move the agents that the main conversation waits for to the background."""
        waited_for = [
            agent for agent in self.running if agent.depth == 1 and not agent.in_background
        ]
        for agent in waited_for:
            agent.in_background = True
            agent.background_event.set()
        self.on_change()
        return bool(waited_for)

    # -- later ------------------------------------------------------------------------------

    async def resume(self, agent: RunningAgent, prompt: str) -> None:
        """Continue an ended agent in the background. Raises ToolError."""
        if agent.stopped_by == "user":
            raise ToolError(f"The user stopped {agent.id}: it is not continued.")
        await self._count_start()
        agent.controller, agent.done_event, agent.background_event = (
            AbortController(),
            asyncio.Event(),
            asyncio.Event(),
        )
        agent.stopped_by, agent.is_stalled, agent.reports_to = "", False, None
        agent.started_s, agent.ended_s = time.monotonic(), None
        agent.in_background, agent.state, agent.report = True, "waiting", None
        self._agents[agent.id] = agent
        self._begin(agent, prompt, continues=True)

    async def tell(self, agent: RunningAgent, text: str, sender: str | None = None) -> str:
        """Send an agent a message; an ended agent continues. Raises ToolError.

        Args:
            sender: The agent that sent it; None for the user.
        """
        message = text if sender is None else message_text(sender, text)
        if not agent.is_running:
            await self.resume(agent, message)
            return f"{agent.id} had ended and continues in the background with this message."
        if len(agent.inbox) >= MAX_UNREAD:
            raise ToolError(
                f"{agent.id} has {MAX_UNREAD} unread messages.", "Wait until it has read them."
            )
        agent.inbox.append(message)
        agent.news.set()
        return f"{agent.id} gets the message with its next results."

    def stop(self, agent: RunningAgent, who: str) -> bool:
        """End an agent and those that it started; return whether it was running."""
        if not agent.is_running:
            return False
        for other in self.running:
            if other.parent_id == agent.id:
                self.stop(other, who)
        agent.stopped_by = who
        agent.controller.abort(f"stopped by the {who}")
        return True

    async def aclose(self) -> None:
        """End all agents and wait for them."""
        for agent in self.running:
            agent.controller.abort("the program is closing")
        tasks = set(self._tasks.values())
        if tasks:
            await asyncio.wait(tasks, timeout=CLOSE_S)
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
