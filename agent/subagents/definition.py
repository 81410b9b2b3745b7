"""What a kind of agent is: its instructions, and what it may use. Files and JSON become this.

Next: `agent.subagents.definition_fields` (reading one), `agent.subagents.catalog` (all there are).
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
"""Answers with tool calls of one agent, where its definition sets no other limit."""
MOST_TURNS: Final = 200
"""The highest limit that a definition can set."""


class AgentSource(StrEnum):
    """Where a definition comes from; the first in this order wins a name."""

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
    """Entries as written, such as `Bash(git *)`; None is every tool that its parent has."""
    disallowed_tools: tuple[str, ...] = ()
    model: str | None = None
    """None is the parent's."""
    effort: Effort | None = None
    permission_mode: Mode | None = None
    """Applies where it is stricter than the parent's."""
    max_turns: int = MAX_TURNS
    skills: tuple[str, ...] = ()
    """Whose texts it starts with."""
    mcp_servers: tuple[str, ...] = ()
    """Names of servers all of whose tools it has, those of its own included."""
    own_servers: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    """Servers of its own by name, each an entry as in `.mcp.json`; they run while it does."""
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
    """What its file gets wrong, for users; the rest applies."""
