"""`agent-tui sandbox run`: one command under a confinement, with the hosts that it is given."""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agent.sandbox.probe import probe
from permissions.confinement import SandboxLevel
from tests.journeys.program import environment, start

needs_full = pytest.mark.skipif(
    probe().level is not SandboxLevel.FULL, reason=f"level {probe().level}: {probe().reason}"
)
needs_curl = pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")


@pytest.fixture
async def port() -> AsyncIterator[int]:
    """The port of a server on this machine."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, EOFError):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nserved\n")
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield int(server.sockets[0].getsockname()[1])


@pytest.fixture
def project(tmp_path: Path) -> Path:
    directory = tmp_path / "home" / "project"
    directory.mkdir(parents=True)
    return directory


async def _run(project: Path, *words: str) -> tuple[int | None, str, list[dict[str, Any]]]:
    """Return exit status, standard output, and the objects on standard error."""
    process = await start("sandbox", "run", *words, cwd=project, env=environment(project.parent))
    stdout, stderr = await process.communicate()
    lines = stderr.decode().splitlines()
    return (
        process.returncode,
        stdout.decode(),
        [json.loads(line) for line in lines if line.startswith("{")],
    )


@needs_full
@needs_curl
async def test_a_command_reaches_the_hosts_it_is_given_and_no_other(
    project: Path, port: int
) -> None:
    served = f"http://127.0.0.1:{port}/"
    code, printed, refused = await _run(
        project,
        *("--confinement", "project", "--allow-host", f"127.0.0.1:{port}"),
        *("--allow-host", "*.fine.example", "--", f"curl -sS {served}; curl -sSf http://a.example"),
    )
    assert printed == "served\n"
    assert code != 0
    assert [(one["kind"], one["target"]) for one in refused] == [("connect", "a.example:80")]
    assert "a.example:80 is not an allowed host" in refused[0]["rule"]


@needs_full
@needs_curl
async def test_a_deny_rule_of_the_settings_holds(project: Path, port: int) -> None:
    file = project.parent / ".agent" / "settings.json"
    file.parent.mkdir()
    file.write_text(json.dumps({"sandbox": {"network": {"deniedDomains": ["127.0.0.1"]}}}))
    allowed = ("--confinement", "project", "--allow-host", f"127.0.0.1:{port}")
    command = f"curl -sSf http://127.0.0.1:{port}/"
    code, printed, (refused,) = await _run(project, *allowed, "--", command)
    assert (printed, refused["target"]) == ("", f"127.0.0.1:{port}")
    assert "denied by the rule 127.0.0.1" in refused["rule"]
    assert code != 0


@needs_full
@needs_curl
async def test_without_a_host_there_is_no_network(project: Path, port: int) -> None:
    command = f"curl -sS -m 20 http://127.0.0.1:{port}/"
    code, printed, _ = await _run(project, "--confinement", "project", "--", command)
    assert (code, printed) == (7, "")


@needs_full
async def test_refusals_are_one_object_a_line_and_the_status_is_the_commands(
    project: Path,
) -> None:
    outside = project.parent / "outside"
    script = f"echo x > inside; echo x > {outside}; exit 3"
    code, _, refused = await _run(project, "--confinement", "project", "--", script)
    assert code == 3
    assert (project / "inside").exists()
    rule = "outside the working directories"
    assert refused == [{"kind": "write", "target": str(outside), "rule": rule}]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("read_only", "--allow-host", "a.example"), "read_only has no network"),
        (("project_files", "--allow-host", "a.example"), "project_files has the host's network"),
        (("project", "--allow-host", "http://a"), "--allow-host: "),
        (("project", "--add-dir", "missing"), "missing is not a directory"),
    ],
)
async def test_what_makes_no_sense_is_reported(
    arguments: tuple[str, ...], says: str, project: Path
) -> None:
    words = ("sandbox", "run", "--confinement", *arguments, "--", "true")
    process = await start(*words, cwd=project, env=environment(project.parent))
    _, stderr = await process.communicate()
    assert process.returncode == 2
    assert says in " ".join(stderr.decode().split())


@needs_full
async def test_a_kill_leaves_neither_process_nor_placeholder(project: Path) -> None:
    command = "touch started; setsid sleep 60 & sleep 60"
    process = await start(
        "sandbox",
        *("run", "--confinement", "project", "--", command),
        cwd=project,
        env=environment(project.parent),
    )
    async with asyncio.timeout(60):
        while not (project / "started").exists():  # noqa: ASYNC110 - files announce nothing
            await asyncio.sleep(0.05)
        assert (project / ".claude").is_dir()
        process.kill()
        # The pipes end with the last process that holds them.
        await process.communicate()
        while len(list(project.iterdir())) > 1:  # noqa: ASYNC110 - the directory announces nothing
            await asyncio.sleep(0.05)
