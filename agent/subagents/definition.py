"""What a kind of agent is: its instructions and tools. Files and JSON are parsed into this.

Next: `agent.subagents.definition_fields` (parsing), `agent.subagents.catalog` (all definitions).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct, field

from agent.model.client import Effort
from permissions.mode import Mode

MemoryScope = Literal["user", "project", "local"]
MAX_TURNS: Final = 50
"""Rounds with tool calls of one agent, unless its definition sets another limit."""
MOST_TURNS: Final = 200
"""The highest limit that a definition can set."""


class AgentSource(StrEnum):
    """Where a definition comes from, in order of precedence for a name."""

    POLICY = "policy"
    FLAG = "flag"
    PROJECT = "project"
    USER = "user"
    PLUGIN = "plugin"
    BUILTIN = "builtin"


class AgentDefinition(Struct, frozen=True, kw_only=True):
    """One kind of agent."""

    name: str
    description: str
    """When to use it, for the model that chooses."""
    prompt: str = ""
    """Its system prompt."""
    source: AgentSource = AgentSource.BUILTIN
    path: Path | None = None
    tools: tuple[str, ...] | None = None
    """Entries as written, such as `Bash(git *)`; None means every tool of its parent."""
    disallowed_tools: tuple[str, ...] = ()
    model: str | None = None
    """None means the parent's."""
    effort: Effort | None = None
    permission_mode: Mode | None = None
    """Applies if it is stricter than the parent's."""
    max_turns: int = MAX_TURNS
    skills: tuple[str, ...] = ()
    """Skills whose texts are in its opening messages."""
    mcp_servers: tuple[str, ...] = ()
    """Names of servers whose tools it has, including its own servers."""
    own_servers: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    """Its own servers by name, each an entry as in `.mcp.json`; they run while it runs."""
    hooks: Mapping[str, object] | None = None
    memory: MemoryScope | None = None
    background: bool = False
    """Always runs in the background."""
    isolation: Literal["worktree"] | None = None
    color: str | None = None
    initial_prompt: str = ""
    """Precedes the first prompt of a session that this agent leads."""
    omits_instructions: bool = False
    """Whether it works without the instruction files of user and project."""
    problems: tuple[str, ...] = field(default=())
    """Problems of its file, for users; the rest of the file applies."""
