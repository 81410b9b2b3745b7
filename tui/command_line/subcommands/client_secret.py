"""The secret of a registered OAuth client: asked for, and stored with the tokens."""

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
    """Return the client's secret, from the environment or typed without echo.

    Raises:
        click.UsageError: the entry has no client id or address, or there is no terminal to ask on.
    """
    oauth = entry.get("oauth")
    if not isinstance(oauth, Mapping) or not oauth.get("clientId") or not entry.get("url"):
        raise click.UsageError("--client-secret goes with an address and a client ID.")
    secret = os.environ.get(VARIABLE, "")
    if not secret and not sys.stdin.isatty():
        raise click.UsageError(f"--client-secret: set {VARIABLE}, or answer at a terminal.")
    return secret or str(click.prompt("Client secret", hide_input=True, err=True))


def store_secret(settings: Settings, entry: Mapping[str, object], secret: str) -> None:
    """Store the secret for the server's address, readable by this user only. Raises OSError."""
    oauth = entry["oauth"]
    assert isinstance(oauth, Mapping)
    url = EntryVariables(os.environ).text(str(entry["url"])).strip()
    TokenStore(settings.agent_home / "mcp").set_client(url, str(oauth["clientId"]), secret)
