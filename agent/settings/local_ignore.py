"""Keeps settings of one person on one machine out of the repository."""

from __future__ import annotations

from pathlib import Path
from typing import Final

NAME: Final = "settings.local.json"


def keep_out_of_git(settings_file: Path) -> bool:
    """Let git ignore a local settings file before it is written for the first time.

    A `.gitignore` beside it does that, and ignores itself: no file of the project changes. Returns
    whether one was written; an existing one is the person's and stays as it is. Raises OSError.
    """
    if settings_file.name != NAME or settings_file.exists():
        return False
    settings_file.parent.mkdir(parents=True, exist_ok=True)
    try:
        with (settings_file.parent / ".gitignore").open("x", encoding="utf-8") as stream:
            stream.write(f"{NAME}\n.gitignore\n")
    except FileExistsError:
        return False
    return True
