"""What servers make the program ask its user."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol

from agent.mcp.configuration.configured_servers import ConfiguredServer
from agent.mcp.configuration.consent_store import ConsentAnswer
from agent.mcp.configuration.tool_pins import ToolChange
from agent.mcp.server_requests import ElicitationAnswer, ElicitationRequest, SamplingRequest


class SamplingChoice(StrEnum):
    """What the user decided about a server's request to the model."""

    ONCE = "once"
    ALWAYS = "always"
    NO = "no"


class McpUser(Protocol):
    """Shows these questions; each is closed when it is cancelled."""

    async def approve_server(self, server: ConfiguredServer) -> ConsentAnswer | None:
        """Return whether a project's server may start; None where it stays open."""
        ...

    async def accept_changes(self, server: str, changes: Sequence[ToolChange]) -> bool:
        """Return whether tools that a server changed may be used as they are now."""
        ...

    async def elicit(self, request: ElicitationRequest) -> ElicitationAnswer:
        """Return what the user answers a server."""
        ...

    async def allow_sampling(self, request: SamplingRequest) -> SamplingChoice:
        """Return whether a server may ask the model this."""
        ...
