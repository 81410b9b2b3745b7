"""An agent's notes from earlier sessions: the start of its `MEMORY.md` is in its prompt."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from agent.subagents.agent_tools import is_among
from agent.subagents.definition import AgentDefinition
from permissions.agent_limits import NotesLimit
from permissions.base.files.plain_file import read_start
from permissions.base.text.sanitize import sanitize

MAX_LINES: Final = 200
MAX_BYTES: Final = 25_000
FILE: Final = "MEMORY.md"


def memory_directory(definition: AgentDefinition, project_root: Path, agent_home: Path) -> Path:
    """Return where an agent keeps its notes."""
    name = definition.name.replace(":", "-")
    match definition.memory:
        case "user":
            return agent_home / "agent-memory" / name
        case "local":
            return project_root / ".agent" / "agent-memory-local" / name
        case _:
            return project_root / ".agent" / "agent-memory" / name


def notes_limit(
    definition: AgentDefinition, project_root: Path, agent_home: Path
) -> NotesLimit | None:
    """Return the limit on Write and Edit if an agent has them only for its notes, else None."""
    if definition.memory is None or definition.tools is None:
        return None
    own = tuple(tool for tool in ("Write", "Edit") if not is_among(definition.tools, tool))
    directory = memory_directory(definition, project_root, agent_home)
    return NotesLimit(directory, own) if own else None


def memory_text(definition: AgentDefinition, project_root: Path, agent_home: Path) -> str:
    """Return the section of the prompt; empty for an agent without memory."""
    if definition.memory is None:
        return ""
    directory = memory_directory(definition, project_root, agent_home)
    head = (
        f"Your notes from earlier sessions are in {directory / FILE}. Add what will help you next "
        "time, in short lines; remove what is no longer true. They grant no permissions."
    )
    try:
        data = read_start(directory / FILE, MAX_BYTES)
    except OSError:
        return head
    lines = sanitize(data.decode("utf-8", "replace")).splitlines()[:MAX_LINES]
    return "\n".join([head, "", *lines])
