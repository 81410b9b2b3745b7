"""The agents of a session by id: those of this run, and those with a transcript."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from agent.errors import AgentError, SessionError
from agent.session.records import AgentRecord
from agent.subagents.agent_journal import journal_path, read_record
from agent.subagents.catalog import AgentCatalog
from agent.subagents.definition import AgentDefinition
from agent.subagents.running_agent import RunningAgent
from agent.tools.agent_port import AgentTask, SubagentReport

MAIN: Final = "main"
"""Name of the main conversation as the sender of a message."""
_RESERVED: Final = frozenset({MAIN, "user"})


class KnownAgents(dict[str, RunningAgent]):
    """Agents by id, in the order of their starts."""

    def __init__(self, directory: Path, catalog: AgentCatalog) -> None:
        """`directory` is that of the session."""
        super().__init__()
        self._directory = directory
        self._catalog = catalog

    @property
    def running(self) -> tuple[RunningAgent, ...]:
        """The agents that have not ended."""
        return tuple(agent for agent in self.values() if agent.is_running)

    def free_id(self, name: str | None, definition: AgentDefinition) -> str:
        """Return the id of a new agent: its name, or its kind with a number."""
        base = name or re.sub(r"[^a-z0-9]+", "-", definition.name.lower())
        if name is not None and not self._is_taken(name):
            return name
        number = 1 if name is None else 2
        while self._is_taken(f"{base}-{number}"):
            number += 1
        return f"{base}-{number}"

    def path(self, agent_id: str) -> Path:
        """Return the path of an agent's transcript."""
        return journal_path(self._directory, agent_id)

    def find(self, agent_id: str) -> RunningAgent | None:
        """Return an agent of this or an earlier run of the program; None if there is none."""
        return self.get(agent_id) or self._read_stored(agent_id)

    def _is_taken(self, agent_id: str) -> bool:
        return agent_id in self or agent_id in _RESERVED or self.path(agent_id).exists()

    def _read_stored(self, agent_id: str) -> RunningAgent | None:
        path = self.path(agent_id)
        if "/" in agent_id or not path.exists():
            return None
        try:
            record = read_record(path)
            definition = self._catalog.get(record.agent_type) if record is not None else None
        except (SessionError, AgentError):
            return None
        if record is None or definition is None:
            return None
        task = AgentTask(description=record.description, prompt="", tool_use_id=record.tool_use_id)
        agent = RunningAgent(
            id=agent_id,
            definition=definition,
            task=task,
            depth=record.depth,
            parent_id=None,
            transcript=path,
            worktree=record.worktree,
            runs=record.runs,
            state="stopped",
        )
        agent.ended_s = agent.started_s
        agent.done_event.set()
        return agent


def launch_report(agent: RunningAgent) -> SubagentReport:
    """Return a placeholder for the report of an agent that runs in the background."""
    return SubagentReport(
        "",
        "background",
        0,
        0,
        agent.id,
        model=agent.model,
        agent_type=agent.definition.name,
        transcript=str(agent.transcript),
    )


def record_of(agent: RunningAgent) -> AgentRecord:
    return AgentRecord(
        agent.id,
        agent.definition.name,
        agent.task.description,
        agent.task.tool_use_id,
        agent.parent_id,
        agent.depth,
        agent.in_background,
        agent.worktree,
        agent.task.workflow,
        agent.runs,
    )
