"""Protected names that appear during a run although no mount could block them.

An empty `.git/commondir`, for example, would break git; so such names are checked after the run,
and files found there are moved away before another program reads them. Another command may still
run and create links in a path, so directories are opened without following links. The command may
have removed the owner's permissions from a directory to hide a file; they are restored.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterable
from pathlib import Path

from agent.sandbox.policy import SandboxPolicy
from permissions.base.files.plain_file import NotRegular, is_lone_file, open_regular
from permissions.base.files.without_links import PASS_FLAGS, open_directory, open_up


def move_planted(
    policy: SandboxPolicy, quarantine: Path, repositories: Iterable[str] = ()
) -> dict[str, str]:
    """Move files that appeared into the quarantine; return each new place. Raises nothing.

    Protected links and files that were changed are restored.

    Args:
        repositories: Canonical paths of `.git` that must not exist either.
    """
    originals: dict[str, str | bytes | None] = dict.fromkeys((*policy.watched_names, *repositories))
    originals |= {**dict(policy.links), **dict(policy.contents)}
    places: dict[str, str | None] = {}
    with contextlib.ExitStack() as stack:
        directories: dict[str, int | None] = {}
        for path, original in originals.items():
            places[path] = _restore(
                path, original, quarantine, _open_parent(path, directories, stack)
            )
        for path in policy.watched_links:
            directory = _open_parent(path, directories, stack)
            if directory is not None and not is_lone_file(os.path.basename(path), directory):
                places[path] = _restore(path, None, quarantine, directory)
        # A link in place of a directory would redirect git to other files.
        for parent in {os.path.dirname(path) for path, _ in policy.contents}:
            if os.path.islink(parent):
                directory = _open_parent(parent, directories, stack)
                places[parent] = _restore(parent, None, quarantine, directory)
    return {path: place for path, place in places.items() if place is not None}


def _open_parent(
    path: str, directories: dict[str, int | None], stack: contextlib.ExitStack
) -> int | None:
    """Return a descriptor of a path's directory; None if it is gone or a component is a link."""
    parent = os.path.dirname(path)
    if parent not in directories:
        try:
            directories[parent] = directory = open_directory(parent, opens_up=True)
            stack.callback(os.close, directory)
            if not os.access(".", os.X_OK, dir_fd=directory, effective_ids=True):
                open_up(directory)
        except OSError:
            directories[parent] = None
    return directories[parent]


def _restore(
    path: str, original: str | bytes | None, quarantine: Path, directory: int | None
) -> str | None:
    """Restore a name; return where the file found there was moved, or None. Raises nothing.

    Args:
        original: The target of a link, or the content of a file, which may have been removed; None
            if nothing may exist there.
        directory: Descriptor of the parent directory; None if it is gone.
    """
    name = os.path.basename(path)
    if directory is None or _is_as_it_was(name, directory, original):
        return None
    place = _move(path, directory, quarantine) if _exists(name, directory) else None
    with contextlib.suppress(OSError):
        if isinstance(original, str):
            os.symlink(original, name, dir_fd=directory)
        elif original is not None:
            _write(name, directory, original)
    return place


def _is_as_it_was(name: str, directory: int, original: str | bytes | None) -> bool:
    if isinstance(original, str):
        return _link_target(name, directory) == original
    if not _exists(name, directory):
        return True
    return original is not None and _content(name, directory) == original


def _content(name: str, directory: int) -> bytes | None:
    try:
        with open_regular(name, dir_fd=directory) as file:
            return file.read()
    except (OSError, NotRegular):
        return None


def _write(name: str, directory: int, content: bytes) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with open(os.open(name, flags, 0o644, dir_fd=directory), "wb") as file:
        file.write(content)


def _exists(name: str, directory: int) -> bool:
    try:
        os.lstat(name, dir_fd=directory)
    except OSError:
        return False
    return True


def _link_target(name: str, directory: int) -> str | None:
    try:
        return os.readlink(name, dir_fd=directory)
    except OSError:
        return None


def _move(path: str, directory: int, quarantine: Path) -> str:
    name, token = os.path.basename(path), secrets.token_hex(4)
    place, new_name = quarantine / f"{token}-{name}", f"moved-{token}-{name}"
    # Never copied: a command could make a copy fail or fill the disk.
    try:
        quarantine.mkdir(mode=0o700, parents=True, exist_ok=True)
        _rename(name, directory, place)
    except OSError:
        try:
            _rename(name, directory, new_name, directory)
        except OSError as error:
            return f"it could not be moved away: {error.strerror}"
        return os.path.join(os.path.dirname(path), new_name)
    return str(place)


def _rename(name: str, directory: int, target: str | Path, target_dir: int | None = None) -> None:
    try:
        os.rename(name, target, src_dir_fd=directory, dst_dir_fd=target_dir)
    except PermissionError:
        open_up(directory)
        # Moving a directory to another parent also writes to the directory itself.
        with contextlib.suppress(NotADirectoryError):
            item = os.open(name, PASS_FLAGS, dir_fd=directory)
            try:
                open_up(item)
            finally:
                os.close(item)
        os.rename(name, target, src_dir_fd=directory, dst_dir_fd=target_dir)
