"""The state of a server, and its view for display."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from agent.mcp.configuration.server_definition import ServerDefinition
from agent.mcp.server_offer import RemotePrompt, RemoteResource, RemoteTool


class ServerState(StrEnum):
    """State of a server; only a connected one has tools."""

    PENDING = "pending"
    """Connecting or reconnecting."""
    CONNECTED = "connected"
    FAILED = "failed"
    NEEDS_AUTH = "needs-auth"
    DISABLED = "disabled"
    """Disabled, or not allowed to start; not reported to the model."""


class ServerOffer(Struct, frozen=True):
    """The current offer of a connected server."""

    tools: tuple[RemoteTool, ...] = ()
    withheld: tuple[RemoteTool, ...] = ()
    """Tools that the user has to accept first."""
    problems: tuple[str, ...] = ()
    """A sentence for each unusable entry of the server's lists."""
    prompts: tuple[RemotePrompt, ...] = ()
    resources: tuple[RemoteResource, ...] = ()
    instructions: str = ""
    """Without control characters, at most 2,048 characters."""


class ServerView(Struct, frozen=True, kw_only=True):
    """The current state of one server."""

    definition: ServerDefinition
    state: ServerState
    reason: str = ""
    """Why it is not connected; empty if it is."""
    detail: str = ""
    """The end of a failed program's standard error."""
    offer: ServerOffer = ServerOffer()
    server_name: str = ""
    server_version: str = ""
    protocol_version: str = ""
    generation: int = 0
    """Number of connections so far."""
    attempt: int = 0
    """Number of the current reconnection attempt; 0 for the first connection."""
    can_sign_in: bool = False
    is_signed_in: bool = False

    @property
    def name(self) -> str:
        """The configured name."""
        return self.definition.name

    @property
    def tools(self) -> tuple[RemoteTool, ...]:
        """Its tools; empty unless it is connected."""
        return self.offer.tools if self.state is ServerState.CONNECTED else ()
