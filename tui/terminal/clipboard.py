"""Copies to the clipboard in addition to OSC 52, which many terminals ignore.

Terminals do not confirm OSC 52, so a clipboard program is run, too, if one is available and has a
display. tmux and GNU screen intercept the sequence, so they are asked to pass it on.
"""

from __future__ import annotations

import asyncio
import base64
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from permissions.base.process.run_program import RunLimits, run_program
from permissions.base.process.spawn import CannotStart, Launch

TIMEOUT_S: Final = 3.0
TERMINAL_BYTES: Final = 74_994
"""Size that all terminals accept: a sequence of 100,000 characters, with the text as base64."""

_TMUX: Final = ("tmux", "load-buffer", "-w", "-")
_PROGRAMS: Final = (
    ("WAYLAND_DISPLAY", ("wl-copy",)),
    ("DISPLAY", ("xclip", "-selection", "clipboard", "-in")),
    ("DISPLAY", ("xsel", "--clipboard", "--input")),
    ("WSL_DISTRO_NAME", ("clip.exe",)),
    ("", ("pbcopy",)),
)
"""The variable that must be set for a program to work, and the program with its arguments."""

_SCREEN_PIECE: Final = 512
"""GNU screen passes on only strings of less than 768 bytes."""


def for_gnu_screen(text: str) -> str:
    """Return OSC 52 in the form that GNU screen passes on to its terminal."""
    payload = base64.b64encode(text.encode("utf-8", "replace")).decode("ascii")
    sequence = f"\x1b]52;c;{payload}\a"
    pieces = (sequence[i : i + _SCREEN_PIECE] for i in range(0, len(sequence), _SCREEN_PIECE))
    return "".join(f"\x1bP{piece}\x1b\\" for piece in pieces)


async def copy_beside(text: str, env: Mapping[str, str], file: Path | None) -> str:
    """Pass the text to tmux and to a clipboard program; return a notice for the user, or "".

    A text that no program accepted and that is too long for the terminal is stored in `file`,
    readable only by its owner. Never raises.
    """
    data = text.encode("utf-8", "replace")
    was_taken = False
    for command in _commands(env):
        was_taken = await _run_with_input(command, data, env) or was_taken
    if was_taken or len(data) <= TERMINAL_BYTES or file is None:
        return ""
    try:
        await asyncio.to_thread(_write_private, file, data)
    except OSError as error:
        return f"too long for the terminal's clipboard, and not saved: {error.strerror}"
    return f"too long for some terminals' clipboards, so it is in {file} as well"


def _commands(env: Mapping[str, str]) -> list[list[str]]:
    """Return the commands to run: tmux if we run in it, and the first usable clipboard program."""
    path = env.get("PATH")
    if not path:
        return []
    commands: list[list[str]] = []
    if env.get("TMUX") and (program := shutil.which(_TMUX[0], path=path)):
        commands.append([program, *_TMUX[1:]])
    for variable, command in _PROGRAMS:
        # Over SSH a program without a display variable would use the remote machine's clipboard.
        can_work = bool(env.get(variable)) if variable else not env.get("SSH_CONNECTION")
        program = shutil.which(command[0], path=path) if can_work else None
        if program is not None:
            commands.append([program, *command[1:]])
            break
    return commands


async def _run_with_input(command: list[str], data: bytes, env: Mapping[str, str]) -> bool:
    limits = RunLimits(TIMEOUT_S, stdout_bytes=0, stderr_bytes=0, leaves_descendants=True)
    try:
        result = await run_program(Launch(tuple(command), env, stdin=data), limits)
    except CannotStart:
        return False
    return result.exit_code == 0


def _write_private(file: Path, data: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(data)
