"""Edit a text in the person's own editor: a private file, argv, no shell."""

from __future__ import annotations

import shlex
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path


class EditorFailed(Exception):
    """The editor could not be started or ended with an error; the text is as it was."""


def editor_command(env: Mapping[str, str]) -> list[str] | None:
    """Return the editor of `VISUAL` or `EDITOR` as argv, or None when neither names one."""
    for name in ("VISUAL", "EDITOR"):
        try:
            command = shlex.split(env.get(name, ""))
        except ValueError:
            continue
        if command:
            return command
    return None


def edit_file(command: list[str], file: Path) -> None:
    """Run the editor on a file of the person's; its folder is made where it is missing.

    Raises:
        EditorFailed: it could not run; says why.
    """
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        done = subprocess.run([*command, str(file)], check=False)
    except OSError as error:
        raise EditorFailed(f"{command[0]}: {error.strerror}") from error
    if done.returncode != 0:
        raise EditorFailed(f"{command[0]} ended with status {done.returncode}")


def edit_text(command: list[str], text: str, name: str) -> str:
    """Run the editor on the text, in a file of this name, and return what was saved.

    Raises:
        EditorFailed: it could not run; says why.
    """
    try:
        with tempfile.TemporaryDirectory(prefix="agent-tui-") as folder:
            file = Path(folder) / (Path(name).name or "text")
            file.touch(mode=0o600)
            file.write_text(text, "utf-8", "surrogateescape")
            done = subprocess.run([*command, str(file)], check=False)
            if done.returncode != 0:
                raise EditorFailed(f"{command[0]} ended with status {done.returncode}")
            return file.read_text("utf-8", "replace")
    except UnicodeEncodeError as error:
        raise EditorFailed("the text has halves of characters, which no file takes") from error
    except OSError as error:
        raise EditorFailed(f"{command[0]}: {error.strerror}") from error
