"""Pins the tools that the user accepted, so that changed ones can be withheld."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Literal, Protocol

import msgspec
from msgspec import Struct, field

from agent.mcp.configuration.server_definition import ServerDefinition
from agent.mcp.stored_file import read_stored
from permissions.base.files.private_file import exclusive, write_private

ToolChangePolicy = Literal["withhold", "notify"]
INSTRUCTIONS: Final = ""
"""The key of the server's instructions, where tools have their names."""
_PINNED: Final = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")
_MAX_BYTES: Final = 50_000_000


class PinnedTool(Protocol):
    """A tool as its server defines it."""

    @property
    def name(self) -> str: ...
    @property
    def definition(self) -> Mapping[str, object]: ...


class ToolChange(Struct, frozen=True):
    """A changed or new definition of a tool, or of the server's instructions."""

    name: str
    """Empty for the server's instructions."""
    old_text: str | None
    """The accepted text; None for a new tool."""
    now: str


class _ServerPins(Struct, frozen=True):
    pins: dict[str, str] = field(default_factory=dict)
    """Names to canonical texts."""


class _Stored(Struct, frozen=True):
    servers: dict[str, _ServerPins] = field(default_factory=dict)
    """Pins by the digest of the server's definition."""
    v: int = 1


class ToolPins:
    """The pins of all servers, one file in the agent's home (0600)."""

    def __init__(self, agent_home: Path) -> None:
        """The file need not exist."""
        self._path = agent_home / "mcp" / "pins.json"

    def compare(
        self, definition: ServerDefinition, tools: Sequence[PinnedTool], instructions: str
    ) -> tuple[ToolChange, ...]:
        """Return the differences from the accepted tools; a server's first tools are accepted.

        A removed tool is not a change. Never raises: if pins cannot be stored, the server counts
        as new at the next start.
        """
        texts = pinned_texts(tools, instructions)
        old_pins = self._read().servers.get(definition.digest)
        if old_pins is None:
            self._store(definition, texts)
            return ()
        return tuple(
            ToolChange(name, old_pins.pins.get(name), text)
            for name, text in texts.items()
            if old_pins.pins.get(name) != text
        )

    def accept(self, definition: ServerDefinition, changes: Sequence[ToolChange]) -> None:
        """Accept changes. Raises OSError."""
        old_pins = self._read().servers.get(definition.digest, _ServerPins())
        self._write(definition, old_pins.pins | {change.name: change.now for change in changes})

    def _store(self, definition: ServerDefinition, pins: Mapping[str, str]) -> None:
        try:
            self._write(definition, pins)
        except OSError:
            return

    def _write(self, definition: ServerDefinition, pins: Mapping[str, str]) -> None:
        with exclusive(self._path):
            servers = {**self._read().servers, definition.digest: _ServerPins(dict(pins))}
            data = msgspec.to_builtins(_Stored(servers))
            write_private(self._path, json.dumps(data).encode())

    def _read(self) -> _Stored:
        return read_stored(self._path, _Stored, _MAX_BYTES)


def pinned_texts(tools: Sequence[PinnedTool], instructions: str) -> dict[str, str]:
    """Return the pinned texts by tool name; of equal names the first counts."""
    texts: dict[str, str] = {}
    for tool in tools:
        fields = {key: tool.definition[key] for key in _PINNED if key in tool.definition}
        texts.setdefault(tool.name, _canonical(fields))
    if instructions:
        texts[INSTRUCTIONS] = instructions
    return texts


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, indent=1)
