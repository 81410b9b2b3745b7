"""The text of a file that a person wrote: read whole, never waited for, never endless.

Imports next to nothing: some of these files are read before the first frame.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pathlib import Path

MAX_BYTES: Final = 5_000_000
"""A settings file larger than this is not read."""


def read_text(path: Path | str) -> str | None:
    """Return a file's text, or None when there is no such file.

    Raises:
        OSError: it exists but cannot be read, or is no regular file.
        UnicodeDecodeError: it is not UTF-8.
    """
    try:
        # Non-blocking: a named pipe in place of a settings file must not hang the start.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        # Before there is a stream, which a folder would refuse with less to say.
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(f"{path} is not a regular file")
        if status.st_size > MAX_BYTES:
            raise OSError(f"{path} is larger than {MAX_BYTES:,} bytes")
    except OSError:
        os.close(descriptor)
        raise
    with os.fdopen(descriptor, "rb") as stream:
        return stream.read().decode("utf-8")


def own_values(agent_home: Path | str) -> Mapping[str, Any]:
    """Return what the person's own settings say, as written; {} where nothing can be read.

    For the few values that the first frame needs; the settings as a whole are read behind it.
    """
    import json  # the early prompt does without

    try:
        text = read_text(os.path.join(agent_home, "settings.json"))
        data = json.loads(text) if text is not None else {}
    except (OSError, ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}
