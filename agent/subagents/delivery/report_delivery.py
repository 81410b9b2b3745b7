"""Deliver reports of background agents to the agent or conversation that started them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence

from agent.abort import Aborted
from agent.loop.loop_ports import BackgroundReport
from agent.session.records import AgentRecord
from agent.subagents.agent_limits import AgentSlots
from agent.subagents.known_agents import KnownAgents
from agent.subagents.report_text import neutralize_text, report_note
from agent.subagents.running_agent import RunningAgent
from agent.tools.agent_port import SubagentReport


class ReportDelivery:
    """Holds each report until its receiver takes it: the main conversation, or an agent."""

    def __init__(self, agents: KnownAgents, slots: AgentSlots, wait_s: float) -> None:
        """Start without reports; `next` waits at most `wait_s` seconds."""
        self._agents = agents
        self._slots = slots
        self._wait_s = wait_s
        self._waiting_agents: list[RunningAgent] = []
        self._end_event = asyncio.Event()
        self._is_awaited = False
        self.on_report: Callable[[], None] = lambda: None
        """Called when a report for the main conversation is available."""

    @property
    def has_reports(self) -> bool:
        """Whether a report waits for the main conversation."""
        return any(self._receiver(agent) is None for agent in self._waiting_agents)

    def take_report(self, agent: RunningAgent) -> None:
        """Accept the report of an agent that has ended."""
        if agent.in_background:
            self._waiting_agents.append(agent)
            self._end_event.set()
        receiver = self._receiver(agent)
        if receiver is not None:
            receiver.news.set()
        elif self.has_reports:
            self.on_report()

    def _receiver(self, agent: RunningAgent) -> RunningAgent | None:
        """Return the agent that receives a report; None for the main conversation."""
        receiver = self._agents.get(agent.reports_to) if agent.reports_to is not None else None
        return receiver if receiver is not None and receiver.is_running else None

    async def more(self, agent: RunningAgent) -> bool:
        """Wait for a message or report for an agent; return False if none will come."""
        gave_up = False
        # It waits for agents, which does not count as a stall.
        agent.running_calls.add(agent.id)
        agent.current = "waits for its agents"
        try:
            while not agent.inbox and not agent.controller.signal.aborted:
                if any(self._receiver(other) is agent for other in self._waiting_agents):
                    break
                if not any(self._receiver(other) is agent for other in self._agents.running):
                    return False
                gave_up = self._slots.give_back(agent.id) or gave_up
                agent.news.clear()
                with contextlib.suppress(Aborted):
                    await agent.controller.signal.race(agent.news.wait())
            return True
        finally:
            agent.running_calls.discard(agent.id)
            if gave_up:
                with contextlib.suppress(Aborted):
                    await agent.controller.signal.race(self._slots.take(agent.id))

    def take(self, receiver: RunningAgent | None = None) -> list[BackgroundReport]:
        """Remove and return the reports for an agent, or for the main conversation."""
        agents = [agent for agent in self._waiting_agents if self._receiver(agent) is receiver]
        self._waiting_agents = [agent for agent in self._waiting_agents if agent not in agents]
        reports: list[BackgroundReport] = []
        for agent in agents:
            report, agent.report = agent.report, None
            if report is not None:
                line = f"The agent {agent.id} has {agent.state}: {agent.task.description}"
                text = report_note(report, agent.task.description, agent.runs)
                reports.append(BackgroundReport(line, text))
        return reports

    def redeliver(self, reports: Sequence[tuple[AgentRecord, str, str]]) -> None:
        """Queue reports for the main conversation that an earlier run did not deliver.

        Each consists of the agent's record, its outcome, and its last text.
        """
        for record, outcome, text in reports:
            agent = self._agents.find(record.agent_id)
            if agent is None:
                continue
            self._agents[agent.id] = agent
            agent.state = "completed" if outcome == "completed" else "failed"
            agent.report = SubagentReport(
                neutralize_text(text), outcome, 0, 0, agent.id, transcript=str(agent.transcript)
            )
            self._waiting_agents.append(agent)

    async def next(self) -> bool:
        """Wait for the report of a background agent; return False if none will come."""
        self._is_awaited = True
        try:
            async with asyncio.timeout(self._wait_s):
                while not self.has_reports and self._is_awaited:
                    if not any(agent.in_background for agent in self._agents.running):
                        return False
                    self._end_event.clear()
                    await self._end_event.wait()
        except TimeoutError:
            return False
        finally:
            was_awaited, self._is_awaited = self._is_awaited, False
        return was_awaited

    def give_up(self) -> bool:
        """End every wait for a report; return whether there was one."""
        was_awaited, self._is_awaited = self._is_awaited, False
        self._end_event.set()
        return was_awaited
