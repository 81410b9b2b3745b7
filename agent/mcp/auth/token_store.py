"""What signing in gave, in one file for this user alone; an entry belongs to one server's address.

Every change is a read, a change and a write under a lock, since other processes sign in too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from agent.mcp.stored_file import read_stored
from permissions.base.files.private_file import exclusive, write_private

Fields = Mapping[str, object]


class SignIn(Struct, frozen=True, kw_only=True):
    """What is known of signing in to one server; each part as JSON, None while unknown."""

    tokens: Fields | None = None
    expires_at: float | None = None
    """Seconds since the epoch; None: not known."""
    client: Fields | None = None
    """Who we are to the authorization server."""
    authorization_server: Fields | None = None
    """Its metadata."""
    issuer: str | None = None
    """The authorization server that the protected resource named."""
    wanted_scope: str | None = None
    """Permissions that were missing since the last sign-in."""
    resource: Fields | None = None
    """Metadata of the protected resource."""


class _TokenFile(Struct):
    version: int = 1
    servers: dict[str, SignIn] = field(default_factory=dict)


class TokenStore:
    """The entries of all servers. Its methods block; they raise OSError."""

    def __init__(self, directory: Path) -> None:
        """The file is made when there is something to store."""
        self._path = directory / "tokens.json"

    def read(self, url: str) -> SignIn:
        """Return what is known of a server; nothing where the file cannot be read."""
        return self._read().servers.get(url, SignIn())

    def change(self, url: str, change: Callable[[SignIn], SignIn]) -> SignIn:
        """Replace a server's entry by what a function makes of it, and return that."""
        with exclusive(self._path):
            file = self._read()
            entry = change(file.servers.get(url, SignIn()))
            file.servers[url] = entry
            if entry == SignIn():
                del file.servers[url]
            write_private(self._path, msgspec.json.encode(file))
        return entry

    def set_client(self, url: str, client_id: str, secret: str) -> None:
        """Store who we are to a server's authorization server, where that was arranged."""
        client = {
            "client_id": client_id,
            "client_secret": secret,
            "token_endpoint_auth_method": "client_secret_basic",
        }
        # What another client was given is of no use to this one.
        self.change(url, lambda entry: replace(entry, client=client, tokens=None, expires_at=None))

    def sign_out(self, url: str) -> None:
        """Forget the tokens of a server; who we are to it stays known."""
        self.change(url, lambda entry: replace(entry, tokens=None, expires_at=None))

    @contextmanager
    def refreshing(self, url: str) -> Iterator[None]:
        """Hold the right to refresh the tokens of a server, among all processes."""
        with exclusive(self._path.with_name(f"refresh-{_digest(url)}")):
            yield

    def _read(self) -> _TokenFile:
        return read_stored(self._path, _TokenFile)


def _digest(url: str) -> str:
    import hashlib  # only with a server that wants a sign-in

    return hashlib.sha256(url.encode()).hexdigest()[:16]
