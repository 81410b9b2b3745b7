"""Errors of servers; each text is for the user and for the model.

McpError
├── ServerUnavailable   there is no connection, or it ended during the call
├── CallTimedOut        the call exceeded a time limit
├── RemoteError         the server answered with a protocol error
├── NeedsSignIn         the server requires a sign-in
└── ConnectFailed       the connection failed
"""

from __future__ import annotations

from agent.errors import AgentError


class McpError(AgentError):
    """Base of errors of a server, or of the connection to it."""


class ServerUnavailable(McpError):
    """The server is not connected, or was lost while the call ran."""


class CallTimedOut(McpError):
    """The call exceeded a time limit and was cancelled; the connection stays."""


class RemoteError(McpError):
    """The server answered with an error of the protocol."""

    def __init__(self, text: str, code: int) -> None:
        """`code` is that of JSON-RPC."""
        super().__init__(text)
        self.code = code


class NeedsSignIn(McpError):
    """A user has to sign in before this server answers."""


class ConnectFailed(McpError):
    """The connection could not be established."""

    def __init__(self, text: str, *, is_transient: bool = False) -> None:
        """`is_transient`: another attempt may succeed."""
        super().__init__(text)
        self.is_transient = is_transient
