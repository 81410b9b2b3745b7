"""Replace a file in one step: the old content or the new one, never half of either.

The directory is opened by descriptor, links not followed, so the file written is the file that was
checked, whatever is renamed meanwhile (safety rules, "the file opened is the file checked").
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, Final

from msgspec import Struct

from agent.tools.base import ToolError
from agent.tools.file_state import digest
from agent.tools.files.paths import printable
from permissions.base.files.plain_file import NotRegular, open_canonical, open_regular
from permissions.base.files.without_links import PASS_FLAGS
from permissions.base.text.failure_text import error_reason

MAX_EDIT_BYTES: Final = 20 * 1024 * 1024
"""Largest file that Edit and Write read, compare and replace."""

_DIRECTORY: Final = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NOT_COPIED: Final = frozenset({"security.capability"})
"""File capabilities were granted to the old content; a write must remove them."""
_NO_LINKS: Final = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK})


class CurrentFile(Struct, frozen=True):
    """A regular file as it is on disk now."""

    data: bytes
    mode: int
    uid: int
    gid: int
    links: int = 1
    """Number of hard links; the other links keep the old content after a replacement."""

    @property
    def digest(self) -> str:
        """The content hash."""
        return digest(self.data)


def link_notes(current: CurrentFile | None) -> tuple[str, ...]:
    """Return a note about the other hard links of a file that was replaced; usually empty."""
    others = current.links - 1 if current is not None else 0
    if others < 1:
        return ()
    what = "1 hard link keeps" if others == 1 else f"{others} hard links keep"
    return (f"its {what} the old content",)


def read_current(path: Path) -> CurrentFile | None:
    """Return the file at a canonical path, or None when there is none.

    Raises:
        ToolError: it is not a regular file, too large to edit, or cannot be read.
    """
    try:
        file = open_canonical(path)
    except FileNotFoundError:
        return None
    except NotRegular as error:
        raise ToolError(f"{_name(path)} {error}.") from error
    except OSError as error:
        raise ToolError(f"Cannot read {_name(path)}: {error.strerror}.") from error
    return _read(file, path)


def replace_file(
    target: Path,
    data: bytes,
    *,
    expected_digest: str | None,
    may_write: Callable[[Path], bool],
) -> None:
    """Replace the content of the file at a canonical path, or create it.

    Mode and owner are preserved; missing directories are made. `expected_digest` is the
    content the caller based its change on, None for a file that must not exist yet.

    Raises:
        ToolError: the target may not be written, has changed meanwhile, or cannot be written. The
            file is then unchanged.
    """
    if not may_write(target):
        raise ToolError(f"{_name(target)} is outside the working directories. Nothing was written.")
    try:
        with _open_directory(target.parent) as directory:
            _replace_in(directory, target, data, expected_digest)
    except OSError as error:
        raise ToolError(_explain(error, target)) from error


def remove_file(target: Path) -> None:
    """Remove the file at a canonical path, without following links.

    Raises:
        ToolError: it cannot be removed.
    """
    try:
        with _open_directory(target.parent) as directory:
            os.unlink(target.name, dir_fd=directory)
    except OSError as error:
        raise ToolError(_explain(error, target)) from error


def set_mode(target: Path, mode: int) -> None:
    """Set the mode of the file at a canonical path, without following links.

    Raises:
        ToolError: it cannot be opened, or belongs to another user.
    """
    try:
        with (
            _open_directory(target.parent) as directory,
            open_regular(target.name, dir_fd=directory) as file,
        ):
            os.fchmod(file.fileno(), mode)
    except (OSError, NotRegular) as error:
        raise ToolError(
            f"The rights of {_name(target)} cannot be set: {error_reason(error, names_file=False)}."
        ) from error


def _replace_in(directory: int, target: Path, data: bytes, expected_digest: str | None) -> None:
    current = _read_current(directory, target)
    if (current.digest if current else None) != expected_digest:
        raise ToolError(
            f"{_name(target)} changed on disk just now. Nothing was written.",
            "Read it again and repeat the change.",
        )
    if current is not None and not current.mode & 0o222:
        raise ToolError(
            f"{_name(target)} is read-only (mode {current.mode & 0o7777:04o}). Nothing was written."
        )
    name = os.fsencode(target.name)
    try:
        _replace_file(directory, name, data, current, is_named=False)
    except _UnnamedUnsupported:
        _replace_file(directory, name, data, current, is_named=True)
    # Makes the rename durable; some file systems do not support this for directories.
    with contextlib.suppress(OSError):
        os.fsync(directory)


class _UnnamedUnsupported(Exception):
    """The system or the file system does not support `O_TMPFILE` with a later link."""


def _replace_file(
    directory: int, name: bytes, data: bytes, current: CurrentFile | None, *, is_named: bool
) -> None:
    """Write a temporary file, and move it into place once it is complete.

    Raises:
        _UnnamedUnsupported: a file without a name is not supported here. Nothing was created.
        OSError: it cannot be written.
    """
    # Long names are cut so that the temporary one fits the file system's limit.
    temporary = b"." + name[:200] + b"." + secrets.token_hex(6).encode() + b".tmp"
    # A new file gets its mode from the umask; a replacement is private until it has the old one.
    mode = 0o666 if current is None else 0o600
    descriptor = (_open_named if is_named else _open_unnamed)(directory, temporary, mode)
    try:
        try:
            _write_all(descriptor, data)
            if current is not None:
                _copy_attributes(descriptor, current, name, directory)
            os.fsync(descriptor)
            if not is_named:
                # It gets its name only now: if the program is killed earlier, nothing is left.
                _link_name(descriptor, directory, name if current is None else temporary)
        finally:
            os.close(descriptor)
        if current is not None:
            os.replace(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)
        elif is_named:
            _create(directory, temporary, name)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary, dir_fd=directory)
        raise


def _open_unnamed(directory: int, _name: bytes, mode: int) -> int:
    nameless = getattr(os, "O_TMPFILE", 0)
    if not nameless:
        raise _UnnamedUnsupported
    try:
        return os.open(".", os.O_WRONLY | nameless | os.O_CLOEXEC, mode, dir_fd=directory)
    except OSError as error:
        raise _UnnamedUnsupported from error


def _open_named(directory: int, name: bytes, mode: int) -> int:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.open(name, flags, mode, dir_fd=directory)


def _link_name(descriptor: int, directory: int, name: bytes) -> None:
    try:
        os.link(f"/proc/self/fd/{descriptor}", name, dst_dir_fd=directory)
    except FileExistsError:
        raise
    except OSError as error:
        # No /proc, a file system without links, or a security policy against them.
        raise _UnnamedUnsupported from error


def _create(directory: int, temporary: bytes, name: bytes) -> None:
    # A link fails if a file was created meanwhile; a rename would overwrite that file.
    try:
        os.link(temporary, name, src_dir_fd=directory, dst_dir_fd=directory, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        os.replace(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)
    else:
        os.unlink(temporary, dir_fd=directory)


def _copy_attributes(descriptor: int, current: CurrentFile, name: bytes, directory: int) -> None:
    status = os.fstat(descriptor)
    if (status.st_uid, status.st_gid) != (current.uid, current.gid):
        # Only root may give files away; a shared project still works with the writer as owner.
        with contextlib.suppress(OSError):
            os.fchown(descriptor, current.uid, current.gid)
    os.fchmod(descriptor, stat.S_IMODE(current.mode))
    if hasattr(os, "listxattr"):
        _copy_extended_attributes(descriptor, name, directory)


def _copy_extended_attributes(descriptor: int, name: bytes, directory: int) -> None:
    """Copy access control lists, labels and other attributes, as far as that is permitted."""
    with contextlib.suppress(OSError):
        old = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=directory)
        try:
            for attribute in set(os.listxattr(old)) - _NOT_COPIED:
                with contextlib.suppress(OSError):
                    os.setxattr(descriptor, attribute, os.getxattr(old, attribute))
        finally:
            os.close(old)


def _read_current(directory: int, target: Path) -> CurrentFile | None:
    try:
        file = open_regular(target.name, dir_fd=directory)
    except FileNotFoundError:
        return None
    except NotRegular as error:
        raise ToolError(f"{_name(target)} {error}.") from error
    return _read(file, target)


def _read(file: BinaryIO, path: Path) -> CurrentFile:
    with file:
        status = os.fstat(file.fileno())
        # The reported size may be wrong: a file may grow, and those of /proc report 0.
        data = b"" if status.st_size > MAX_EDIT_BYTES else _bytes(file, path)
        if status.st_size > MAX_EDIT_BYTES or len(data) > MAX_EDIT_BYTES:
            raise ToolError(
                f"{_name(path)} is too large to edit ({max(status.st_size, len(data)):,} bytes, "
                f"at most {MAX_EDIT_BYTES:,}).",
                "Change it with a command instead.",
            )
        return CurrentFile(data, status.st_mode, status.st_uid, status.st_gid, status.st_nlink)


def _bytes(file: BinaryIO, path: Path) -> bytes:
    try:
        return file.read(MAX_EDIT_BYTES + 1)
    except OSError as error:
        raise ToolError(f"Cannot read {_name(path)}: {error.strerror}.") from error


@contextlib.contextmanager
def _open_directory(directory: Path) -> Iterator[int]:
    """Open a canonical directory step by step, refusing links; new ones are removed on failure."""
    new_directories: list[tuple[int, str]] = []
    descriptors: list[int] = []
    try:
        current = os.open("/", PASS_FLAGS)
        descriptors.append(current)
        for part in directory.parts[1:]:
            try:
                step = os.open(part, PASS_FLAGS, dir_fd=current)
            except FileNotFoundError:
                os.mkdir(part, dir_fd=current)
                new_directories.append((current, part))
                step = os.open(part, PASS_FLAGS, dir_fd=current)
            descriptors.append(step)
            current = step
        # fsync needs a readable descriptor; without the right to list the directory it is skipped.
        with contextlib.suppress(PermissionError):
            current = os.open(".", _DIRECTORY | os.O_RDONLY, dir_fd=current)
            descriptors.append(current)
        yield current
    except BaseException:
        for parent, part in reversed(new_directories):
            with contextlib.suppress(OSError):
                os.rmdir(part, dir_fd=parent)
        raise
    finally:
        for descriptor in reversed(descriptors):
            os.close(descriptor)


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _explain(error: OSError, path: Path) -> str:
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT:
            why = "the disk is full"
        case errno.EFBIG:
            why = "the file would be larger than this process may write"
        case errno.EROFS:
            why = "the file system is read-only"
        case errno.EACCES:
            why = "permission denied for its folder"
        case errno.EPERM:
            why = "the system does not permit it (the file or its folder may be immutable)"
        case errno.ELOOP | errno.ENOTDIR:
            why = "a folder in its path is a file or has become a link"
        case errno.ENAMETOOLONG:
            why = "the name is too long"
        case _:
            why = error.strerror or str(error)
    return f"Cannot write {_name(path)}: {why}. Nothing was changed."


def _name(path: Path) -> str:
    return printable(str(path))
