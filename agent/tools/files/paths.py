"""File paths of tool calls: made absolute as the kernel does, and shown as printable names."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.tools.base import ToolContext, ToolError

if TYPE_CHECKING:
    from agent.tools.services import ToolServices

PermissionInput = Callable[[Any, Mapping[str, object], ToolContext], Mapping[str, object]]


def absolute(path: str, services: ToolServices, directory: Path | None = None) -> Path:
    """Return an absolute path: `~` expanded, relative to `directory` or the shell's current one.

    `..` is kept: removing it before links are followed would name another file.
    """
    if path == "~" or path.startswith("~/"):
        path = str(services.home) + path[1:]
    return (directory or services.cwd) / path


def decided_path(path: Path, context: ToolContext) -> Path:
    """Return the file that a call was decided about; before a decision, where the path leads now.

    It is canonical: opened without following links, it is the file that was decided about. Raises
    ToolError if links change while they are followed.
    """
    try:
        return Path(context.target or os.path.realpath(path))
    except OSError as error:
        raise ToolError(f"{printable(str(path))} is changing while it is being read.") from error


def with_absolute(field: str) -> PermissionInput:
    """Return a `permission_input` that makes the path in one field absolute and keeps the rest."""

    def permission_input(
        _input: object, raw: Mapping[str, object], context: ToolContext
    ) -> Mapping[str, object]:
        value = raw.get(field)
        if not isinstance(value, str):
            return raw
        return {**raw, field: str(absolute(value, context.services))}

    return permission_input


def path_objection(path: str) -> str | None:
    """Return why no file can have this name, or None."""
    if not path.strip():
        return "The path is empty."
    if "\0" in path:
        return "The path contains a NUL character, which no file name can."
    return None


def display_path(path: str | Path, root: Path) -> str:
    """Return the path for users and the model: relative inside `root`, always printable."""
    candidate = Path(path)
    if candidate.is_absolute() and candidate.is_relative_to(root):
        candidate = candidate.relative_to(root)
    return printable(str(candidate))


def printable(name: str) -> str:
    """Return a file name as one line of valid text; bytes that are not UTF-8 show as `\\xff`."""
    text = os.fsencode(name).decode("utf-8", "backslashreplace")
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
