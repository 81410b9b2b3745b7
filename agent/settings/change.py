"""Change one value of a settings file; everything else in it, and the order, is preserved.

The file is read again under a lock, checked against the schema, and written atomically.
"""

from __future__ import annotations

import json
from pathlib import Path

from agent.errors import ConfigError
from agent.settings.json_positions import parse
from agent.settings.schema import SettingsFile, check
from permissions.base.files.plain_file import read_plain
from permissions.base.files.private_file import exclusive, write_private


def set_value(file: Path, key: str, value: object) -> None:
    """Set a top-level key; None removes it. The file is created if it is missing.

    Raises:
        ConfigError: the key or the value is not known, or the file is not a JSON object.
        OSError: the file cannot be written.
    """
    check_key(key)
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
        write_private(file, _text(data).encode())


def set_switch(file: Path, section: str, key: str, is_on: bool) -> None:
    """Set a switch inside a section; keep the rest of it. Raises what `set_value` raises."""
    with exclusive(file):
        data = _object(file)
        previous = data.get(section)
        data[section] = {**previous, key: is_on} if isinstance(previous, dict) else {key: is_on}
        write_private(file, _text(data).encode())


def set_entry(file: Path, section: str, name: str, value: object, *, is_shared: bool) -> bool:
    """Set one entry of a table such as `mcpServers`; None removes it. Other entries are kept.

    Returns whether there was an entry of this name. A file that is shared through a repository is
    readable by others. Raises what `set_value` raises.
    """
    with exclusive(file):
        data = _object(file)
        table = data.get(section)
        if table is not None and not isinstance(table, dict):
            raise ConfigError(f"{file}: {section}: expected an object; correct it first.")
        entries = dict(table or {})
        was_present = name in entries
        if value is not None:
            entries[name] = value
        elif was_present:
            del entries[name]
        if value is not None or was_present:
            data[section] = entries
            write_private(file, _text(data).encode())
            if is_shared:
                file.chmod(0o644)
    return was_present


def check_key(key: str) -> None:
    """Raise ConfigError, with a suggestion, if there is no setting of this name."""
    if key not in SettingsFile.__struct_fields__:
        raise ConfigError(f"Unknown setting {key!r}.{_suggestion(key)}")


def _text(data: dict[str, object]) -> str:
    try:
        return json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    except ValueError as error:
        raise ConfigError("A number is too large for JSON.") from error


def _suggestion(key: str) -> str:
    import difflib  # only needed for typing errors

    matches = difflib.get_close_matches(key, SettingsFile.__struct_fields__, n=1)
    return f" Did you mean {matches[0]!r}?" if matches else ""


def parse_value(text: str) -> object:
    """Return the JSON value that a user typed, or the text itself if it is not JSON."""
    document = parse(text)
    return text if document.root is None or document.error is not None else document.root.value


def _object(file: Path) -> dict[str, object]:
    try:
        text = read_plain(file).decode("utf-8")
    except FileNotFoundError:
        return {}
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file} is not UTF-8 text; correct it first.") from error
    if not text.strip():
        return {}
    # Read as at the start: lists of a repeated key are joined, so that none is lost here.
    document = parse(text)
    if document.error is not None:
        why = f"line {document.error.line}: {document.error.message}"
        raise ConfigError(f"{file} is not valid JSON ({why}); correct it first.")
    if document.root is None or not isinstance(document.root.value, dict):
        raise ConfigError(f"{file} does not contain a JSON object; correct it first.")
    return dict(document.root.value)
