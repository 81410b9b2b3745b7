"""Programs and files below `/tmp`, where a confined command sees a directory of the session's."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryDirectory

import pytest

from agent.sandbox.sandbox import RunRequest
from permissions.base.process.run_program import run_blocking
from permissions.base.process.spawn import Launch
from permissions.confinement import Confinement
from tests.agent.sandbox.conftest import Confined, MakeConfined


@pytest.fixture
def tool() -> Iterator[Path]:
    """A program below /tmp, beside a file that it would read."""
    with TemporaryDirectory(dir="/tmp", prefix="a tool ") as directory:
        program = Path(directory) / "run.sh"
        program.write_text('#!/bin/sh\necho it ran; cat "$1"\n')
        program.chmod(0o755)
        (Path(directory) / "data").write_text("the data\n")
        yield program


@pytest.fixture
def shared_dir() -> Iterator[Path]:
    """A directory below /tmp that programs of the user share."""
    with TemporaryDirectory(dir="/tmp", prefix="shared-") as directory:
        yield Path(directory)


def _run(confined: Confined, command: str, confinement: Confinement) -> str:
    bash = ("/bin/bash", "--noprofile", "--norc", "-c", command)
    program = Launch(bash, {"PATH": "/usr/bin:/bin"}, confined.project)
    launch = confined.sandbox.launch(program, RunRequest(confinement, command=command))
    ended = run_blocking(launch, timeout_s=60.0)
    return (ended.stdout + ended.stderr).decode()


def test_a_program_that_a_rule_lets_run_is_there(make_confined: MakeConfined, tool: Path) -> None:
    printed = _run(make_confined(), f"'{tool}' /dev/null", Confinement.PROJECT_FILES)
    assert printed == "it ran\n"


@pytest.mark.parametrize("confinement", [Confinement.READ_ONLY, Confinement.PROJECT])
def test_without_a_rule_it_is_not(
    make_confined: MakeConfined, tool: Path, confinement: Confinement
) -> None:
    assert "it ran" not in _run(make_confined(), f"'{tool}' /dev/null", confinement)


@pytest.mark.parametrize("confinement", [Confinement.READ_ONLY, Confinement.PROJECT])
def test_what_a_rule_lets_it_read_is_there(
    make_confined: MakeConfined, tool: Path, confinement: Confinement
) -> None:
    confined = make_confined(allow=[f"Read(/{tool.parent}/**)"])
    data = tool.parent / "data"
    assert _run(confined, f"cat '{data}' | cat", confinement) == "the data\n"
    assert _run(confined, f"cat < '{data}'; : --x='{data}'", confinement) == "the data\n"


def test_what_no_word_names_stays_hidden(make_confined: MakeConfined, tool: Path) -> None:
    command = f"'{tool}' $(dirname '{tool}')/data"
    printed = _run(make_confined(), command, Confinement.PROJECT_FILES)
    assert "it ran" in printed
    assert "the data" not in printed


def test_a_deny_rule_hides_it_whatever_names_it(make_confined: MakeConfined, tool: Path) -> None:
    confined = make_confined(deny=[f"Read(/{tool.parent}/**)"])
    assert "it ran" not in _run(confined, f"'{tool}'", Confinement.PROJECT_FILES)


def test_what_is_written_below_tmp_is_the_sessions(make_confined: MakeConfined) -> None:
    with NamedTemporaryFile(dir="/tmp", prefix="of the host ") as data:
        confined = make_confined(allow=[f"Read(/{data.name})"])
        write, read = f"echo own > '{data.name}'", f"cat '{data.name}'"
        assert _run(confined, write, Confinement.PROJECT) == ""
        assert _run(confined, read, Confinement.PROJECT) == "own\n"
        assert Path(data.name).read_text() == ""


@pytest.mark.parametrize(
    "words",
    [
        "# ; {socket}",
        "# ; {directory}",
        "# | {socket}",
        "<<'E'\n; {socket}\nE",
        "'; ' {socket}",
        "# {directory}",
        "# {parent}",
    ],
)
@pytest.mark.parametrize("rule", ["Bash(python3 *)", "Read(/{directory}/**)", "Bash({program} *)"])
def test_no_word_opens_the_way_to_a_socket(
    make_confined: MakeConfined, shared_dir: Path, words: str, rule: str
) -> None:
    """A terminal's multiplexer listens there, and types what it is sent."""
    path, program = shared_dir / "socket", shared_dir / "run"
    names = {"socket": path, "directory": shared_dir, "parent": "/tmp", "program": program}
    confined = make_confined(allow=[rule.format(**names)])
    code = f"import socket; socket.socket(socket.AF_UNIX).connect({str(path)!r}); print('reached')"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen()
        command = f'python3 -c "{code}" {words.format(**names)}'
        assert "reached" not in _run(confined, command, Confinement.PROJECT_FILES)


def test_a_directory_that_a_rule_names_is_there_without_sockets(
    make_confined: MakeConfined, tool: Path
) -> None:
    confined = make_confined(allow=[f"Read(/{tool.parent}/**)"])
    command = f"ls '{tool.parent}'; python3 -c 'import socket; socket.socket(socket.AF_UNIX)'"
    printed = _run(confined, command, Confinement.PROJECT_FILES)
    assert "data" in printed
    assert "Error" in printed
