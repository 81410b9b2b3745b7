"""What can go wrong with a command: one exception for users to read."""

from __future__ import annotations

from agent.errors import AgentError


class CommandError(AgentError):
    """A command cannot be run; the text says why and what to do."""
