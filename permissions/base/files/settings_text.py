"""The text of a file that a user wrote: read whole, never waited for, never endless.

Imports next to nothing: some of these files are read before the first frame.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from permissions.base.files.plain_file import read_plain

if TYPE_CHECKING:
    from pathlib import Path


def read_text(path: Path | str) -> str | None:
    """Return a file's text, or None when there is no such file.

    Raises:
        OSError: it exists but cannot be read, or is no regular file.
        UnicodeDecodeError: it is not UTF-8.
    """
    try:
        return read_plain(path).decode("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None


def own_values(agent_home: Path | str) -> Mapping[str, Any]:
    """Return what the user's own settings say, as written; {} where nothing can be read.

    For the few values that the first frame needs; the settings as a whole are read behind it.
    """
    import json  # the early prompt does without

    try:
        text = read_text(os.path.join(agent_home, "settings.json"))
        data = json.loads(text) if text is not None else {}
    except (OSError, ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}
