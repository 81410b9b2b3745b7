"""Standard input, output and error as a start finds them: closed, full, in another encoding, or
without a reader at the other end.

Next: `tui.cli`, which uses this before anything else.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from typing_extensions import Buffer

EXIT_PIPE: Final = 141
"""There is no reader any more: 128 and the number of the signal, as shells have it."""
EXIT_CANNOT_WRITE: Final = 1
_OF_THE_DEVICE: Final = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF, errno.ENXIO}
)
"""What a write fails with where no file was named."""


def prepare() -> None:
    """Make the three streams fit to be written to, whatever they are."""
    _open_closed()
    _write_whole()
    _write_any_character()
    _complain_to_whoever_listens()


def _open_closed() -> None:
    """Lead streams that were closed (`2>&-`) nowhere.

    Otherwise the next file that is opened becomes one of them, and to write to it fails.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, f"__{name}__") is not None:
            continue
        try:
            os.fstat(number)
        except OSError:
            nowhere = os.open(os.devnull, os.O_RDWR)
            os.dup2(nowhere, number)
            if nowhere == number:
                os.set_inheritable(number, True)
            else:
                os.close(nowhere)
        stream = open(number, mode, encoding="utf-8", closefd=False)  # noqa: SIM115 - to the end
        setattr(sys, f"__{name}__", stream)
        setattr(sys, name, stream)


def _write_whole() -> None:
    """Put a buffer under an unbuffered standard output (PYTHONUNBUFFERED).

    Without one the rest of a text is lost silently where a write is cut short by a
    signal or by a reader that goes.
    """
    stdout = sys.stdout
    if stdout is not sys.__stdout__:
        return  # another owner's
    if isinstance(stdout, io.TextIOWrapper) and isinstance(stdout.buffer, io.RawIOBase):
        encoding, errors = stdout.encoding, stdout.errors
        raw = stdout.detach()
        assert isinstance(raw, io.RawIOBase)
        sys.stdout = io.TextIOWrapper(
            io.BufferedWriter(raw), encoding=encoding, errors=errors, line_buffering=True
        )
        setattr(sys, "__stdout__", sys.stdout)  # noqa: B010 - it is declared final


def _write_any_character() -> None:
    """Write UTF-8 to files and pipes, and to a terminal what its encoding has.

    JSON is UTF-8, and an answer must not be lost to a locale. A half of a pair, as in a file name
    that is not UTF-8, is written as its escape, which JSON reads back.
    """
    stdout = sys.stdout
    if stdout is sys.__stdout__ and isinstance(stdout, io.TextIOWrapper):
        encoding = None if stdout.isatty() else "utf-8"
        stdout.reconfigure(encoding=encoding, errors="backslashreplace")


class _LossyFile(io.FileIO):
    """A file whose writes never fail: what it does not take is gone."""

    def write(self, data: Buffer, /) -> int:
        try:
            return super().write(data)
        except OSError:
            return len(memoryview(data))


def _complain_to_whoever_listens() -> None:
    """Let a standard error that takes nothing end no run: the exit status reports the failure."""
    err = sys.stderr
    if err is sys.__stderr__ and isinstance(err, io.TextIOWrapper) and not err.isatty():
        sys.stderr = io.TextIOWrapper(
            io.BufferedWriter(_LossyFile(err.fileno(), "wb", closefd=False)),
            encoding=err.encoding,
            errors="backslashreplace",
            line_buffering=True,
        )


def no_reader() -> int:
    """End quietly where the reader went (`| head`); return the exit status."""
    _let_go()
    return EXIT_PIPE


def cannot_write(error: OSError) -> int:
    """Report that the output cannot be written; return the exit status.

    Raises:
        OSError: the same error, where it is not one of writing to a stream.
    """
    if error.filename is not None or error.errno not in _OF_THE_DEVICE:
        raise error
    _let_go()
    sys.stderr.write(f"agent-tui: the output cannot be written: {error.strerror}\n")
    return EXIT_CANNOT_WRITE


def finish(status: int) -> int:
    """Write what is still in the buffer; return the status to end with."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        return no_reader()
    except OSError as error:
        if status == EXIT_CANNOT_WRITE:
            _let_go()  # reported already, with what can be done
            return status
        return cannot_write(error)
    return status


def _let_go() -> None:
    """Lead nowhere what could not be written: at exit it would be tried again, and reported."""
    try:
        sys.stdout.flush()
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
