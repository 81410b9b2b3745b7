"""What tools need of the agents of a session: start one, send it a message, stop it, list them.

`agent.subagents.supervisor` implements it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Protocol

from msgspec import Struct

from agent.abort import AbortSignal


class AnswerForm(Struct, frozen=True):
    """What an agent hands in at its end, and by which tool."""

    tool: str
    description: str
    model: type[Struct]
    """Its fields."""
    receipt: str
    """What the agent gets back."""


class CallLimits(Struct, frozen=True):
    """Limits of an agent's calls below the usual ones."""

    command_s: float
    """The longest time of a command."""
    result_chars: int
    """The longest result that is shown in full; the rest of a longer one is in a file."""


class AgentTask(Struct, frozen=True, kw_only=True):
    """A piece of work for an agent."""

    description: str
    """The task in a few words, for users."""
    prompt: str
    """All that the agent receives."""
    subagent_type: str = ""
    """Empty: the general one."""
    model: str | None = None
    effort: str | None = None
    in_background: bool | None = None
    """None: as the definition has it."""
    name: str | None = None
    """What it is addressed by; None makes one of its kind."""
    isolation: Literal["worktree"] | None = None
    workflow: str = ""
    """Id of the workflow's run that it works in; empty outside of one."""
    tool_use_id: str = ""
    """The call that it works for."""
    answer: AnswerForm | None = None
    """What it hands in at its end; None: its last words are its report."""
    answer_schema: str | None = None
    """JSON schema of an object, as text, that its last words must follow."""
    limits: CallLimits | None = None
    """Of its calls, where they are not the usual ones."""


class SubagentReport(Struct, frozen=True):
    """What comes back from a sub-agent: its last words, nothing else of its history."""

    text: str
    outcome: str
    """A `TerminalReason`, `stalled`, or `background` where it still works."""
    turns: int
    total_tokens: int
    agent_id: str
    tool_count: int = 0
    model: str = ""
    agent_type: str = ""
    transcript: str = ""
    """Its file."""
    worktree: Mapping[str, object] | None = None
    """Where its changes are, for one that works in a worktree of its own."""
    value: object = None
    """Its answer, where its task has a schema that the answer follows."""

    @property
    def is_complete(self) -> bool:
        """Whether the agent did what it was given."""
        return self.outcome == "completed"


class SubagentPort(Protocol):
    """The agents below one agent."""

    async def run(self, task: AgentTask, abort: AbortSignal) -> SubagentReport:
        """Run an agent to its end, or start it in the background.

        Never raises for its failures. Raises ToolError where it cannot be started.
        """
        ...

    async def send(self, to: str, message: str) -> str:
        """Give an agent a message; one that has finished continues. Returns what became of it.

        Raises ToolError where there is no such agent, or it takes none.
        """
        ...

    def listing(self) -> str:
        """Return the agents of the session with their states, for the model."""
        ...

    def has(self, agent_id: str) -> bool:
        """Whether there is an agent of this id."""
        ...

    async def stop(self, agent_id: str) -> str:
        """End an agent; returns what became of it. Raises ToolError where it may not."""
        ...
