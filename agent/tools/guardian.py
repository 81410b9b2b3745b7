"""Ends the commands of a program that was killed: nothing else is left that could.

A shell of a few lines waits at the other end of a pipe. It is told which commands run; when the
pipe closes, whatever the reason, it ends those that still do, and then itself.
"""

from __future__ import annotations

import contextlib
import os
from typing import ClassVar, Final

from agent.tools.process_session import MARK

# By their mark where the system shows environments, else by the groups of their shells.
_SCRIPT: Final = f"""
live=' '
while read -r what mark pid; do
  case $what in
    +) live="$live$mark:$pid " ;;
    -) live="${{live%% $mark:*}} ${{live#* $mark:* }}" ;;
  esac
done
members() {{
  for each in $live; do
    if [ -r /proc/self/environ ]; then
      grep -lsF "{MARK}=${{each%:*}}" /proc/[0-9]*/environ | tr -dc '0-9\\n'
    elif [ "${{each#*:}}" != 0 ]; then
      echo "-${{each#*:}}"
    fi
  done
}}
for signal in TERM KILL; do
  found=$(members)
  [ "$found" ] || exit 0
  kill -s $signal -- $found 2>/dev/null
  [ $signal = KILL ] || sleep 1
done
"""


class _State:
    """The guardian of this process."""

    pipe: ClassVar[int | None] = None


def watch(mark: str) -> None:
    """Have the command of this mark, which is about to start, ended should this process be killed.

    Raises nothing.
    """
    with contextlib.suppress(OSError, NotImplementedError):
        if _State.pipe is None:
            _State.pipe = _start()
        _tell(f"+ {mark} 0\n")


def started(mark: str, pid: int) -> None:
    """Say which process it became, for systems where marks cannot be seen. Raises nothing."""
    if _State.pipe is not None:
        with contextlib.suppress(OSError):
            _tell(f"- {mark}\n+ {mark} {pid}\n")


def forget(mark: str) -> None:
    """Say that a command has ended, or that what is left of it may stay. Raises nothing."""
    if _State.pipe is not None:
        with contextlib.suppress(OSError):
            _tell(f"- {mark}\n")


def _tell(line: str) -> None:
    assert _State.pipe is not None
    try:
        os.write(_State.pipe, line.encode())
    except BrokenPipeError:
        # Somebody ended it: the next command gets another.
        os.close(_State.pipe)
        _State.pipe = None


def _start() -> int:
    """Start the shell and return the pipe to it. Raises OSError."""
    reading, writing = os.pipe()
    try:
        nowhere = os.devnull, os.O_WRONLY, 0
        os.posix_spawn(
            "/bin/sh",
            ["sh", "-c", _SCRIPT],
            {"PATH": os.defpath},
            file_actions=(
                (os.POSIX_SPAWN_DUP2, reading, 0),
                (os.POSIX_SPAWN_OPEN, 1, *nowhere),
                (os.POSIX_SPAWN_OPEN, 2, *nowhere),
            ),
            # Away from the terminal, whose signals are for this process alone.
            setsid=True,
        )
    except BaseException:
        os.close(writing)
        raise
    finally:
        os.close(reading)
    os.set_blocking(writing, False)
    return writing
