"""Builds a seccomp filter as BPF: socket families, system calls that escape the sandbox, modes."""

from __future__ import annotations

import platform
import struct
from functools import cache
from itertools import chain
from typing import Final

_LOAD, _JUMP_EQUAL, _JUMP_GREATER, _JUMP_SET, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_EPERM, _ENOSYS, _EAFNOSUPPORT = 1, 38, 97
_ARCHITECTURES: Final = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_SOCKET: Final = {"x86_64": 41, "aarch64": 198}
_REFUSED_CALLS: Final = {
    # ptrace, process_vm_readv, process_vm_writev; io_uring opens sockets past the filter; add_key,
    # request_key and keyctl read the keys of the user's session, which no namespace isolates.
    "x86_64": (101, 310, 311, 425, 426, 427, 248, 249, 250),
    "aarch64": (117, 270, 271, 425, 426, 427, 217, 218, 219),
}
_MODES: Final = {
    # creat, mknod, mknodat, chmod, fchmod, fchmodat, fchmodat2: the index of the mode argument.
    "x86_64": ((85, 1), (133, 1), (259, 2), (90, 1), (91, 1), (268, 2), (452, 2)),
    "aarch64": ((33, 2), (52, 1), (53, 2), (452, 2)),
}
_OPENING: Final = {"x86_64": ((2, 1), (257, 2)), "aarch64": ((56, 2),)}
"""open, openat: the index of the flags argument; the mode follows."""
_OPENAT2: Final = 437
"""Its mode cannot be inspected, so it fails with ENOSYS and programs fall back to `openat`."""
_SETUID: Final = 0o4000
_CREATING: Final = 0o100 | 0o20000000
"""O_CREAT, __O_TMPFILE: without them the mode argument is not used."""
_X32_BIT: Final = 0x40000000

AF_UNIX, AF_INET, AF_INET6, AF_NETLINK = 1, 2, 10, 16

WITHOUT_UNIX: Final = (AF_INET, AF_INET6, AF_NETLINK)
"""For a private network namespace: Unix sockets by path reach daemons of the host."""
WITH_UNIX: Final = (AF_UNIX, *WITHOUT_UNIX)
"""For the host's network."""


def is_supported(machine: str | None = None) -> bool:
    """Return whether filters can be built for a machine; None is this one."""
    return (machine or platform.machine()) in _ARCHITECTURES


def _argument(position: int) -> int:
    """Return the offset in bytes of an argument's low word in `seccomp_data`."""
    return 16 + 8 * position


def _without_setuid(argument: int) -> list[tuple[int, int, int, int]]:
    """Return instructions that refuse a mode with the set-user-ID bit and else allow the call.

    Such a file would stay on the host and take effect there.
    """
    return [
        (_LOAD, 0, 0, _argument(argument)),
        (_JUMP_SET, 0, 1, _SETUID),
        (_RETURN, 0, 0, _ERRNO | _EPERM),
        (_RETURN, 0, 0, _ALLOW),
    ]


@cache
def filter_program(families: tuple[int, ...], machine: str | None = None) -> bytes:
    """Return a `sock_filter` array by which `socket` fails with EAFNOSUPPORT but for the families.

    Few other failures use this error, so a program's message shows that the filter refused it.

    Raises:
        KeyError: the machine is not supported.
    """
    name = machine or platform.machine()
    code = [
        (_LOAD, 0, 0, 4),  # the architecture
        (_JUMP_EQUAL, 1, 0, _ARCHITECTURES[name]),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, 0),  # the number of the call
    ]
    if name == "x86_64":
        code += [(_JUMP_GREATER, 0, 1, _X32_BIT), (_RETURN, 0, 0, _ERRNO | _ENOSYS)]
    for number in _REFUSED_CALLS[name]:
        code += [(_JUMP_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ERRNO | _EPERM)]
    code += [(_JUMP_EQUAL, 0, 1, _OPENAT2), (_RETURN, 0, 0, _ERRNO | _ENOSYS)]
    for number, argument in _MODES[name]:
        code += [(_JUMP_EQUAL, 0, 4, number), *_without_setuid(argument)]
    for number, argument in _OPENING[name]:
        code += [
            (_JUMP_EQUAL, 0, 6, number),
            (_LOAD, 0, 0, _argument(argument)),
            (_JUMP_SET, 0, 3, _CREATING),
            *_without_setuid(argument + 1),
        ]
    code += [
        (_JUMP_EQUAL, 0, 2 + len(families), _SOCKET[name]),
        (_LOAD, 0, 0, _argument(0)),  # the family
    ]
    for position, family in enumerate(families):
        code.append((_JUMP_EQUAL, len(families) - position, 0, family))
    code += [(_RETURN, 0, 0, _ERRNO | _EAFNOSUPPORT), (_RETURN, 0, 0, _ALLOW)]
    return struct.pack("=" + "HBBI" * len(code), *chain.from_iterable(code))
