"""One server as it is started: the entry of a file with its variables replaced."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct, field

Transport = Literal["stdio", "http", "sse", "ws", "sdk"]
ServerScope = Literal["managed", "dynamic", "local", "project", "user", "plugin"]
"""Where a server is configured; `dynamic` is the command line, or the program that drives this
one."""
Era = Literal["auto", "legacy", "modern"]

LOCAL_TRANSPORTS: Final[frozenset[Transport]] = frozenset({"stdio", "sdk"})


class OAuthSettings(Struct, frozen=True, kw_only=True):
    """What an entry says about signing in; None is found out from the server."""

    client_id: str | None = None
    callback_port: int | None = None
    metadata_url: str | None = None
    """Of the authorization server; https."""
    scopes: str | None = None
    """Separated by spaces."""


class PluginPlace(Struct, frozen=True):
    """The plugin that a server belongs to."""

    name: str
    root: Path
    data: Path
    """Where it stores what outlives an update."""

    @property
    def variables(self) -> dict[str, str]:
        """Return what its entries and programs call these directories."""
        return {"CLAUDE_PLUGIN_ROOT": str(self.root), "CLAUDE_PLUGIN_DATA": str(self.data)}


class ServerDefinition(Struct, frozen=True, kw_only=True):
    """A server to connect to."""

    name: str
    transport: Transport
    scope: ServerScope
    is_foreign: bool
    """Somebody other than the user may have written it: a repository, a plugin."""
    entry: Mapping[str, object]
    """The entry as in its file, `${VAR}` included: this is shown, and accepted by the user."""
    digest: str
    """Of name and entry as written, and of the directory of its plugin."""
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: Path | None = None
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    headers_helper: str | None = None
    """A shell command that prints a JSON object of further headers."""
    timeout_s: float | None = None
    """Of one call, whatever its progress."""
    oauth: OAuthSettings | None = None
    always_load: bool = False
    """Its tools are sent with every request."""
    is_required: bool = False
    """A run without a screen fails where it cannot be reached."""
    enabled_tools: tuple[str, ...] | None = None
    """None is all of them."""
    disabled_tools: tuple[str, ...] = ()
    trusts_annotations: bool = False
    """What the server calls reading runs without asking."""
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
    """Return the digest that an acceptance is bound to: sha256 of canonical JSON, in hex."""
    whole = [name, entry] if plugin is None else [name, entry, str(plugin.root)]
    text = json.dumps(whole, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
