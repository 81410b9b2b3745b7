"""Standard output that is full, closed, read no further, or in another encoding."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.journeys.program import environment

EXPLAIN = ("permissions", "explain", "Bash(ls ü)")


def program(
    home: Path, *arguments: str, shell: str = "", **env: str
) -> subprocess.CompletedProcess[bytes]:
    """Run the program under a shell that says where its output goes."""
    return subprocess.run(
        ["bash", "-c", f'"$@" {shell}', "bash", sys.executable, "-m", "tui.cli", *arguments],
        cwd=home,
        env={**environment(home), **env},
        capture_output=True,
        check=False,
    )


@pytest.mark.parametrize("arguments", [("--help",), ("--version",), EXPLAIN, ("config",)])
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no full device here")
def test_output_that_takes_nothing_is_an_error_in_one_line(
    fresh_home: Path, arguments: tuple[str, ...]
) -> None:
    done = program(fresh_home, *arguments, shell=">/dev/full")
    assert done.returncode == 1
    assert done.stderr == (b"agent-tui: the output cannot be written: No space left on device\n")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no full device here")
def test_an_error_output_that_takes_nothing_changes_no_status(fresh_home: Path) -> None:
    assert program(fresh_home, "--nonsense", shell="2>/dev/full").returncode == 2


@pytest.mark.parametrize("unbuffered", ["", "1"], ids=["buffered", "unbuffered"])
@pytest.mark.parametrize("arguments", [("--help",), EXPLAIN], ids=["help", "explain"])
def test_a_reader_that_went_is_reported_by_the_status_alone(
    fresh_home: Path, arguments: tuple[str, ...], unbuffered: str
) -> None:
    gone, pipe = os.pipe()
    os.close(gone)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "tui.cli", *arguments],
            cwd=fresh_home,
            env={**environment(fresh_home), "PYTHONUNBUFFERED": unbuffered},
            stdout=pipe,
            stderr=subprocess.PIPE,
            check=False,
        )
    finally:
        os.close(pipe)
    assert (done.returncode, done.stderr) == (141, b"")


def test_an_unbuffered_output_gets_a_buffer(fresh_home: Path) -> None:
    # Without one, what a cut write left over is lost, and nobody is told.
    code = (
        "import io, sys; from tui.command_line.standard_streams import prepare; prepare();"
        "print(isinstance(sys.stdout.buffer, io.BufferedWriter), sys.stdout is sys.__stdout__)"
    )
    env = {**environment(fresh_home), "PYTHONUNBUFFERED": "1"}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, check=True)
    assert done.stdout == b"True True\n"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_pipe_gets_utf_8_whatever_the_locale(fresh_home: Path, encoding: str) -> None:
    done = program(fresh_home, *EXPLAIN, "--json", PYTHONIOENCODING=encoding)
    assert done.returncode == 3
    assert "ls ü" in done.stdout.decode("utf-8")


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_a_terminal_receives_text_alone_from_subcommands(
    fresh_home: Path, form: tuple[str, ...]
) -> None:
    script = fresh_home / "script.js"
    title = r"a\u001b]52;c;eA==\u0007b\u009b31mc"
    script.write_text(
        f"export const meta = {{name: 'x', description: 'd', phases: [{{title: '{title}'}}]}}"
    )
    ours, theirs = os.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "tui.cli", "workflow", "check", str(script), *form],
        env=environment(fresh_home),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    ):
        os.close(theirs)
        output = b""
        # The terminal is gone (EIO) once its last program has ended.
        with contextlib.suppress(OSError):
            while piece := os.read(ours, 65536):
                output += piece
    os.close(ours)
    assert b"phases" in output
    assert b"\x1b" not in output
    assert "\x9b".encode() not in output


def test_a_failure_and_a_log_message_do_not_command_the_terminal(fresh_home: Path) -> None:
    code = (
        "import logging\n"
        "from tui.command_line.standard_streams import prepare\n"
        "prepare()\n"
        "logging.getLogger('x').warning('said \\x1b]52;c;eA==\\x07')\n"
        "raise ValueError('failed \\x1b]52;c;eA==\\x07')\n"
    )
    ours, theirs = os.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", code], env=environment(fresh_home), stderr=theirs
    ) as process:
        os.close(theirs)
        output = b""
        with contextlib.suppress(OSError):
            while piece := os.read(ours, 65536):
                output += piece
    os.close(ours)
    assert process.returncode == 1
    assert b"said" in output
    assert b"ValueError: failed" in output
    assert b"\x1b" not in output
