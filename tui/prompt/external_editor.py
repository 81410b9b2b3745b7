"""Edits a text in the user's editor, in a private file and without a shell."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from permissions.base.process.run_program import run_in_foreground


class EditorFailed(Exception):
    """The editor could not be started or ended with an error; the text is unchanged."""


def editor_command(env: Mapping[str, str]) -> list[str] | None:
    """Return the editor of `VISUAL` or `EDITOR` as argv, or else a common one, or None.

    Paths relative to the current directory are not accepted.
    """
    for name in ("VISUAL", "EDITOR"):
        text = env.get(name, "")
        if " " in text and os.path.isabs(text) and os.access(text, os.X_OK):
            # An unquoted path with spaces.
            return [text]
        try:
            command = shlex.split(text)
        except ValueError:
            continue
        if command and (os.path.isabs(command[0]) or os.sep not in command[0]):
            return command
    for name in _USUAL:
        program = shutil.which(name, path=env.get("PATH", os.defpath))
        if program is not None:
            return [program]
    return None


_USUAL: Final = ("editor", "nano", "vim", "vi")
"""`editor` is the system's default on Debian and its derivatives."""


def edit_file(command: list[str], file: Path, env: Mapping[str, str]) -> None:
    """Run the editor on a file; a missing directory is created.

    Raises:
        EditorFailed: it could not be started or failed; the text gives the reason.
    """
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        status = run_in_foreground([*command, str(file)], env)
    except OSError as error:
        raise EditorFailed(f"{command[0]}: {error.strerror}") from error
    if status != 0:
        raise EditorFailed(f"{command[0]} {_status_text(status)}; nothing was changed")


def edit_text(command: list[str], text: str, name: str, env: Mapping[str, str]) -> str:
    """Run the editor on the text, in a file with this name, and return the saved text.

    Raises:
        EditorFailed: it could not be started or failed; the text gives the reason.
    """
    try:
        with tempfile.TemporaryDirectory(prefix="agent-tui-") as directory:
            file = Path(directory) / (Path(name).name or "text")
            file.touch(mode=0o600)
            file.write_text(text, "utf-8", "surrogateescape")
            edit_file(command, file, env)
            return file.read_text("utf-8", "replace")
    except UnicodeEncodeError as error:
        raise EditorFailed(
            "the text has incomplete characters and cannot be written to a file"
        ) from error
    except OSError as error:
        raise EditorFailed(f"{command[0]}: {error.strerror}") from error


def _status_text(status: int) -> str:
    if status < 0:
        return f"was ended by {signal.Signals(-status).name}"
    return f"ended with status {status}"
