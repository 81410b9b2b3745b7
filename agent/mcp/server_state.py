"""The state of a server, and what is shown of it."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from agent.mcp.configuration.server_definition import ServerDefinition
from agent.mcp.server_offer import RemotePrompt, RemoteResource, RemoteTool


class ServerState(StrEnum):
    """Only a connected server has tools; the others have none, and no error reaches the loop."""

    PENDING = "pending"
    """A connection is being made, or made again."""
    CONNECTED = "connected"
    FAILED = "failed"
    NEEDS_AUTH = "needs-auth"
    DISABLED = "disabled"
    """Switched off, or not allowed to start; silent."""


class ServerOffer(Struct, frozen=True):
    """What a connected server offers now."""

    tools: tuple[RemoteTool, ...] = ()
    withheld: tuple[RemoteTool, ...] = ()
    """Tools that the user has to accept first."""
    problems: tuple[str, ...] = ()
    """What of the server's lists could not be used, a sentence each."""
    prompts: tuple[RemotePrompt, ...] = ()
    resources: tuple[RemoteResource, ...] = ()
    instructions: str = ""
    """Control characters removed, 2,048 characters at most."""


class ServerView(Struct, frozen=True, kw_only=True):
    """One server as it is now."""

    definition: ServerDefinition
    state: ServerState
    reason: str = ""
    """Why it is not connected; empty while it is."""
    detail: str = ""
    """The end of what a failed program printed on standard error."""
    offer: ServerOffer = ServerOffer()
    server_name: str = ""
    server_version: str = ""
    protocol_version: str = ""
    generation: int = 0
    """How many connections there were."""
    attempt: int = 0
    """Which attempt to connect again is under way; 0 at first."""
    can_sign_in: bool = False
    is_signed_in: bool = False

    @property
    def name(self) -> str:
        """The name it was configured under."""
        return self.definition.name

    @property
    def tools(self) -> tuple[RemoteTool, ...]:
        """Its tools; empty unless it is connected."""
        return self.offer.tools if self.state is ServerState.CONNECTED else ()
