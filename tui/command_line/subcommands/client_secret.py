"""The secret of an OAuth client that is registered already: asked for, and stored beside tokens."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Final

import click

from agent.mcp.auth.token_store import TokenStore
from agent.mcp.configuration.entry_variables import EntryVariables
from agent.settings.load import Settings

VARIABLE: Final = "MCP_CLIENT_SECRET"

option = click.option(
    "--client-secret", "has_secret", is_flag=True,
    help=f"Ask for the client's secret, unless {VARIABLE} is set.",
)  # fmt: skip


def read_secret(entry: Mapping[str, object]) -> str:
    """Return the secret of the client that an entry names; it is never shown.

    Raises:
        click.UsageError: the entry names no client, or there is no user to ask.
    """
    oauth = entry.get("oauth")
    if not isinstance(oauth, Mapping) or not oauth.get("clientId") or not entry.get("url"):
        raise click.UsageError("--client-secret goes with an address and a client ID.")
    secret = os.environ.get(VARIABLE, "")
    if not secret and not sys.stdin.isatty():
        raise click.UsageError(f"--client-secret: set {VARIABLE}, or answer at a terminal.")
    return secret or str(click.prompt("Client secret", hide_input=True, err=True))


def store_secret(settings: Settings, entry: Mapping[str, object], secret: str) -> None:
    """Store it for the server's address, for this user alone. Raises OSError."""
    oauth = entry["oauth"]
    assert isinstance(oauth, Mapping)
    url = EntryVariables(os.environ).text(str(entry["url"])).strip()
    TokenStore(settings.agent_home / "mcp").set_client(url, str(oauth["clientId"]), secret)
