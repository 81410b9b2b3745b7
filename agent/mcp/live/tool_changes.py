"""Withholds or reports tools that changed after they were accepted."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Sequence
from typing import Final

from agent.mcp.configuration.server_definition import ServerDefinition
from agent.mcp.configuration.tool_pins import (
    INSTRUCTIONS,
    ToolChange,
    ToolChangePolicy,
    ToolPins,
)
from agent.mcp.server_offer import RemoteTool

Report = Callable[[str], None]
_MAX_NAMED: Final = 5


class ToolChangeGuard:
    """Compares what servers offer with their pins."""

    def __init__(
        self, pins: ToolPins, policy: Callable[[], ToolChangePolicy | None], report: Report
    ) -> None:
        """`policy` is the setting; None withholds foreign servers' tools and reports others."""
        self._pins = pins
        self._policy = policy
        self._report = report
        self._open: dict[str, tuple[ServerDefinition, tuple[ToolChange, ...]]] = {}

    def withhold(
        self, definition: ServerDefinition, tools: Sequence[RemoteTool], instructions: str
    ) -> Collection[str]:
        """Return the names of tools that must not be used yet."""
        changes = self._pins.compare(definition, tools, instructions)
        previous = self._open.get(definition.name)
        if not changes:
            self._open.pop(definition.name, None)
            return ()
        withholds = self._withholds(definition)
        if previous is None or previous[1] != changes:
            self._report(_notice(definition.name, changes, withholds=withholds))
        if not withholds:
            with contextlib.suppress(OSError):
                self._pins.accept(definition, changes)
            return ()
        self._open[definition.name] = (definition, changes)
        return {change.name for change in changes if change.name}

    def open_changes(self, server: str) -> tuple[ToolChange, ...]:
        """Return a server's changes that the user has not accepted."""
        return self._open[server][1] if server in self._open else ()

    def withholds_instructions(self, server: str) -> bool:
        """Return whether a server's changed instructions must not reach the model yet."""
        return any(change.name == INSTRUCTIONS for change in self.open_changes(server))

    def accept(self, server: str) -> None:
        """Accept a server's changes. Raises OSError."""
        if server in self._open:
            definition, changes = self._open[server]
            self._pins.accept(definition, changes)
            del self._open[server]

    def _withholds(self, definition: ServerDefinition) -> bool:
        policy = self._policy()
        return definition.is_foreign if policy is None else policy == "withhold"


def _notice(server: str, changes: Sequence[ToolChange], *, withholds: bool) -> str:
    names = [change.name or "its instructions" for change in changes]
    more = f" and {len(names) - _MAX_NAMED} more" if len(names) > _MAX_NAMED else ""
    what = "it is withheld until you accept it" if withholds else "it is used as it is now"
    if len(names) > 1:
        what = (
            "they are withheld until you accept them" if withholds else "they are used as they are"
        )
    name_list = ", ".join(names[:_MAX_NAMED])
    return f"MCP server {server} changed {name_list}{more} since you approved it: {what} (/mcp)"
