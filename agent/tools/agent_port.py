"""The port through which tools start, message, stop and list the agents of a session.

`agent.subagents.agent_branch` implements it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Protocol

from msgspec import Struct

from agent.abort import AbortSignal


class AnswerForm(Struct, frozen=True):
    """The structured result that an agent returns at its end, and the tool it calls for that."""

    tool: str
    description: str
    model: type[Struct]
    """Its fields."""
    receipt: str
    """The result of that call."""


class CallLimits(Struct, frozen=True):
    """Limits of an agent's calls that are stricter than the defaults."""

    command_s: float
    """The longest run time of a command."""
    result_chars: int
    """The longest result that is shown in full; the rest of a longer one is in a file."""


class AgentTask(Struct, frozen=True, kw_only=True):
    """A piece of work for an agent."""

    description: str
    """The task in a few words, for users."""
    prompt: str
    """The only text that the agent receives."""
    subagent_type: str = ""
    """Empty for the general agent."""
    model: str | None = None
    effort: str | None = None
    in_background: bool | None = None
    """None uses the value of the definition."""
    name: str | None = None
    """The name to address it by; None derives one from its kind."""
    isolation: Literal["worktree"] | None = None
    workflow: str = ""
    """Id of the workflow run that it is part of; empty outside a workflow."""
    tool_use_id: str = ""
    """Id of the call that starts it."""
    answer: AnswerForm | None = None
    """The structured result it returns; with None its last message is its report."""
    answer_schema: str | None = None
    """JSON schema of an object, as text, that its last message must follow."""
    limits: CallLimits | None = None
    """Limits of its calls; None for the defaults."""


class SubagentReport(Struct, frozen=True):
    """The result of a sub-agent: its last message, and nothing else of its history."""

    text: str
    outcome: str
    """A `TerminalReason`, `stalled`, or `background` while it is still running."""
    turns: int
    total_tokens: int
    agent_id: str
    tool_count: int = 0
    model: str = ""
    agent_type: str = ""
    transcript: str = ""
    """Path of its transcript file."""
    worktree: Mapping[str, object] | None = None
    """Its git worktree, which contains its changes; None without one."""
    value: object = None
    """Its parsed answer, if the task has a schema and the answer follows it."""

    @property
    def is_complete(self) -> bool:
        """Whether the agent completed its task."""
        return self.outcome == "completed"


class SubagentPort(Protocol):
    """The agents below one agent."""

    async def run(self, task: AgentTask, abort: AbortSignal) -> SubagentReport:
        """Run an agent to its end, or start it in the background.

        The report states failures of the agent. Raises ToolError if it cannot be started.
        """
        ...

    async def send(self, to: str, message: str) -> str:
        """Send an agent a message; a finished agent continues. Returns a text about the outcome.

        Raises ToolError if there is no such agent, or it accepts no messages.
        """
        ...

    def listing(self) -> str:
        """Return the agents of the session with their states, for the model."""
        ...

    def has(self, agent_id: str) -> bool:
        """Whether there is an agent of this id."""
        ...

    async def stop(self, agent_id: str) -> str:
        """End an agent; return a text about it. Raises ToolError if it must not be ended."""
        ...
