"""Keep a user's own settings file inside a repository out of its commits."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def ignore_in_git(file: Path) -> None:
    """Exclude a personal file from commits by adding a line to the `.gitignore` beside it.

    Errors are ignored, because the settings file is more important.
    """
    line = f"{file.name}\n".encode()
    # Links are not followed: a repository could link to any file of the user.
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with suppress(OSError):
        descriptor = os.open(file.parent / ".gitignore", flags, 0o644)
        with os.fdopen(descriptor, "r+b", buffering=0) as stream:
            present = stream.readall()
            if line not in present.splitlines(keepends=True):
                stream.write(line if not present or present.endswith(b"\n") else b"\n" + line)
