"""The search program behind Grep and Glob: ripgrep as a child process, or our slower stand-in."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import sys
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from agent.tools.base import ToolError

TIMEOUT_S: Final = 30.0
MAX_MEMORY_BYTES: Final = 4 * 1024**3
"""What a search may allocate: an ignore file can be a link to a device that never ends."""
MAX_OUTPUT_BYTES: Final = 20 * 1024 * 1024

VCS_FOLDERS: Final = (".git", ".hg", ".svn", ".jj")
_IGNORE_FILES: Final = (".gitignore", ".ignore", ".rgignore", ".git/info/exclude")
_READ_BYTES: Final = 65_536


@cache
def find_rg() -> str | None:
    """Return the rg program of our own installation, else the first in PATH, else None."""
    own = Path(sysconfig.get_path("scripts")) / "rg"
    if os.access(own, os.X_OK):
        return str(own)
    beside = Path(sys.executable).with_name("rg")
    return str(beside) if os.access(beside, os.X_OK) else shutil.which("rg")


def search_command(arguments: Sequence[str]) -> list[str]:
    """Return the argv of a search; the stand-in takes the few options of rg that we use."""
    rg = find_rg()
    if rg is not None:
        return [rg, "--no-config", *arguments]
    # Isolated, or a folder named `agent` in the project would be run instead.
    return [sys.executable, "-I", "-m", "agent.tools.search.search_fallback", *arguments]


def file_selection(globs: Sequence[str] = (), file_type: str | None = None) -> list[str]:
    """Return the options that choose files: hidden ones too, never those of version control."""
    options = ["--hidden", "--no-require-git"]
    for pattern in globs:
        options.append(f"--glob={pattern}")
    # The last match wins, so nothing above brings these back.
    options += [f"--glob=!**/{folder}/**" for folder in VCS_FOLDERS]
    if file_type is not None:
        options.append(f"--type={file_type}")
    return options


class SearchResult:
    """Raw output of a search, and whether it was ended early."""

    __slots__ = ("data", "note")

    def __init__(self, data: bytes, note: str) -> None:
        """`note` is empty when the search ran to its end."""
        self.data = data
        self.note = note


async def search(
    arguments: Sequence[str],
    *,
    folder: Path,
    env: Mapping[str, str],
    enough: Callable[[bytes], bool] = lambda _: False,
) -> SearchResult:
    """Run a search in a folder and return what it printed, however large the tree is.

    `enough` is asked after each piece of output, with that piece, and ends the search when it
    returns true. Cancelling the task ends the program.

    Raises:
        ToolError: the search could not run, for instance because of a malformed pattern.
    """
    kept_env = {name: env[name] for name in ("PATH", "HOME", "LANG", "LC_ALL") if name in env}
    odd = await asyncio.to_thread(_odd_ignore_file, folder)
    unignored = ["--no-ignore"] if odd is not None else []
    told = f"{odd} is no regular file: no ignore file counts" if odd is not None else ""
    try:
        process = await asyncio.create_subprocess_exec(
            *search_command([*unignored, *arguments]),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=folder,
            env=kept_env,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise ToolError(f"The search could not be started: {reason}.") from error
    _bound_memory(process.pid)
    assert process.stdout is not None
    assert process.stderr is not None
    output = bytearray()
    note = ""
    complaints = asyncio.ensure_future(_first_bytes(process.stderr))
    try:
        async with asyncio.timeout(TIMEOUT_S):
            while data := await process.stdout.read(_READ_BYTES):
                output += data
                if enough(data):
                    note = "stopped at the limit"
                    break
                if len(output) > MAX_OUTPUT_BYTES:
                    note = "too much output; narrow the search"
                    break
            else:
                await process.wait()
    except TimeoutError:
        note = f"stopped after {TIMEOUT_S:g} s; narrow the search"
    finally:
        # Not `process.kill`: it may reap the child before asyncio does, which then complains.
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
        # An end of the process is only noticed once both pipes are read to theirs.
        while await process.stdout.read(_READ_BYTES):
            pass
        complaint = await complaints
        await process.wait()
    if not note and process.returncode and not output and complaint.strip():
        raise ToolError(_explain(complaint))
    if not note and process.returncode is not None and process.returncode < 0:
        note = (
            f"the search program ended early (signal {-process.returncode}); not all was searched"
        )
    return SearchResult(bytes(output), note or told)


async def matching_lines(pattern: str, text: str, *, env: Mapping[str, str]) -> str:
    """Return the lines of a text that match; in rg, where no pattern takes exponential time.

    Raises:
        ToolError: the pattern is malformed, or it took too long.
    """
    command = search_command(["--color=never", "--no-line-number", "--", pattern, "-"])
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={name: env[name] for name in ("PATH",) if name in env},
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(TIMEOUT_S):
            output, complaint = await process.communicate(text.encode("utf-8", "replace"))
    except TimeoutError as error:
        raise ToolError(f"The filter took longer than {TIMEOUT_S:g} s.") from error
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.communicate()
    if process.returncode not in (0, 1):
        raise ToolError(_explain(complaint.decode("utf-8", "replace")))
    return output.decode("utf-8", "replace")


async def _first_bytes(stream: asyncio.StreamReader) -> str:
    kept = b""
    while data := await stream.read(_READ_BYTES):
        kept = (kept + data)[:4_000]
    return kept.decode("utf-8", "replace")


def _odd_ignore_file(folder: Path) -> Path | None:
    """Return an ignore file that would be waited for, such as a pipe; None where all are files.

    Looks where most are: in the folder and above it. One further down costs the time limit.
    """
    for parent in (folder, *folder.parents):
        for name in _IGNORE_FILES:
            path = parent / name
            # Not the methods of Path: they raise where a folder may not be entered.
            if os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path)):
                return path
    return None


def _bound_memory(pid: int) -> None:
    import resource  # not on every system, and its call for others only on Linux

    if sys.platform == "linux":
        with contextlib.suppress(OSError, ValueError):
            resource.prlimit(pid, resource.RLIMIT_DATA, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))


def _explain(complaint: str) -> str:
    lines = [line.removeprefix("rg: ") for line in complaint.strip().splitlines()]
    return "The search failed: " + ("\n".join(lines[:12]))
