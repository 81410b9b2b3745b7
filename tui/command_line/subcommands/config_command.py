"""`agent-tui config`: the settings in force, each with the file that sets it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Final

import click

from agent.errors import AgentError
from agent.settings.change import check_key, parse_value, set_value
from agent.settings.load import Settings
from agent.settings.schema import SettingsFile
from agent.typed_json.read_record import as_values
from permissions.base.text.sanitize import reveal
from permissions.mode import Mode, parse_mode
from themes.registry import available_themes, load_theme
from themes.theme import ThemeError
from tui.command_line.subcommands.places import Here, current_directories, settings_here
from tui.command_line.subcommands.whole_texts import WholeTexts
from tui.theme.theme_choice import AUTO

_SHOWN_ELSEWHERE: Final = {
    "permissions": "agent-tui config",
    "hooks": "agent-tui hooks list",
}

_key = click.argument("key", shell_complete=lambda *_: list(SettingsFile.__struct_fields__))
_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group(
    "config",
    cls=WholeTexts,
    invoke_without_command=True,
    short_help="Show the settings in force, or get or set one.",
)
@_json
@click.pass_context
def command(context: click.Context, as_json: bool) -> None:
    """Show the settings in force here and where each comes from."""
    if context.invoked_subcommand is None:
        _show(as_json)


@command.command("list")
@_json
def list_settings(as_json: bool) -> None:
    """Show the settings in force here, like `config` alone."""
    _show(as_json)


def _show(as_json: bool) -> None:
    settings = settings_here(current_directories())
    values = as_values(settings.values)
    for key in ("permissions", "hooks"):
        values.pop(key, None)
    if as_json:
        data = _as_json(settings, values)
        click.echo(json.dumps(data, ensure_ascii=False, indent=2, default=str))
        return
    lines = [*_lines_of_values(settings, values), *_lines_of_rules(settings)]
    if not (values or settings.mode or settings.rules or settings.warnings):
        lines.append("no settings; all defaults")
    for line in lines:
        click.echo(reveal(line))


def _as_json(settings: Settings, values: dict[str, object]) -> dict[str, object]:
    return {
        "values": values,
        "mode": settings.mode.text if settings.mode is not None else None,
        "origins": {key: str(o.source) for key, o in settings.effective.origins.items()},
        "rules": [
            {
                "rule": rule.text,
                "behavior": str(rule.behavior),
                "source": str(rule.source),
                "file": rule.file,
                "line": rule.line,
            }
            for rule in settings.rules
        ],
        "trusted": settings.trust.is_trusted,
        "waiting_for_trust": [item.label for item in settings.trust.new],
        "warnings": [str(warning) for warning in settings.warnings],
    }


def _lines_of_values(settings: Settings, values: dict[str, object]) -> Iterator[str]:
    for key, value in values.items():
        origin = settings.effective.origins.get(key)
        where = f"  ({origin.file or origin.source})" if origin is not None else ""
        yield f"{key} = {json.dumps(value, ensure_ascii=False, default=str)}{where}"
    if settings.mode is not None:
        where = f"({settings.mode.origin.file or settings.mode.origin.source})"
        yield f"permissions.defaultMode = {json.dumps(settings.mode.text)}  {where}"


def _lines_of_rules(settings: Settings) -> Iterator[str]:
    for rule in settings.rules:
        place = f"{rule.file}:{rule.line}" if rule.file else str(rule.source)
        yield f"{rule.behavior} {rule.text}  ({place})"
    for item in settings.trust.new:
        yield f"waits for trust: {item.kind} {item.label}  ({item.file})"
    yield from (f"! {warning}" for warning in settings.warnings)
    if settings.mode is not None and parse_mode(settings.mode.text) is None:
        yield f"! permissions.defaultMode: unknown mode, default is used. Known: {', '.join(Mode)}"


@command.command("get")
@_key
@_json
def get_key(key: str, as_json: bool) -> int:
    """Print the value of KEY in force here. Exit status: 1 when it is not set."""
    try:
        check_key(key)
    except AgentError as error:
        raise click.ClickException(str(error)) from error
    if key in _SHOWN_ELSEWHERE:
        raise click.ClickException(
            f"{key} is merged from several files: {_SHOWN_ELSEWHERE[key]} shows it."
        )
    settings = settings_here(current_directories())
    values = as_values(settings.values)
    if settings.env:
        values["env"] = dict(settings.env)
    if settings.mcp_servers:
        # The first of several servers with the same name applies.
        first_last = reversed(settings.mcp_servers)
        values["mcpServers"] = {each.name: dict(each.raw) for each in first_last}
    if key not in values:
        click.echo(f"{key} is not set", err=True)
        return 1
    value = values[key]
    if not isinstance(value, str) or as_json:
        value = json.dumps(value, ensure_ascii=False, default=str)
    click.echo(reveal(value))
    return 0


def _values(context: click.Context, _value: click.Parameter, _incomplete: str) -> list[str]:
    """Return the possible values of the setting, if they can be listed."""
    from agent.settings.describe import choices_of  # for the completion script only

    key = context.params.get("key")
    if key == "theme":
        return [AUTO, *available_themes()]
    choices = choices_of(key) if key in SettingsFile.__struct_fields__ else None
    return [
        json.dumps(choice) if isinstance(choice, bool) else str(choice)
        for choice in choices or ()
        if choice is not None
    ]


@command.command("set")
@_key
@click.argument("value", required=False, shell_complete=_values)
@_json
def set_key(key: str, value: str | None, as_json: bool) -> None:
    """Set KEY to VALUE in your user settings, or remove KEY."""
    place = current_directories()
    file = place.agent_home / "settings.json"
    new_value = parse_value(value) if value is not None else None
    try:
        set_value(file, key, new_value)
    except AgentError as error:
        raise click.ClickException(str(error)) from error
    except OSError as error:
        raise click.ClickException(f"{file}: {error.strerror or error}") from error
    if as_json:
        click.echo(
            json.dumps({"key": key, "value": new_value, "file": str(file)}, ensure_ascii=False)
        )
    else:
        click.echo(reveal(f"{key} {'is set' if new_value is not None else 'is removed'} in {file}"))
    if key == "theme" and isinstance(new_value, str) and new_value != AUTO:
        _warn_without_theme(new_value, place)
    origin = settings_here(place).effective.origins.get(key)
    if new_value is not None and origin is not None and str(origin.file) != str(file):
        click.echo(reveal(f"! {origin.file or origin.source} takes precedence here"), err=True)


@command.command("path")
@_json
def path(as_json: bool) -> None:
    """Print the settings files read here; per source, the first that exists applies."""
    files = settings_here(current_directories()).watched_files
    if as_json:
        file_states = [{"file": str(file), "exists": os.path.exists(file)} for file in files]
        click.echo(json.dumps(file_states, ensure_ascii=False))
        return
    for file in files:
        click.echo(reveal(f"{'*' if os.path.exists(file) else ' '} {file}"))


@command.command("schema")
@click.option("--json", "_json", is_flag=True, help="Accepted; the output is always JSON.")
def schema(_json: bool) -> None:
    """Print the JSON schema of settings files, for editors that complete and check."""
    from agent.settings.describe import json_schema  # needed only here

    click.echo(json.dumps(json_schema(), indent=2, ensure_ascii=False))


def _warn_without_theme(name: str, place: Here) -> None:
    """Warn that a theme does not exist; its file may be added later."""
    try:
        load_theme(name, user_dir=place.theme_directories)
    except ThemeError as error:
        click.echo(reveal(f"! {error}"), err=True)
