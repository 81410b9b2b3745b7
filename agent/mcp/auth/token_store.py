"""Stored sign-ins, in one private file; an entry belongs to one server's URL.

Every change reads and writes the file under a lock, because other processes sign in, too.
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
    """The sign-in to one server; each part as JSON, None while unknown."""

    tokens: Fields | None = None
    expires_at: float | None = None
    """Seconds since the epoch; None if unknown."""
    client: Fields | None = None
    """Our client registration at the authorization server."""
    authorization_server: Fields | None = None
    """Metadata of the authorization server."""
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
        """The file is created with the first entry."""
        self._path = directory / "tokens.json"

    def read(self, url: str) -> SignIn:
        """Return a server's entry; an empty one if there is none or the file cannot be read."""
        return self._read().servers.get(url, SignIn())

    def change(self, url: str, change: Callable[[SignIn], SignIn]) -> SignIn:
        """Replace a server's entry by the result of a function, and return it."""
        with exclusive(self._path):
            file = self._read()
            entry = change(file.servers.get(url, SignIn()))
            file.servers[url] = entry
            if entry == SignIn():
                del file.servers[url]
            write_private(self._path, msgspec.json.encode(file))
        return entry

    def set_client(self, url: str, client_id: str, secret: str) -> None:
        """Store a client registration that was arranged outside this program."""
        client = {
            "client_id": client_id,
            "client_secret": secret,
            "token_endpoint_auth_method": "client_secret_basic",
        }
        # Tokens of another client are not valid for this one.
        self.change(url, lambda entry: replace(entry, client=client, tokens=None, expires_at=None))

    def sign_out(self, url: str) -> None:
        """Remove a server's tokens; the client registration stays."""
        self.change(url, lambda entry: replace(entry, tokens=None, expires_at=None))

    @contextmanager
    def refreshing(self, url: str) -> Iterator[None]:
        """Hold the lock, across processes, for refreshing a server's tokens."""
        with exclusive(self._path.with_name(f"refresh-{_digest(url)}")):
            yield

    def _read(self) -> _TokenFile:
        return read_stored(self._path, _TokenFile)


def _digest(url: str) -> str:
    import hashlib  # only with a server that requires a sign-in

    return hashlib.sha256(url.encode()).hexdigest()[:16]
