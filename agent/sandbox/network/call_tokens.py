"""Which call a connection belongs to: each call has proxy credentials of its own."""

from __future__ import annotations

import secrets
from typing import Final

from msgspec import Struct

USER: Final = "agent-tui"
"""The user name of the proxy credentials; the password is the token."""


class NetworkCall(Struct, frozen=True):
    """The call that a connection is made for."""

    id: str
    """Empty if the connection has no valid credentials."""
    command: str = ""
    """Shown in the question about a host, such as `npm install`."""


UNKNOWN_CALL: Final = NetworkCall("")


class CallTokens:
    """The tokens of the calls that run."""

    def __init__(self) -> None:
        """No call runs yet."""
        self._calls: dict[str, NetworkCall] = {}

    def issue(self, call: NetworkCall) -> str:
        """Return a new token for a call."""
        token = secrets.token_hex(16)
        self._calls[token] = call
        return token

    def revoke(self, token: str) -> None:
        """Forget a token; unknown ones are not an error."""
        self._calls.pop(token, None)

    def find(self, token: str | None) -> NetworkCall | None:
        """Return the call of a token; None without a token, or with one that is not in force."""
        return None if token is None else self._calls.get(token)
