"""The definition of one server: the entry of a file with its variables replaced."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct, field

Transport = Literal["stdio", "http", "sse", "ws", "sdk"]
ServerScope = Literal["managed", "dynamic", "local", "project", "user", "plugin"]
"""Where a server is configured; `dynamic` means the command line, or the program that controls
this one."""
Era = Literal["auto", "legacy", "modern"]

LOCAL_TRANSPORTS: Final[frozenset[Transport]] = frozenset({"stdio", "sdk"})


class OAuthSettings(Struct, frozen=True, kw_only=True):
    """An entry's sign-in settings; None means that the server determines the value."""

    client_id: str | None = None
    callback_port: int | None = None
    metadata_url: str | None = None
    """URL of the authorization server's metadata; https."""
    scopes: str | None = None
    """Scopes, separated by spaces."""


class PluginPlace(Struct, frozen=True):
    """The plugin that a server belongs to."""

    name: str
    root: Path
    data: Path
    """Its directory for data that survives updates."""

    @property
    def variables(self) -> dict[str, str]:
        """Return the variables for these directories, for entries and programs."""
        return {"CLAUDE_PLUGIN_ROOT": str(self.root), "CLAUDE_PLUGIN_DATA": str(self.data)}


class ServerDefinition(Struct, frozen=True, kw_only=True):
    """A server to connect to."""

    name: str
    transport: Transport
    scope: ServerScope
    is_foreign: bool
    """Whether someone other than the user may have written it: a repository, a plugin."""
    entry: Mapping[str, object]
    """The entry as in its file, with `${VAR}`, which is what the user sees and approves."""
    digest: str
    """Digest of name and entry as written, and of its plugin's directory."""
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: Path | None = None
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    headers_helper: str | None = None
    """A shell command that prints a JSON object of additional headers."""
    timeout_s: float | None = None
    """Time limit of one call, regardless of progress."""
    oauth: OAuthSettings | None = None
    always_load: bool = False
    """Whether its tools are sent with every request."""
    is_required: bool = False
    """Whether a run without a screen fails if the server is not connected."""
    enabled_tools: tuple[str, ...] | None = None
    """None means all tools."""
    disabled_tools: tuple[str, ...] = ()
    trusts_annotations: bool = False
    """Whether tools that the server declares read-only run without asking."""
    inherits_env: bool = False
    is_confined: bool = True
    protocol: Era | None = None
    plugin: PluginPlace | None = None
    file: Path | None = None
    line: int | None = None

    @property
    def is_local(self) -> bool:
        """Whether it runs on this machine, as a process or inside the calling program."""
        return self.transport in LOCAL_TRANSPORTS


def digest_of(name: str, entry: Mapping[str, object], plugin: PluginPlace | None = None) -> str:
    """Return the digest that an approval is bound to: SHA-256 of canonical JSON, in hex."""
    whole = [name, entry] if plugin is None else [name, entry, str(plugin.root)]
    text = json.dumps(whole, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
