"""Run as `python -I -S` in a process of its own; imports nothing of this program.

`create SOCKET PORT` makes a user and a network namespace with a listener on 127.0.0.1:PORT, and
sends the descriptors of listener, user namespace and network namespace through the socket. Nothing
else keeps the namespaces alive: they end with the last descriptor and the last process in them.

`join USER NETWORK PROGRAM [ARGUMENT]…` enters the namespaces of two descriptors and becomes the
program. Both exit with `FAILED` and a line on standard error where the system refuses.
"""

from __future__ import annotations

import ctypes
import os
import sys

CLONE_NEWUSER = 0x10000000
CLONE_NEWNET = 0x40000000
SIOCGIFFLAGS = 0x8913
SIOCSIFFLAGS = 0x8914
IFF_UP = 1
SIGPIPE = 13
SIGXFSZ = 25
BACKLOG = 128
FAILED = 125


def create(descriptor: int, port: int) -> None:
    """Create the namespaces and send their descriptors to the parent. Raises OSError."""
    import array
    import socket

    uid, gid = os.getuid(), os.getgid()
    _check(_libc().unshare(CLONE_NEWUSER | CLONE_NEWNET), "unshare")
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{uid} {uid} 1"),
        ("gid_map", f"{gid} {gid} 1"),
    ):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)
    _bring_loopback_up()
    with socket.socket() as listener, socket.socket(fileno=descriptor) as parent:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        listener.listen(BACKLOG)
        namespaces = [os.open(f"/proc/self/ns/{name}", os.O_RDONLY) for name in ("user", "net")]
        descriptors = array.array("i", [listener.fileno(), *namespaces])
        parent.sendmsg([b"\0"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, descriptors)])


def join(user: int, network: int, argv: list[str]) -> None:
    """Enter the namespaces and become a program. Raises OSError."""
    libc = _libc()
    # The user namespace first: it gives the right to enter the other one.
    for descriptor, kind in ((user, CLONE_NEWUSER), (network, CLONE_NEWNET)):
        _check(libc.setns(descriptor, kind), "setns")
        os.close(descriptor)
    for number in (SIGPIPE, SIGXFSZ):
        # Python ignores these signals, and an ignored signal stays ignored after exec.
        libc.signal(number, None)
    os.execvp(argv[0], argv)


def _bring_loopback_up() -> None:
    import fcntl
    import socket
    import struct

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        request = struct.pack("16sh14x", b"lo", 0)
        try:
            flags = struct.unpack("16sh14x", fcntl.ioctl(probe, SIOCGIFFLAGS, request))[1]
            fcntl.ioctl(probe, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | IFF_UP))
        except OSError as error:
            raise OSError(error.errno, f"loopback: {error.strerror}") from None


def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.signal.argtypes = ctypes.c_int, ctypes.c_void_p
    return libc


def _check(result: int, call: str) -> None:
    if result:
        number = ctypes.get_errno()
        raise OSError(number, f"{call}: {os.strerror(number)}")


def main(argv: list[str]) -> int:
    """Run the command of the arguments; return the exit status unless `join` replaced the
    process."""
    try:
        if argv[0] == "create":
            create(int(argv[1]), int(argv[2]))
        else:
            join(int(argv[1]), int(argv[2]), argv[3:])
    except OSError as error:
        where = "" if error.filename is None else f"{error.filename}: "
        print(f"agent-tui sandbox: network namespace: {where}{error.strerror}", file=sys.stderr)
        return FAILED
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
