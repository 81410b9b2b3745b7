"""Empty directories in place of protected names that do not exist.

A name can only be blocked by a mount, and a mount needs a mount point. Each placeholder is recorded
before it is created and removed after the last command that needs it; several processes may work in
one project. If the program is killed, its guardian or the next start removes them.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from permissions.base.files.private_file import exclusive, write_private
from permissions.base.process.guardian import remove_listed

_NUMBERS: Final = itertools.count()


class Placeholders:
    """The placeholders of one conversation; safe to use from several threads."""

    def __init__(self, directory: Path) -> None:
        """`directory` holds the record; it is created when needed."""
        self._directory = directory
        self._record = directory / f"placeholders-{os.getpid()}-{next(_NUMBERS)}.txt"
        self._users: dict[str, int] = {}
        self._inodes: dict[str, tuple[int, int]] = {}
        self._lock = threading.Lock()

    def acquire(self, paths: Iterable[str], present: Iterable[str] = ()) -> tuple[str, ...]:
        """Create the directories that do not exist; return the paths to give to `release`.

        Args:
            present: Directories that existed when the policy was made. One that is or was a
                placeholder of another command would be removed with it.

        Raises:
            OSError: a directory cannot be created; none is kept then.
        """
        with self._lock, exclusive(self._directory / "placeholders"):
            others = self._of_others()
            shared_paths = [
                path
                for path in present
                if path in self._users or path in others or not os.path.lexists(path)
            ]
            all_paths = tuple(dict.fromkeys((*paths, *shared_paths)))
            missing = [path for path in all_paths if path not in self._users]
            self._write_record([*self._inodes, *missing])
            done_paths: list[str] = []
            try:
                for path in all_paths:
                    self._acquire(path, others)
                    done_paths.append(path)
            except OSError:
                self._release(done_paths, others)
                raise
            if not self._inodes.keys() >= set(missing):
                self._write_record(list(self._inodes))
        return all_paths

    def release(self, paths: Iterable[str]) -> None:
        """Remove the placeholders that no other command needs. Raises nothing."""
        with self._lock, contextlib.ExitStack() as stack:
            with contextlib.suppress(OSError):
                stack.enter_context(exclusive(self._directory / "placeholders"))
            self._release(paths, self._of_others())

    def _of_others(self) -> frozenset[str]:
        """Return the placeholders in use by other processes and by other conversations of this
        one."""
        paths: set[str] = set()
        for record in self._directory.glob("placeholders-*.txt"):
            if record != self._record and _is_in_use(record):
                with contextlib.suppress(OSError):
                    paths.update(os.fsdecode(record.read_bytes()).splitlines())
        return frozenset(paths)

    def _acquire(self, path: str, others: frozenset[str]) -> None:
        if path in self._users:
            self._users[path] += 1
            return
        try:
            os.mkdir(path, 0o755)
        except FileExistsError:
            if path not in others:
                # Created by the user in the meantime, so it is never removed here.
                self._users[path] = 1
                return
        status = os.lstat(path)
        self._users[path], self._inodes[path] = 1, (status.st_dev, status.st_ino)

    def _release(self, paths: Iterable[str], others: frozenset[str]) -> None:
        for path in paths:
            self._users[path] -= 1
            if self._users[path]:
                continue
            del self._users[path]
            inode = self._inodes.pop(path, None)
            if inode is not None and path not in others:
                _remove_empty(path, inode)
        with contextlib.suppress(OSError):
            self._write_record(list(self._inodes))

    def _write_record(self, paths: list[str]) -> None:
        if not paths:
            self._record.unlink(missing_ok=True)
            return
        # A path with a line break would be read back as two paths.
        lines = "".join(f"{path}\n" for path in paths if "\n" not in path)
        write_private(self._record, os.fsencode(lines), sync=False)
        remove_listed(str(self._record))


def sweep(directory: Path) -> None:
    """Remove the placeholders of processes that no longer run. Raises nothing."""
    for record in directory.glob("placeholders-*.txt"):
        if _is_in_use(record):
            continue
        with contextlib.suppress(OSError):
            for path in os.fsdecode(record.read_bytes()).split("\n"):
                _remove_empty(path, None)
        with contextlib.suppress(OSError):
            record.unlink()


def _remove_empty(path: str, inode: tuple[int, int] | None) -> None:
    with contextlib.suppress(OSError):
        status = os.lstat(path)
        if inode not in (None, (status.st_dev, status.st_ino)):
            return
        os.rmdir(path)


def _is_in_use(record: Path) -> bool:
    pid = record.stem.split("-")[1]
    return pid.isdigit() and _is_running(int(pid))


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
