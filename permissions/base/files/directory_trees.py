"""Walks and removes directory trees of any depth: a command may create thousands of levels.

Python's own `os.walk` (before 3.12) and `shutil.rmtree` (before 3.13) recurse for each level, and
fail with a RecursionError.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator

from permissions.base.files.without_links import PASS_FLAGS, open_up

_LIST_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def walk(
    root: str | os.PathLike[str], *, follows_links: bool = False
) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield each directory with the names of directories and other files in it, from the top.

    The caller may shorten and sort the list of directories, as for `os.walk`. Unreadable
    directories are skipped. Raises nothing.
    """
    waiting = [os.fspath(root)]
    while waiting:
        where = waiting.pop()
        directories: list[str] = []
        files: list[str] = []
        try:
            with os.scandir(where) as entries:
                for entry in entries:
                    (directories if _is_directory(entry) else files).append(entry.name)
        except OSError:
            continue
        yield where, directories, files
        paths = [os.path.join(where, name) for name in directories]
        inside = [path for path in paths if follows_links or not os.path.islink(path)]
        waiting.extend(reversed(inside))


def remove_tree(path: str | os.PathLike[str]) -> None:
    """Remove a directory and all that is in it; links are not followed.

    Directories that their owner may not access are made accessible. Each is moved to the top level
    and emptied there, so that the depth does not matter.

    Raises:
        OSError: something cannot be removed; the rest is removed anyway.
    """
    top = os.open(path, PASS_FLAGS)
    failures: list[OSError] = []
    try:
        _empty(top, failures)
    finally:
        os.close(top)
    if failures:
        raise failures[0]
    os.rmdir(path)


def _empty(top: int, failures: list[OSError]) -> None:
    waiting = _remove_files(top, failures)
    while waiting:
        name = waiting.pop()
        try:
            directory = os.open(name, PASS_FLAGS, dir_fd=top)
        except OSError as error:
            failures.append(error)
            continue
        try:
            for inside in _remove_files(directory, failures):
                new_name = f".{secrets.token_hex(8)}"
                with contextlib.suppress(FileNotFoundError):
                    os.rename(inside, new_name, src_dir_fd=directory, dst_dir_fd=top)
                    waiting.append(new_name)
            os.rmdir(name, dir_fd=top)
        except OSError as error:
            failures.append(error)
        finally:
            os.close(directory)


def _remove_files(directory: int, failures: list[OSError]) -> list[str]:
    """Remove everything except directories; make those accessible and return their names."""
    directories: list[str] = []
    try:
        open_up(directory)
        listing = os.open(".", _LIST_FLAGS, dir_fd=directory)
    except OSError as error:
        failures.append(error)
        return []
    try:
        with os.scandir(listing) as entries:
            for entry in list(entries):
                try:
                    if entry.is_dir(follow_symlinks=False):
                        _open_up_inside(entry.name, directory)
                        directories.append(entry.name)
                    else:
                        os.unlink(entry.name, dir_fd=directory)
                except FileNotFoundError:
                    continue
                except OSError as error:
                    failures.append(error)
    except OSError as error:
        failures.append(error)
    finally:
        os.close(listing)
    return directories


def _open_up_inside(name: str, directory: int) -> None:
    descriptor = os.open(name, PASS_FLAGS, dir_fd=directory)
    try:
        open_up(descriptor)
    finally:
        os.close(descriptor)


def _is_directory(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False
