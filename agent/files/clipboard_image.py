"""The image on the clipboard, read by the first usable program."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from typing import Final

from permissions.base.process.run_program import RunLimits, run_program
from permissions.base.process.spawn import CannotStart, Launch

MAX_BYTES: Final = 20_000_000
TIMEOUT_S: Final = 3.0
_PROGRAMS: Final = (
    ("WAYLAND_DISPLAY", ("wl-paste", "--no-newline", "--type", "image/png"), "wl-clipboard"),
    ("DISPLAY", ("xclip", "-selection", "clipboard", "-target", "image/png", "-out"), "xclip"),
)
"""The variable that is set where a program works, the program with its arguments, its package."""
_ON_MACOS: Final = ("", ("pngpaste", "-"), "pngpaste")
_PNG: Final = b"\x89PNG\r\n\x1a\n"


class ClipboardUnreachable(Exception):
    """No program can read the clipboard; the text says what is missing."""


async def read_clipboard_image(env: Mapping[str, str]) -> bytes | None:
    """Return a PNG, or None without an image or a result within `TIMEOUT_S`.

    Raises:
        ClipboardUnreachable: no program can read a clipboard here.
    """
    missing: list[str] = []
    was_read = False
    for variable, command, package in (_ON_MACOS, *_PROGRAMS):
        program = shutil.which(command[0], path=env.get("PATH"))
        if not (env.get(variable) if variable else program or sys.platform == "darwin"):
            continue
        if program is None:
            missing.append(f"install {package}, which has the program {command[0]}")
            continue
        was_read = True
        data = await _output([program, *command[1:]], env)
        if data.startswith(_PNG):
            return data
    if was_read:
        return None
    raise ClipboardUnreachable(
        missing[0] if missing else "neither WAYLAND_DISPLAY nor DISPLAY is set in this environment"
    )


async def _output(command: list[str], env: Mapping[str, str]) -> bytes:
    limits = RunLimits(TIMEOUT_S, stdout_bytes=MAX_BYTES, stderr_bytes=0, stops_at_limit=True)
    try:
        result = await run_program(Launch(tuple(command), env), limits)
    except CannotStart:
        return b""
    return b"" if result.timed_out or result.was_stopped else result.stdout
