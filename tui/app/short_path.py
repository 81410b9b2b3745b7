"""Folders as users write them: from home, and short where there is little room."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Final

from tui.text.safe_text import shown_path

FOLDER_CELLS: Final = 30


@lru_cache(maxsize=16)
def from_home(path: Path, home: Path) -> str:
    """Return a path that begins with `~` where it is inside of home; all of it is seen."""
    try:
        inside = path.relative_to(home)
    except ValueError:
        return shown_path(str(path))
    return "~" if not inside.parts else f"~/{shown_path(str(inside))}"


def short_folder(path: Path, home: Path) -> str:
    """Return a path for the status line: of a long one the last folder."""
    text = from_home(path, home)
    if len(text) <= FOLDER_CELLS:
        return text
    return "…/" + text.rsplit("/", 1)[-1]
