"""What can go wrong with a server; each text is for the user and for the model.

McpError
├── ServerUnavailable   there is no connection, or it ended during the call
├── CallTimedOut        the call took longer than it may
├── RemoteError         the server answered with a protocol error
├── NeedsSignIn         the server wants a user to sign in
└── ConnectFailed       no connection came about
"""

from __future__ import annotations

from agent.errors import AgentError


class McpError(AgentError):
    """Base of what a server, or the way to it, does wrong."""


class ServerUnavailable(McpError):
    """The server is not connected, or was lost while the call ran."""


class CallTimedOut(McpError):
    """The call ran into a time limit and was cancelled; the connection stays."""


class RemoteError(McpError):
    """The server answered with an error of the protocol."""

    def __init__(self, text: str, code: int) -> None:
        """`code` is that of JSON-RPC."""
        super().__init__(text)
        self.code = code


class NeedsSignIn(McpError):
    """A user has to sign in before this server answers."""


class ConnectFailed(McpError):
    """The connection could not be made."""

    def __init__(self, text: str, *, is_transient: bool = False) -> None:
        """`is_transient`: another attempt may succeed."""
        super().__init__(text)
        self.is_transient = is_transient
