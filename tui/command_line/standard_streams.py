"""Prepares the standard streams, which may be closed, full, in another encoding, or without a
reader.

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
"""Exit status when the reader has closed the pipe: 128 + SIGPIPE, as in shells."""
EXIT_CANNOT_WRITE: Final = 1
_STREAM_ERRORS: Final = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF, errno.ENXIO}
)
"""Errors of writing to a stream, which have no file name."""


def prepare() -> None:
    """Make the three standard streams usable in any state."""
    _redirect_closed_streams()
    _buffer_stdout()
    _set_output_encoding()
    _wrap_stderr()


def _redirect_closed_streams() -> None:
    """Redirect closed streams (`2>&-`) to /dev/null.

    Otherwise the next file that is opened would get the number of one of them.
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


def _buffer_stdout() -> None:
    """Add a buffer to an unbuffered standard output (PYTHONUNBUFFERED).

    Without one, the rest of a text is silently lost if a signal or a reader that closes the pipe
    interrupts a write.
    """
    stdout = sys.stdout
    if stdout is not sys.__stdout__:
        return  # replaced by other code
    if isinstance(stdout, io.TextIOWrapper) and isinstance(stdout.buffer, io.RawIOBase):
        encoding, errors = stdout.encoding, stdout.errors
        raw = stdout.detach()
        assert isinstance(raw, io.RawIOBase)
        sys.stdout = io.TextIOWrapper(
            io.BufferedWriter(raw), encoding=encoding, errors=errors, line_buffering=True
        )
        setattr(sys, "__stdout__", sys.stdout)  # noqa: B010 - it is declared final


def _set_output_encoding() -> None:
    """Encode output as UTF-8 for files and pipes, and in the terminal's encoding for a terminal.

    JSON is UTF-8, and answers must not depend on the locale. Characters that cannot be encoded are
    escaped, such as the surrogates of a file name that is not UTF-8; JSON readers accept these.
    """
    stdout = sys.stdout
    if stdout is sys.__stdout__ and isinstance(stdout, io.TextIOWrapper):
        encoding = None if stdout.isatty() else "utf-8"
        stdout.reconfigure(encoding=encoding, errors="backslashreplace")


class _LossyFile(io.FileIO):
    """A file whose writes never fail: data that cannot be written is discarded."""

    def write(self, data: Buffer, /) -> int:
        try:
            return super().write(data)
        except OSError:
            return len(memoryview(data))


class _TerminalOutput(io.TextIOWrapper):
    """Output to a terminal without control characters except line breaks."""

    def write(self, text: str, /) -> int:
        from permissions.base.text.sanitize import sanitize  # imported with the first output

        super().write(sanitize(text))
        return len(text)


def _wrap_stderr() -> None:
    """Ignore errors of writing to standard error, where the exit status still reports a failure;
    write only text to a terminal, also in tracebacks and log messages. The screen is written to
    the original stream."""
    err = sys.stderr
    if err is not sys.__stderr__ or not isinstance(err, io.TextIOWrapper):
        return
    is_terminal = err.isatty()
    file_type, text_type = (
        (io.FileIO, _TerminalOutput) if is_terminal else (_LossyFile, io.TextIOWrapper)
    )
    sys.stderr = text_type(
        io.BufferedWriter(file_type(err.fileno(), "wb", closefd=False)),
        encoding=err.encoding,
        errors="backslashreplace",
        line_buffering=True,
    )


def write_text_only() -> None:
    """Remove control characters from output to a terminal: many names and errors are untrusted."""
    stdout = sys.stdout
    if isinstance(stdout, io.TextIOWrapper) and stdout.isatty():
        encoding, errors = stdout.encoding, stdout.errors
        output = _TerminalOutput(stdout.detach(), encoding, errors, line_buffering=True)
        sys.stdout = output
        setattr(sys, "__stdout__", output)  # noqa: B010 - it is declared final


def handle_closed_pipe() -> int:
    """Discard output whose reader has closed the pipe (`| head`); return the exit status."""
    _discard_output()
    return EXIT_PIPE


def handle_write_error(error: OSError) -> int:
    """Report that the output cannot be written; return the exit status.

    Raises:
        OSError: the given error, if it is not about writing to a stream.
    """
    if error.filename is not None or error.errno not in _STREAM_ERRORS:
        raise error
    _discard_output()
    sys.stderr.write(f"agent-tui: the output cannot be written: {error.strerror}\n")
    return EXIT_CANNOT_WRITE


def finish(status: int) -> int:
    """Flush standard output; return `status`, or the exit status of a write error."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        return handle_closed_pipe()
    except OSError as error:
        if status == EXIT_CANNOT_WRITE:
            _discard_output()  # the error was already reported
            return status
        return handle_write_error(error)
    return status


def _discard_output() -> None:
    """Redirect unwritten output to /dev/null: Python would retry at exit and report an error."""
    try:
        sys.stdout.flush()
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
