"""A user's own settings file inside a repository stays out of its commits."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def ignore_in_git(file: Path) -> None:
    """Exclude the personal file from commits by one line in the `.gitignore` beside it.

    A courtesy: where it cannot be done the file is written all the same.
    """
    line = f"{file.name}\n".encode()
    # Not through a link: a repository could point it at any file of the user's.
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with suppress(OSError):
        descriptor = os.open(file.parent / ".gitignore", flags, 0o644)
        with os.fdopen(descriptor, "r+b", buffering=0) as stream:
            present = stream.readall()
            if line not in present.splitlines(keepends=True):
                stream.write(line if not present or present.endswith(b"\n") else b"\n" + line)
