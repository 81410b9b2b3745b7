"""`agent-tui mcp`: lists, adds and removes MCP servers, and signs in to them."""

from __future__ import annotations

import asyncio
import difflib
import json
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeVar, get_args

import click

from agent.errors import ConfigError
from agent.mcp.configuration.configured_servers import (
    ConfiguredServer,
    ConfiguredServers,
    ServerSources,
    configured_servers,
)
from agent.mcp.configuration.consent_store import ConsentStore
from agent.mcp.configuration.edit_servers import (
    WritableScope,
    add_server,
    file_of,
    remove_server,
)
from agent.mcp.configuration.shown_entry import shown_entry
from agent.mcp.mcp_errors import McpError
from agent.mcp.server_state import ServerState
from agent.settings.file import SettingsWarning
from agent.settings.load import Settings
from permissions.base.process.child_environment import child_environment
from permissions.base.text.sanitize import reveal
from tui.command_line.subcommands import client_secret
from tui.command_line.subcommands.client_secret import read_secret, store_secret
from tui.command_line.subcommands.places import current_directories, settings_here
from tui.command_line.subcommands.server_checks import (
    check_servers,
    click_error,
    run_check,
    sign_in,
    sign_out,
)
from tui.command_line.subcommands.shown_servers import (
    debug_lines,
    line_of,
    server_json,
    state_text,
    status_of,
)
from tui.command_line.subcommands.whole_texts import WholeTexts
from tui.version import version

_T = TypeVar("_T")
SCOPES: Final[tuple[WritableScope, ...]] = get_args(WritableScope)
_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
_scope = click.option(
    "-s", "--scope", type=click.Choice(SCOPES), default="local", show_default=True,
    help="local: you, in this project; project: everyone, in .mcp.json; user: you, everywhere.",
)  # fmt: skip


@click.group("mcp", cls=WholeTexts, short_help="Add, list and remove MCP servers.")
def command() -> None:
    """Add, list and remove MCP servers. Inside the program: /mcp."""


@command.command("list")
@click.option("--no-connect", is_flag=True, help="Do not start or contact any of them.")
@_json
def list_servers(no_connect: bool, as_json: bool) -> None:
    """List the servers configured here, and connect to those that may start."""
    settings, servers = _load_servers()
    startable = () if no_connect else servers.startable
    views = asyncio.run(check_servers(settings, startable))
    if as_json:
        entries = [server_json(one, views.get(one.definition.name)) for one in servers.servers]
        click.echo(json.dumps(entries, ensure_ascii=False))
    else:
        for one in servers.servers:
            click.echo(reveal(f"{one.definition.name}: {line_of(one, views)}"))
        if not servers.servers:
            click.echo("no MCP servers here; agent-tui mcp add adds one")
    _print_problems(settings, servers)


@command.command("get")
@click.argument("name")
@_json
def get_server(name: str, as_json: bool) -> None:
    """Show one server: where it is configured, what it starts, and whether it may start."""
    _, servers = _load_servers()
    one = _server(servers, name)
    if as_json:
        click.echo(json.dumps(server_json(one), ensure_ascii=False))
        return
    definition = one.definition
    place = f"{definition.file}:{definition.line}" if definition.file else "the command line"
    lines = [
        f"{definition.name}:",
        f"  Scope: {definition.scope} ({place})",
        f"  Status: {status_of(one)}",
        f"  Type: {definition.transport}",
    ]
    for key, value in shown_entry(definition).items():
        if key != "type":
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            lines.append(f"  {key}: {text}")
    click.echo(reveal("\n".join(lines)))


@command.command("debug")
@click.argument("name")
@_json
def debug(name: str, as_json: bool) -> int:
    """Connect to one server and show what it offers, or why it cannot be reached."""
    settings, servers = _load_servers()
    one = _server(servers, name)
    if one.standing != "may_start":
        raise click.ClickException(f"{name} does not start: {one.reason}")
    view = run_check(settings, one.definition)
    if as_json:
        click.echo(json.dumps(server_json(one, view), ensure_ascii=False))
    else:
        click.echo(reveal("\n".join(debug_lines(view))))
    return 0 if view.state is ServerState.CONNECTED else 1


@command.command("login")
@click.option("--no-browser", is_flag=True, help="Print the address instead of opening a browser.")
@_json
@click.argument("name")
def login_server(no_browser: bool, as_json: bool, name: str) -> int:
    """Sign in to a server."""
    settings, servers = _load_servers()
    one = _server(servers, name)
    if one.standing != "may_start":
        raise click.ClickException(f"{name} does not start: {one.reason}")
    try:
        view = asyncio.run(sign_in(settings, one.definition, opens_browser=not no_browser))
    except (McpError, OSError) as error:
        raise click_error(error) from error
    if as_json:
        click.echo(json.dumps({"name": name, "state": str(view.state), "reason": view.reason}))
    else:
        click.echo(reveal(f"{name}: {state_text(view)}"))
    return 0 if view.state is ServerState.CONNECTED else 1


@command.command("logout")
@_json
@click.argument("name")
def logout_server(as_json: bool, name: str) -> None:
    """Delete the tokens for a server."""
    settings, servers = _load_servers()
    one = _server(servers, name)
    try:
        asyncio.run(sign_out(settings, one.definition))
    except (McpError, OSError) as error:
        raise click_error(error) from error
    click.echo(json.dumps({"name": name}) if as_json else reveal(f"signed out of {name}"))


@command.command("add", context_settings={"ignore_unknown_options": True})
@click.option(
    "-t", "--transport", type=click.Choice(("stdio", "http", "sse", "ws")),
    help="Transport; by default http for an address, stdio for a command.",
)  # fmt: skip
@_scope
@click.option(
    "-e", "--env", multiple=True, metavar="KEY=VALUE", help="Environment variable. Repeatable."
)
@click.option(
    "-H", "--header", multiple=True, metavar="'KEY: VALUE'", help="HTTP header. Repeatable."
)
@click.option(
    "--callback-port", type=click.IntRange(1, 65535), envvar="MCP_OAUTH_CALLBACK_PORT",
    help="Local port that the sign-in returns to.",
)  # fmt: skip
@click.option("--client-id", metavar="ID", help="ID of an OAuth client that is already registered.")
@client_secret.option
@_json
@click.argument("name")
@click.argument("target")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def add(
    transport: str | None,
    scope: WritableScope,
    env: tuple[str, ...],
    header: tuple[str, ...],
    callback_port: int | None,
    client_id: str | None,
    has_secret: bool,
    as_json: bool,
    name: str,
    target: str,
    arguments: tuple[str, ...],
) -> None:
    """Add a server: NAME URL, or NAME -- COMMAND ARGUMENTS…"""
    is_url = target.startswith(("http://", "https://", "ws://", "wss://"))
    kind = transport or ("http" if is_url else "stdio")
    entry: dict[str, object] = {"type": kind}
    if kind == "stdio":
        entry |= {"command": target, "args": list(arguments)}
        if header:
            raise click.UsageError("--header goes with an address.")
    else:
        if arguments:
            raise click.UsageError(f"{arguments[0]!r}: nothing follows an address.")
        entry["url"] = target
        if header:
            entry["headers"] = _pairs(header, ":", "--header 'KEY: VALUE'")
        oauth = {"clientId": client_id, "callbackPort": callback_port}
        if oauth_values := {key: value for key, value in oauth.items() if value is not None}:
            entry["oauth"] = oauth_values
    if env:
        entry["env"] = _pairs(env, "=", "--env KEY=VALUE")
    _add(scope, name, entry, as_json, has_secret=has_secret)


@command.command("add-json")
@_scope
@client_secret.option
@_json
@click.argument("name")
@click.argument("text", metavar="JSON")
def add_json(scope: WritableScope, has_secret: bool, as_json: bool, name: str, text: str) -> None:
    """Add a server by the text of its entry."""
    try:
        entry = json.loads(text)
    except ValueError as error:
        raise click.UsageError(f"JSON: {error}") from error
    if not isinstance(entry, dict):
        raise click.UsageError('JSON: expected an object such as {"command": "…"}')
    _add(scope, name, entry, as_json, has_secret=has_secret)


@command.command("remove")
@click.option(
    "-s", "--scope", type=click.Choice(SCOPES), default=None,
    help="Scope; by default the one that defines this name.",
)  # fmt: skip
@_json
@click.argument("name")
def remove(scope: WritableScope | None, as_json: bool, name: str) -> None:
    """Remove a server from the file of a scope."""
    settings = settings_here(current_directories())
    names = [(s.name, s.file) for s in settings.mcp_servers]
    names += [(bad.name, bad.file) for bad in settings.bad_mcp_servers]
    defining_scopes = [one for one in SCOPES if (name, file_of(settings, one)) in names]
    if scope is None and len(defining_scopes) > 1:
        raise click.UsageError(
            f"{name} is in {' and '.join(defining_scopes)}: name one with --scope."
        )
    target_scope = scope or next(iter(defining_scopes), None)
    if target_scope is None or not _run_change(lambda: remove_server(settings, target_scope, name)):
        raise _no_server(name, sorted({each for each, _ in names}))
    file = file_of(settings, target_scope)
    if as_json:
        click.echo(json.dumps({"name": name, "scope": target_scope, "file": str(file)}))
    else:
        click.echo(reveal(f"{name} is removed from {file} (scope {target_scope})"))


@command.command("reset-project-choices")
@_json
def reset_project_choices(as_json: bool) -> None:
    """Clear your approvals and rejections of this project's servers."""
    settings = settings_here(current_directories())
    _run_change(lambda: ConsentStore(settings.agent_home).forget(settings.project_root))
    if as_json:
        click.echo(json.dumps({"project": str(settings.project_root)}))
    else:
        click.echo(reveal(f"you will be asked about the servers of {settings.project_root} again"))


@command.command("serve")
def serve() -> None:
    """Offer Read, Glob and Grep to another program, over standard streams.

    They read what the settings of this directory allow; the user is not asked.
    """
    from agent.headless.served_tools import ServedTools  # as below
    from agent.mcp.protocol.serving import serve_tools  # the SDK takes half a second to load

    settings = settings_here(current_directories())
    env = child_environment(os.environ, settings.env)
    with tempfile.TemporaryDirectory() as scratch:
        tools = ServedTools(settings, env, Path(scratch))
        asyncio.run(serve_tools(tools.tools, tools.call, version()))


def _load_servers() -> tuple[Settings, ConfiguredServers]:
    settings = settings_here(current_directories())
    return settings, configured_servers(settings, ServerSources(env=os.environ))


def _add(
    scope: WritableScope,
    name: str,
    entry: Mapping[str, object],
    as_json: bool,
    *,
    has_secret: bool,
) -> None:
    settings = settings_here(current_directories())
    secret = read_secret(entry) if has_secret else None
    _run_change(lambda: add_server(settings, scope, name, entry))
    if secret is not None:
        _run_change(lambda: store_secret(settings, entry, secret))
    file = file_of(settings, scope)
    if as_json:
        click.echo(json.dumps({"name": name, "scope": scope, "file": str(file)}))
    else:
        click.echo(reveal(f"{name} is added to {file} (scope {scope})"))
        new_server = _load_servers()[1].get(name)
        if new_server is not None and new_server.standing == "needs_trust":
            click.echo("It starts once you trust this directory, which agent-tui asks about.")


def _run_change(change: Callable[[], _T]) -> _T:
    try:
        return change()
    except ConfigError as error:
        raise click.ClickException(str(error)) from error
    except OSError as error:
        raise click.ClickException(f"{error.filename}: {error.strerror or error}") from error


def _server(servers: ConfiguredServers, name: str) -> ConfiguredServer:
    server = servers.get(name)
    if server is None:
        raise _no_server(name, [one.definition.name for one in servers.servers])
    return server


def _no_server(name: str, known_names: Sequence[str]) -> click.ClickException:
    close_matches = difflib.get_close_matches(name, known_names, n=1)
    hint = f" Did you mean {close_matches[0]!r}?" if close_matches else ""
    return click.ClickException(f"There is no MCP server {name!r} here.{hint}")


def _pairs(texts: Sequence[str], separator: str, form: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for text in texts:
        key, matched_separator, value = text.partition(separator)
        if not matched_separator or not key.strip():
            raise click.UsageError(f"{text!r}: expected {form}")
        pairs[key.strip()] = value.strip() if separator == ":" else value
    return pairs


def _print_problems(settings: Settings, servers: ConfiguredServers) -> None:
    problems = [str(bad.warning()) for bad in servers.bad]
    # Warnings about unreadable files, and about entries that are used.
    problems += [str(one) for one in settings.warnings if _is_about_servers(one)]
    problems += [str(warning) for warning in servers.warnings]
    for text in dict.fromkeys(problems):
        click.echo(reveal(f"! {text}"), err=True)


def _is_about_servers(warning: SettingsWarning) -> bool:
    is_file = warning.file is not None and warning.file.name == ".mcp.json"
    return is_file or warning.key.startswith("mcpServers")
