"""Started as `python -I -S launcher.py SPEC PROGRAM…`: restricts itself, then becomes the program.

Imports nothing of this program, so that it starts fast and runs with any working directory. `SPEC`
is JSON with `write` (canonical paths), `kept` (canonical paths below them that are not opened),
`devices` and `filter` (a seccomp program in hexadecimal, after which no INET socket can be made).
"""

import contextlib
import ctypes
import json
import os
import platform
import signal
import stat
import struct
import sys
from collections.abc import Iterator
from itertools import chain

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
SECCOMP = {"x86_64": 317, "aarch64": 277}
NO_NEW_PRIVILEGES = 38
EXECUTE, WRITE_FILE, READ_FILE, READ_DIRECTORY = 1, 2, 4, 8
REFER, TRUNCATE, IOCTL_DEVICE = 1 << 13, 1 << 14, 1 << 15
OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEVICE
RIGHTS = ((1, (1 << 13) - 1), (2, REFER), (3, TRUNCATE), (5, IOCTL_DEVICE))
SIZES = ((6, 24), (4, 16), (1, 8))
INET = DATAGRAM = 2
SCOPE_ABSTRACT_SOCKETS, SCOPE_SIGNALS = 1, 2
OPEN = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
EXIT_CANNOT_HOLD = 125

_libc = ctypes.CDLL(None, use_errno=True)


def system_call(*arguments: object) -> int:
    """Make a system call. Raises OSError."""
    result = int(_libc.syscall(*arguments))
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return result


def landlock_version() -> int:
    """Return the version of Landlock's interface; 0 where there is none."""
    try:
        return system_call(CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(1))
    except OSError:
        return 0


def open_path(path: str) -> int:
    """Return a descriptor of a path; raises OSError where a component of it is a link now."""
    directory = os.open("/", OPEN)
    for name in filter(None, path.split("/")):
        step = os.open(name, OPEN, dir_fd=directory)
        os.close(directory)
        directory = step
    return directory


def parts(descriptor: int, path: str, closed_paths: "list[str]") -> "Iterator[int]":
    """Yield a descriptor of a path, or of its entries if a path below it must stay closed. The
    caller closes each.
    """
    inside = [one for one in closed_paths if one == path or one.startswith(f"{path}/")]
    if not inside:
        yield descriptor
        return
    if path not in inside:
        listing = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=descriptor)
        names = os.listdir(listing)
        os.close(listing)
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                child = os.open(name, OPEN, dir_fd=descriptor)
                yield from parts(child, f"{path}/{name}", inside)
    os.close(descriptor)


def writable(specification: "dict[str, list[str]]") -> "Iterator[int]":
    """Yield descriptors of the writable paths."""
    for path in specification["write"]:
        with contextlib.suppress(FileNotFoundError):
            yield from parts(open_path(path), path, specification["kept"])
    for path in specification["devices"]:
        with contextlib.suppress(OSError):
            yield open_path(os.path.realpath(path))


def restrict_files(specification: "dict[str, list[str]]") -> None:
    """Let this process read and run everything, and write only the paths of `SPEC`. Raises
    OSError."""
    version = landlock_version()
    if version == 0:
        raise OSError("Landlock is missing")
    rights = sum(right for first_version, right in RIGHTS if version >= first_version)
    scopes = SCOPE_ABSTRACT_SOCKETS | SCOPE_SIGNALS if version >= 6 else 0
    size = next(size for first_version, size in SIZES if version >= first_version)
    attributes = struct.pack("=QQQ", rights, 0, scopes)[:size]
    ruleset = system_call(
        CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint32(0)
    )
    reading = EXECUTE | READ_FILE | READ_DIRECTORY
    root = [(os.open("/", OPEN), reading)]
    for descriptor, path_rights in chain(root, ((one, rights) for one in writable(specification))):
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISLNK(mode):
            path_rights &= rights if stat.S_ISDIR(mode) else OF_FILES
            rule = struct.pack("=Qi", path_rights & rights, descriptor)
            system_call(ADD_RULE, ruleset, ctypes.c_int(1), rule, ctypes.c_uint32(0))
        os.close(descriptor)
    _libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    system_call(RESTRICT_SELF, ruleset, ctypes.c_uint32(0))
    os.close(ruleset)


def install_filter(program: bytes) -> None:
    """Install a seccomp filter for this process and its children."""

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_char_p))

    argument = Program(len(program) // 8, program)
    _libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    system_call(SECCOMP[platform.machine()], 1, 0, ctypes.byref(argument))
    if _libc.socket(INET, DATAGRAM, 0) >= 0:
        raise OSError("the filter does not hold")


def main() -> None:
    """Restrict this process and replace it; exit 125 when that cannot be done."""
    specification, command = json.loads(sys.argv[1]), sys.argv[2:]
    try:
        restrict_files(specification)
        install_filter(bytes.fromhex(specification["filter"]))
    except (OSError, KeyError) as error:
        sys.stderr.write(f"agent-tui: the sandbox cannot be set up: {error}\n")
        sys.exit(EXIT_CANNOT_HOLD)
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        # Python ignores these signals, and an ignored signal stays ignored after exec.
        signal.signal(number, signal.SIG_DFL)
    os.execvp(command[0], command)


if __name__ == "__main__":
    main()
