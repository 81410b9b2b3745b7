"""Ends the hooks and commands that this program leaves running when it is killed.

A short shell script waits at the other end of a pipe, from which it reads what runs. When the pipe
closes, for whatever reason, it ends what still runs, removes the placeholder directories, and
exits.
"""

from __future__ import annotations

import contextlib
import os
from typing import ClassVar, Final

# Processes are found by process group, and by mark where the system shows their environment, which
# a program may hide.
_SCRIPT: Final = """
live=' ' directories=
while read -r what rest; do
  mark=${rest%% *}
  case $what in
    d) directories=$rest ;;
    +) live="$live$mark:${rest##* } " ;;
    -) live="${live%% $mark:*} ${live#* $mark:* }" ;;
  esac
done
members() {
  for each in $live; do
    if [ -r /proc/self/environ ]; then
      grep -lsF "${each%:*}" /proc/[0-9]*/environ | tr -dc '0-9\\n'
    fi
    if [ "${each#*:}" != 0 ] && kill -s 0 -- "-${each#*:}" 2>/dev/null; then
      echo "-${each#*:}"
    fi
  done
}
for signal in TERM KILL; do
  found=$(members)
  [ "$found" ] || break
  kill -s $signal -- $found 2>/dev/null
  [ $signal = KILL ] || sleep 1
done
if [ -f "$directories" ]; then
  while IFS= read -r path; do rmdir -- "$path"; done <"$directories"
  rm -f -- "$directories"
fi
"""


class _State:
    """The guardian of this process, and the processes that it must end."""

    pipe: ClassVar[int | None] = None
    pid: ClassVar[int] = 0
    watched_pids: ClassVar[dict[str, int]] = {}
    """Process ids by mark; 0 while not known."""
    directories: ClassVar[str] = ""
    """The file that lists the directories to remove."""


def watch(mark: str) -> None:
    """Register a program that is about to start with this mark, to be ended if this one is killed.

    A mark is `NAME=value` without spaces, as in the environment of the processes to find. Raises
    nothing.
    """
    _State.watched_pids[mark] = 0
    _send(f"+ {mark} 0\n")


def register_pid(mark: str, pid: int) -> None:
    """Add the process id of a mark, for systems where marks cannot be seen. Raises nothing."""
    _State.watched_pids[mark] = pid
    _send(f"- {mark}\n+ {mark} {pid}\n")


def forget(mark: str) -> None:
    """Remove a mark whose processes have ended or may continue. Raises nothing."""
    if _State.watched_pids.pop(mark, None) is not None:
        _send(f"- {mark}\n")


def remove_listed(file: str) -> None:
    """Set the file that lists, one per line, the empty directories to remove if this process is
    killed; the file itself is removed, too. Raises nothing."""
    if _State.directories != file:
        _State.directories = file
        _send(f"d {file}\n")


def _send(lines: str) -> None:
    """Write to the guardian; if there is none, start one and send everything."""
    # Errors are ignored: without a guardian, only a kill leaves processes behind.
    with contextlib.suppress(OSError, NotImplementedError):
        if _State.pipe is not None:
            try:
                os.write(_State.pipe, lines.encode())
            except BrokenPipeError:
                _reap_guardian()
            else:
                return
        if _State.watched_pids:
            _State.pid, _State.pipe = _start()
            process_lines = [f"+ {mark} {pid}\n" for mark, pid in _State.watched_pids.items()]
            directory_lines = [f"d {_State.directories}\n"] if _State.directories else []
            os.write(_State.pipe, "".join((*process_lines, *directory_lines)).encode())


def _reap_guardian() -> None:
    assert _State.pipe is not None
    os.close(_State.pipe)
    _State.pipe = None
    with contextlib.suppress(ChildProcessError):
        os.waitpid(_State.pid, os.WNOHANG)


def _start() -> tuple[int, int]:
    """Start the shell and return its process id and the pipe to it. Raises OSError."""
    reading, writing = os.pipe()
    try:
        nowhere = os.devnull, os.O_WRONLY, 0
        pid = os.posix_spawn(
            "/bin/sh",
            ["sh", "-c", _SCRIPT],
            {"PATH": os.defpath},
            file_actions=(
                (os.POSIX_SPAWN_DUP2, reading, 0),
                (os.POSIX_SPAWN_OPEN, 1, *nowhere),
                (os.POSIX_SPAWN_OPEN, 2, *nowhere),
            ),
            # In another session, so that it does not receive the terminal's signals.
            setsid=True,
        )
    except BaseException:
        os.close(writing)
        raise
    finally:
        os.close(reading)
    os.set_blocking(writing, False)
    return pid, writing
