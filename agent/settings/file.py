"""One settings file: read, parsed, validated, with the file and line of each of its values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from agent.errors import ConfigError
from agent.settings.broken_json import recover
from agent.settings.json_positions import JsonNode, JsonValue, parse
from agent.settings.schema import SettingsFile, check, unknown_keys
from agent.settings.sections.sandbox_section import tightening_part
from permissions.base.files.plain_file import read_text
from permissions.rule import RuleSource

UNTIL_REPAIRED: Final = (
    "; allow rules, directories and mode in this file are ignored until it is fixed"
)
"""Added to a syntax error if no earlier, valid version of the file was read."""


class SettingsWarning(Struct, frozen=True):
    """Something in the settings that does not apply, or applies differently than expected."""

    message: str
    """What is wrong and what is expected, for users."""
    file: Path | None = None
    line: int | None = None
    key: str = ""
    level: Literal["error", "warning", "info"] = "warning"
    """`error`: the file itself is broken; `info`: nothing needs to be done."""

    def __str__(self) -> str:
        """Return `file:line: key: message` with what is known."""
        place = f"{self.file}:{self.line}: " if self.file and self.line else ""
        if self.file and not self.line:
            place = f"{self.file}: "
        return f"{place}{self.key}: {self.message}" if self.key else f"{place}{self.message}"


class LoadedFile(Struct, frozen=True):
    """A file after validation; trust is not applied yet."""

    source: RuleSource
    path: Path | None
    """None for settings given as text on the command line."""
    model: SettingsFile
    root: JsonNode
    warnings: tuple[SettingsWarning, ...] = ()
    is_broken: bool = False
    """The text has a syntax error: only restrictions apply (see `parse_settings`)."""

    def line_of(self, *path: str | int) -> int:
        """Return the line of a key, or of the deepest part of its path that exists."""
        return self.root.line_of(*path)


def read_settings(
    path: Path, source: RuleSource
) -> tuple[LoadedFile | None, tuple[SettingsWarning, ...]]:
    """Read one file; None if it is missing or unreadable. Raises nothing."""
    try:
        text = read_text(path)
    except OSError as error:
        reason = error.strerror or str(error)
        return None, (SettingsWarning(f"cannot be read: {reason}", path, level="error"),)
    except UnicodeDecodeError:
        return None, (SettingsWarning("is not UTF-8 text", path, level="error"),)
    if text is None:
        return None, ()
    settings_file = parse_settings(text, source, path)
    return settings_file, settings_file.warnings


def parse_settings(text: str, source: RuleSource, path: Path | None) -> LoadedFile:
    """Parse and validate one settings text. Raises nothing.

    After a syntax error, what can still be read applies (`agent.settings.broken_json`), except what
    widens access: the part that could not be read may contain rules that limit it.
    """
    if not text.strip():
        return LoadedFile(source, path, SettingsFile(), JsonNode({}, 1))
    document = recover(text, parse(text))
    warnings: list[SettingsWarning] = []
    if document.error is not None:
        warnings.append(
            SettingsWarning(
                f"not valid JSON: {document.error.message}{UNTIL_REPAIRED}",
                path,
                document.error.line,
                level="error",
            )
        )
    warnings.extend(SettingsWarning(note.message, path, note.line) for note in document.notes)
    root = document.root
    if root is None or not isinstance(root.value, dict):
        if document.error is None:
            message = 'expected a JSON object such as {"permissions": {…}}'
            warnings.append(SettingsWarning(message, path, 1, level="error"))
        empty = JsonNode({}, 1)
        return LoadedFile(source, path, SettingsFile(), empty, tuple(warnings), is_broken=True)
    value = _restricting_part(root.value) if document.error else root.value
    model, problems = check(value)
    if document.error is not None:
        model = _without_widening(model)
    for where, message in problems:
        key = ".".join(str(step) for step in where)
        warnings.append(SettingsWarning(message, path, root.line_of(*where), key))
    warnings.extend(_unknown_key_warnings(root, root.value, path))
    warnings.sort(key=lambda warning: (warning.level != "error", warning.line or 0))
    return LoadedFile(source, path, model, root, tuple(warnings), document.error is not None)


def check_owner(path: Path, *, uid: int) -> None:
    """Refuse a managed file that another user could have written.

    Raises:
        ConfigError: it is not owned by root or the user, or is writable by others.
    """
    try:
        status = path.stat()
    except OSError as error:
        raise ConfigError(
            f"The managed settings {path} cannot be read: {error.strerror}."
        ) from error
    if status.st_uid not in (0, uid):
        raise ConfigError(
            f"The managed settings {path} belong to user id {status.st_uid}. "
            "They must belong to root or to you: correct the owner or remove the file."
        )
    if status.st_mode & 0o022:
        raise ConfigError(
            f"The managed settings {path} can be written by others. "
            f"Remove that permission: chmod go-w '{path}'."
        )


def _restricting_part(value: dict[str, JsonValue]) -> dict[str, JsonValue]:
    permissions = value.get("permissions")
    if not isinstance(permissions, dict):
        return value
    widening = {"allow", "additionalDirectories", "defaultMode"}
    remaining = {key: part for key, part in permissions.items() if key not in widening}
    return {**value, "permissions": remaining}


def _without_widening(model: SettingsFile) -> SettingsFile:
    if model.sandbox is None:
        return model
    return replace(model, sandbox=tightening_part(model.sandbox)[0])


def _unknown_key_warnings(
    root: JsonNode, value: Mapping[str, JsonValue], path: Path | None
) -> Iterator[SettingsWarning]:
    for where, guess in unknown_keys(value):
        hint = (
            f'unknown key; did you mean "{guess}"?' if guess else "unknown key, kept but not used"
        )
        level: Literal["warning", "info"] = "warning" if guess else "info"
        yield SettingsWarning(hint, path, root.line_of(*where), ".".join(where), level)
