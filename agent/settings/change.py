"""One value of a settings file changed: everything else in it, and its order, stays.

Read again under a lock, checked against the schema, written in one step.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from agent.errors import ConfigError
from agent.settings.private_file import exclusive, write_private
from agent.settings.schema import SettingsFile, check
from permissions.plain_file import read_plain


def set_value(file: Path, key: str, value: object) -> None:
    """Set a top-level key; None takes it out. The file is made where there is none.

    Raises:
        ConfigError: the key or the value is none the settings know, or the file is no JSON object.
        OSError: the file cannot be written.
    """
    if key not in SettingsFile.model_fields:
        raise ConfigError(f"There is no setting {key!r}.{_meant(key)}")
    if value is not None:
        _, problems = check({key: value})  # type: ignore[dict-item] # any JSON value may be tried
        if problems:
            raise ConfigError(f"{key}: {problems[0][1]}.")
    with exclusive(file):
        data = _object(file)
        if value is None:
            data.pop(key, None)
        else:
            data[key] = value
        write_private(file, (json.dumps(data, indent=2, ensure_ascii=False) + "\n").encode())


def _meant(key: str) -> str:
    import difflib  # only for what is mistyped

    near = difflib.get_close_matches(key, SettingsFile.model_fields, n=1)
    return f" Did you mean {near[0]!r}?" if near else ""


def parse_value(text: str) -> object:
    """Return what a person typed as JSON, or as the text it is."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _object(file: Path) -> dict[str, Any]:
    try:
        text = read_plain(file).decode("utf-8")
    except FileNotFoundError:
        return {}
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{file} is no valid JSON ({error}); correct it first.") from error
    if not isinstance(data, dict):
        raise ConfigError(f"{file} holds no JSON object; correct it first.")
    return data
