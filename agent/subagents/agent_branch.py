"""The sub-agents of one agent; implements the port that its tools use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from agent.abort import AbortSignal
from agent.errors import AgentError
from agent.subagents.agent_tools import startable
from agent.subagents.definition import AgentDefinition
from agent.subagents.known_agents import MAIN, launch_report
from agent.subagents.report_text import neutralize_text
from agent.subagents.running_agent import RunningAgent
from agent.subagents.supervisor import AgentSupervisor
from agent.tools.agent_port import AgentTask, SubagentPort, SubagentReport
from agent.tools.base import ToolError


class AgentBranch:
    """Starts, messages, lists and stops agents on behalf of one agent."""

    def __init__(
        self,
        supervisor: AgentSupervisor,
        agent: RunningAgent | None,
        lead: AgentDefinition | None = None,
    ) -> None:
        """`agent` None means the main conversation, which `lead` may lead."""
        self._supervisor = supervisor
        self._agent = agent
        self._definition = agent.definition if agent is not None else lead

    async def run(self, task: AgentTask, abort: AbortSignal) -> SubagentReport:
        """Run an agent to its end, or start it in the background. Raises ToolError."""
        self._check_kind(task)
        supervisor = self._supervisor
        agent = await supervisor.start(
            task, self._agent, in_background=self._runs_in_background(task)
        )
        if agent.in_background:
            return launch_report(agent)
        report = await supervisor.wait(agent, abort, self._agent)
        if report.is_complete or report.outcome == "background" or abort.aborted:
            return report
        return await self._after_failure(task, agent, report, abort)

    async def _after_failure(
        self, task: AgentTask, agent: RunningAgent, report: SubagentReport, abort: AbortSignal
    ) -> SubagentReport:
        supervisor = self._supervisor
        policy = supervisor.caps.on_failure
        if policy == "cancel":
            for other in supervisor.running:
                if other.parent_id == agent.parent_id and not other.in_background:
                    supervisor.stop(other, f"failure of {agent.id}")
        if policy != "retry" or agent.stopped_by:
            return report
        second_agent = await supervisor.start(replace(task, name=None), self._agent)
        second = await supervisor.wait(second_agent, abort, self._agent)
        remark = (
            f"[This is the second attempt. The first, {agent.id}, ended with {report.outcome}.]"
        )
        return replace(second, text=f"{remark}\n{second.text}")

    def _runs_in_background(self, task: AgentTask) -> bool:
        """Whether the agent of a task runs in the background."""
        always = self._supervisor.catalog.get(task.subagent_type).background
        return always if task.in_background is None else task.in_background or always

    def _check_kind(self, task: AgentTask) -> None:
        """Raise ToolError for an unknown kind, or one that the agent's definition does not list."""
        try:
            kind = self._supervisor.catalog.get(task.subagent_type).name
        except AgentError as error:
            raise ToolError(str(error)) from error
        kinds = startable(self._definition) if self._definition is not None else None
        if kinds is not None and kind not in kinds:
            raise ToolError(f"This agent may only start: {', '.join(kinds) or 'none'}.")

    async def send(self, recipient: str, message: str) -> str:
        """Send an agent a message; an ended agent continues. Raises ToolError."""
        agent = self._supervisor.find(recipient)
        if agent is None or agent is self._agent:
            raise ToolError(f"There is no agent {recipient!r}.", self.listing())
        sender = self._agent.id if self._agent is not None else MAIN
        if not agent.is_running and self._agent is not None:
            raise ToolError(f"{agent.id} has ended; only the main conversation continues it.")
        return await self._supervisor.tell(agent, message, sender)

    def listing(self) -> str:
        """Return the agents of the session with their states."""
        lines = [
            f"- {agent.id} ({agent.definition.name}): {agent.state}; {agent.task.description}"
            for agent in self._supervisor.all()
        ]
        if not lines:
            return "There are no agents."
        # Agents write the descriptions of the agents they start, so the text is untrusted.
        return "\n".join(["Agents of this session:", neutralize_text("\n".join(lines))])

    def has(self, agent_id: str) -> bool:
        """Whether there is an agent of this id."""
        return self._supervisor.find(agent_id) is not None

    async def stop(self, agent_id: str) -> str:
        """End an agent. Raises ToolError."""
        agent = self._supervisor.find(agent_id)
        if agent is None:
            raise ToolError(f"There is no agent {agent_id!r}.")
        if self._agent is not None and agent.parent_id != self._agent.id:
            raise ToolError(f"{agent_id} was not started by this agent.")
        if not self._supervisor.stop(agent, "agent"):
            return f"{agent_id} had already ended ({agent.state})."
        await agent.done_event.wait()
        return f"Stopped {agent_id}. Its transcript stays in {agent.transcript}."


if TYPE_CHECKING:

    def _check_protocol(branch: AgentBranch) -> SubagentPort:
        return branch
