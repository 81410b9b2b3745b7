"""Reads, splits and validates the values of options."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Final

import click

from permissions.base.text.failure_text import error_reason
from tui.version import version

SOURCES: Final = ("user", "project", "local")
TEXT_FILE: Final = click.Path(path_type=Path, exists=True, dir_okay=False)
"""A file whose text is the value."""


def text_of(file: Path, option: str) -> str:
    """Return the text of a file that an option names. Raises click.UsageError."""
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise click.UsageError(f"{option} {file}: {reason}") from error


def show_version(context: click.Context, _parameter: click.Parameter, is_requested: bool) -> None:
    """Print the version and exit."""
    if is_requested and not context.resilient_parsing:
        click.echo(f"{version()} (agent-tui)")
        context.exit()


def rules_of(
    _context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]
) -> tuple[str, ...]:
    """Split rule lists at commas and spaces, except within parentheses."""
    return tuple(rule for value in values for rule in split_rules(value))


def split_rules(text: str) -> list[str]:
    """Return the rules of one flag value: `"Bash(git *),Edit"` is two, `Bash(a, b)` is one."""
    rules: list[str] = []
    depth = 0
    current = ""
    for character in text:
        depth += (character == "(") - (character == ")" and depth > 0)
        if depth == 0 and character in ", ":
            if current:
                rules.append(current)
            current = ""
        else:
            current += character
    return [*rules, current] if current else rules


def refuse_empty(
    _context: click.Context, _parameter: click.Parameter, value: str | None
) -> str | None:
    """Reject an empty value, as from an unset variable of a script."""
    if value is not None and not value.strip():
        raise click.BadParameter("the value is empty")
    return value


def read_pipe(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """Replace the name of a pipe by its content, which can be read only once."""
    from permissions.base.files.named_pipe import PipeError, text_of_pipe  # few starts name a file

    value = refuse_empty(context, parameter, value)
    try:
        text = text_of_pipe(value) if value is not None else None
    except PipeError as error:
        raise click.BadParameter(f"{value} {error}") from error
    if text is not None and not text.lstrip().startswith("{"):
        raise click.BadParameter(f"{value} does not begin with {{, as JSON settings do")
    return value if text is None else text


def read_agents(
    context: click.Context, parameter: click.Parameter, value: str | None
) -> dict[str, object]:
    """Read agent definitions, given as text or as a file."""
    value = read_pipe(context, parameter, value)
    if value is None:
        return {}
    import json  # few starts name agents

    text = value
    if not value.lstrip().startswith("{"):
        try:
            text = Path(value).read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise click.BadParameter(f"{value}: {error_reason(error, names_file=False)}") from error
    try:
        entries = json.loads(text)
    except ValueError as error:
        raise click.BadParameter(f"not JSON: {error}") from error
    if not isinstance(entries, dict):
        raise click.BadParameter("expected an object of agents")
    return entries


def read_pipes(
    context: click.Context, parameter: click.Parameter, values: tuple[str, ...]
) -> tuple[str, ...]:
    """Replace the names of pipes by their contents."""
    return tuple(filter(None, (read_pipe(context, parameter, value) for value in values)))


def refuse_nan(
    _context: click.Context, _parameter: click.Parameter, value: float | None
) -> float | None:
    """Reject `nan` and infinite amounts."""
    if value is not None and not math.isfinite(value):
        raise click.BadParameter(f"{value} is not a valid amount")
    return value


def split_names(
    _context: click.Context, _parameter: click.Parameter, value: str | None
) -> tuple[str, ...]:
    """Split a list of names at its commas."""
    if value is None:
        return ()
    names = tuple(name.strip() for name in value.split(",") if name.strip())
    if not names:
        raise click.BadParameter("the value is empty")
    return names


def split_tools(
    _context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]
) -> tuple[str, ...] | None:
    """Split a list of tools at commas and spaces."""
    names = tuple(name for value in values for name in value.replace(",", " ").split())
    return names if values else None


def split_sources(
    _context: click.Context, _parameter: click.Parameter, value: str | None
) -> tuple[str, ...] | None:
    """Split a list of sources; an empty list means no source."""
    if value is None:
        return None
    names = tuple(name.strip() for name in value.split(",") if name.strip())
    unknown = next((name for name in names if name not in SOURCES), None)
    if unknown is not None:
        raise click.BadParameter(f"{unknown!r} is not one of {', '.join(SOURCES)}")
    return names


def read_prompt_files(values: dict[str, Any]) -> None:
    """Replace the options that name a system prompt's file by the file's text."""
    for name in ("system_prompt", "append_system_prompt"):
        file = values.pop(f"{name}_file")
        if file is not None:
            option = f"--{name.replace('_', '-')}"
            if values[name] is not None:
                raise click.UsageError(f"Give either {option} or {option}-file.")
            values[name] = text_of(file, f"{option}-file")


def read_schema(values: dict[str, Any]) -> None:
    """Replace a JSON schema's file by its text."""
    schema = values["json_schema"]
    if schema is None:
        return
    if not values["headless"]:
        raise click.UsageError("--json-schema goes with -p")
    if not schema.lstrip().startswith("{"):
        values["json_schema"] = text_of(Path(schema), "--json-schema")


def read_setup(values: dict[str, Any]) -> None:
    """Convert the options about Setup hooks to the run's `setup` and `setup_only`."""
    is_init, is_maintenance = values.pop("init"), values.pop("maintenance")
    if values.pop("init_only"):
        values |= {"headless": True, "setup": "init", "setup_only": True}
    elif is_init or is_maintenance:
        if not values["headless"]:
            raise click.UsageError("--init and --maintenance go with -p; alone: --init-only")
        values["setup"] = "init" if is_init else "maintenance"
