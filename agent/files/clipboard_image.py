"""The image on the clipboard, read by the first usable program."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from typing import Final

from permissions.base.process.run_program import RunLimits, run_program
from permissions.base.process.spawn import CannotStart, Launch

MAX_BYTES: Final = 20_000_000
TIMEOUT_S: Final = 3.0
_PROGRAMS: Final = (
    ("WAYLAND_DISPLAY", ("wl-paste", "--no-newline", "--type", "image/png")),
    ("DISPLAY", ("xclip", "-selection", "clipboard", "-target", "image/png", "-out")),
    ("", ("pngpaste", "-")),
)
"""The variable that is set where a program can work, and the program with its arguments."""
_PNG: Final = b"\x89PNG\r\n\x1a\n"


async def read_clipboard_image(env: Mapping[str, str]) -> bytes | None:
    """Return a PNG, or None without an image, a program, or a result within `TIMEOUT_S`."""
    for variable, command in _PROGRAMS:
        program = shutil.which(command[0], path=env.get("PATH"))
        if program is None or (variable and not env.get(variable)):
            continue
        data = await _output([program, *command[1:]], env)
        if data.startswith(_PNG):
            return data
    return None


async def _output(command: list[str], env: Mapping[str, str]) -> bytes:
    limits = RunLimits(TIMEOUT_S, stdout_bytes=MAX_BYTES, stderr_bytes=0, stops_at_limit=True)
    try:
        result = await run_program(Launch(tuple(command), env), limits)
    except CannotStart:
        return b""
    return b"" if result.timed_out or result.was_stopped else result.stdout
