"""What the Workflow tool needs of the session's workflows; `agent.orchestration` implements it."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

from agent.abort import AbortSignal
from agent.display import WorkflowDisplay


class WorkflowCall(Struct, frozen=True, kw_only=True):
    """What the model asks for; exactly one of the first four is set."""

    subtasks: object = None
    script: str | None = None
    name: str | None = None
    path: str | None = None
    args: object = None
    resumes: str | None = None
    """Id of a run whose finished steps are reused."""
    verifies: bool = True
    in_background: bool | None = None
    """None: a call with subtasks waits for them, a script runs in the background."""
    max_agents: int | None = None
    max_tokens: int | None = None
    budget_usd: float | None = None


class WorkflowStart(Struct, frozen=True):
    """A run that was started, or ended already."""

    run_id: str
    name: str
    text: str
    """For the model."""
    is_running: bool = False
    is_error: bool = False


class WorkflowPort(Protocol):
    """The workflows of a session."""

    def identity(self, call: WorkflowCall, tool_use_id: str) -> str:
        """Return `name@hash`, which permission rules match; reads the script's file.

        The file is read once per call: what was decided about is what is shown and started.

        Raises ToolError if there is no such workflow, or it cannot be read.
        """
        ...

    @property
    def orchestrates(self) -> bool:
        """Whether orchestration mode is on."""
        ...

    async def plan(self, call: WorkflowCall, tool_use_id: str) -> WorkflowDisplay:
        """Return what a call would do, for the user. Raises ToolError."""
        ...

    async def start(
        self, call: WorkflowCall, tool_use_id: str, abort: AbortSignal
    ) -> WorkflowStart:
        """Start a run; wait for it unless it runs in the background. Raises ToolError."""
        ...
