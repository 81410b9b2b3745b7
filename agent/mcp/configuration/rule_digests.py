"""Records the server definitions for which rules about tools were stored, so that another
definition of the same name does not inherit the rules."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct, field

from agent.mcp.stored_file import read_stored
from permissions.base.files.private_file import exclusive, write_private

_MAX_BYTES: Final = 10_000_000


class _Stored(Struct, frozen=True):
    tools: dict[str, list[str]] = field(default_factory=dict)
    """Full names of tools to digests of the definitions for which rules were stored."""
    v: int = 1


class RuleDigests:
    """One file in the agent's home (0600); rules written by hand are bound only to the name."""

    def __init__(self, agent_home: Path) -> None:
        """The file need not exist."""
        self._path = agent_home / "mcp" / "rules.json"

    def bind(self, tool: str, digest: str) -> None:
        """Record that a tool's rule applies to this definition of its server. Raises OSError."""
        with exclusive(self._path):
            digests = self._read().tools
            if digest not in digests.get(tool, ()):
                tools = {**digests, tool: [*digests.get(tool, ()), digest]}
                data = msgspec.to_builtins(_Stored(tools))
                write_private(self._path, json.dumps(data).encode())

    def foreign(self, digest: str, tools: list[str]) -> list[str]:
        """Return those of the tools whose rules were stored only for other definitions."""
        digests = self._read().tools
        return [tool for tool in tools if tool in digests and digest not in digests[tool]]

    def _read(self) -> _Stored:
        return read_stored(self._path, _Stored, _MAX_BYTES)
