"""Files named on the command line that can be read once only: `--settings <(make-settings)`.

A file that the program finds by itself is never one of these (`permissions.base.files.plain_file`).
"""

from __future__ import annotations

import os
import select
import stat
import time
from typing import Final

from permissions.base.files.plain_file import MAX_BYTES

LONGEST_WAIT_S: Final = 10.0
"""For the writing program; a pipe without a writer must not block the start forever."""
_BLOCK: Final = 1 << 16


class PipeError(ValueError):
    """The content of a pipe cannot be used; the message is the reason."""


def text_of_pipe(name: str | os.PathLike[str], *, wait_s: float = LONGEST_WAIT_S) -> str | None:
    """Return the content of a named pipe, or None where the name is not that of a pipe.

    Raises:
        PipeError: the content did not end in time, is too long, or is not UTF-8.
    """
    try:
        if not stat.S_ISFIFO(os.stat(name).st_mode):
            return None
        descriptor = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return None  # reading it as a file gives the error
    try:
        return _read(descriptor, time.monotonic() + wait_s).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise PipeError("is not UTF-8 text") from error
    except OSError as error:
        raise PipeError(f"cannot be read: {error.strerror}") from error
    finally:
        os.close(descriptor)


def _read(descriptor: int, deadline: float) -> bytes:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    data = bytearray()
    while poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
        piece = os.read(descriptor, _BLOCK)
        data += piece
        if not piece:
            return bytes(data)
        if len(data) > MAX_BYTES:
            raise PipeError(f"contains more than {MAX_BYTES:,} bytes")
    raise PipeError("is a pipe that did not end in time")
