"""The questions that servers cause the program to ask its user."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol

from agent.mcp.configuration.configured_servers import ConfiguredServer
from agent.mcp.configuration.consent_store import ConsentAnswer
from agent.mcp.configuration.tool_pins import ToolChange
from agent.mcp.server_requests import ElicitationAnswer, ElicitationRequest, SamplingRequest


class SamplingChoice(StrEnum):
    """The user's decision about a sampling request."""

    ONCE = "once"
    ALWAYS = "always"
    NO = "no"


class McpUser(Protocol):
    """Asks the user; a question closes when its task is cancelled."""

    async def approve_server(self, server: ConfiguredServer) -> ConsentAnswer | None:
        """Return whether a project's server may start; None if the question stays open."""
        ...

    async def accept_changes(self, server: str, changes: Sequence[ToolChange]) -> bool:
        """Return whether changed tools of a server may be used."""
        ...

    async def elicit(self, request: ElicitationRequest) -> ElicitationAnswer:
        """Return the user's answer to a server."""
        ...

    async def allow_sampling(self, request: SamplingRequest) -> SamplingChoice:
        """Return whether a server may send this request to the model."""
        ...
