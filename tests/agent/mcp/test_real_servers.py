"""Servers that people run, over standard streams and HTTP: lists, calls, progress, cancelling,
questions to the user and the model. Skipped, with the reason, where they are not installed."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Final

import pytest

from agent.mcp.configuration.server_definition import ServerDefinition
from agent.mcp.mcp_servers import McpServers
from agent.mcp.server_requests import (
    ElicitationAnswer,
    ElicitationRequest,
    McpPorts,
    SamplingAnswer,
    SamplingRequest,
)
from agent.mcp.server_state import ServerState
from tests.agent.mcp.running import definition, of, running

CACHE: Final = Path(sys.prefix) / "mcp-servers"
_MISSING: Final = "is not installed; `make conformance` installs it"


@pytest.fixture(name="npm", scope="session")
def npm_servers() -> Path:
    found = CACHE / "node_modules" / "@modelcontextprotocol"
    if shutil.which("node") is None or not found.exists():
        pytest.skip(f"{found.name} {_MISSING}")
    return found


@pytest.fixture(name="pypi", scope="session")
def pypi_servers() -> Path:
    found = CACHE / "python"
    if not (found / "mcp_server_git").exists():
        pytest.skip(f"mcp-server-git {_MISSING}")
    return found


def _of_pypi(directory: Path, name: str, protocol: str | None = None) -> ServerDefinition:
    return definition(
        {
            "name": name,
            "command": sys.executable,
            "args": ("-m", f"mcp_server_{name}"),
            "env": {"PYTHONPATH": str(directory)},
            "protocol": protocol,
        }
    )


class Asked:
    """A user and a model who agree to everything, and remember what they were asked."""

    def __init__(self, home: Path) -> None:
        self.forms: list[ElicitationRequest] = []
        self.prompts: list[SamplingRequest] = []
        self.ports = McpPorts(
            elicit=self._elicit,
            sample=self._sample,
            may_sample=lambda _server: True,
            roots=lambda: (home,),
        )

    async def _elicit(self, request: ElicitationRequest) -> ElicitationAnswer:
        self.forms.append(request)
        return ElicitationAnswer("accept", {"name": "Ada"})

    async def _sample(self, request: SamplingRequest) -> SamplingAnswer:
        self.prompts.append(request)
        return SamplingAnswer("an answer of the model", "small")


@pytest.fixture(name="asked")
def asked_of_the_user(tmp_path: Path) -> Asked:
    return Asked(tmp_path)


@pytest.fixture(params=["stdio", "http", "sse"], name="everything")
async def server_everything(
    request: pytest.FixtureRequest, npm: Path, tmp_path: Path, asked: Asked
) -> AsyncIterator[McpServers]:
    program = str(npm / "server-everything" / "dist" / "index.js")
    kind = str(request.param)
    if kind == "stdio":
        server = definition({"name": "all", "command": "node", "args": (program, "stdio")})
        async with running(tmp_path, server, ports=asked.ports) as servers:
            yield servers
        return
    mode, path = {"http": ("streamableHttp", "mcp"), "sse": ("sse", "sse")}[kind]
    for port, _process in _listening(program, mode):
        url = f"http://127.0.0.1:{port}/{path}"
        server = definition({"name": "all", "transport": kind, "url": url})
        async with running(tmp_path, server, ports=asked.ports) as servers:
            yield servers


def _listening(program: str, mode: str) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    """Run a server on a free port until it is no longer needed."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    process = subprocess.Popen(
        ["node", program, mode],
        env={**os.environ, "PORT": str(port)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        while True:
            assert process.poll() is None
            with socket.socket() as knocking:
                if knocking.connect_ex(("127.0.0.1", port)) == 0:
                    break
        yield port, process
    finally:
        process.kill()
        process.wait()


async def _text(servers: McpServers, tool: str, arguments: dict[str, object]) -> str:
    result = await servers.call_tool("all", tool, arguments)
    assert not result.is_error, result.content
    return "\n".join(str(block.get("text", block["type"])) for block in result.content)


async def test_everything(everything: McpServers, asked: Asked) -> None:
    view = of(everything, "all")
    assert view.state is ServerState.CONNECTED, view.reason
    assert len(view.tools) >= 13
    assert view.offer.problems == ()
    assert {prompt.name for prompt in view.offer.prompts} >= {"simple-prompt", "args-prompt"}
    assert any(resource.is_template for resource in view.offer.resources)
    assert await _text(everything, "echo", {"message": "hello"}) == "Echo: hello"
    assert "image" in await _text(everything, "get-tiny-image", {})
    assert "resource_link" in await _text(everything, "get-resource-links", {"count": 2})
    structured = await everything.call_tool(
        "all", "get-structured-content", {"location": "New York"}
    )
    assert isinstance(structured.structured_content, dict)
    await _text(everything, "trigger-elicitation-request", {})
    assert asked.forms[0].server == "all"
    sampled = await _text(
        everything, "trigger-sampling-request", {"prompt": "Why?", "maxTokens": 10}
    )
    assert "an answer of the model" in sampled
    assert "Why?" in asked.prompts[0].messages[0][1]
    assert "Roots" in await _text(everything, "get-roots-list", {})


async def test_everything_reports_progress_and_takes_a_cancel(everything: McpServers) -> None:
    seen: list[float] = []
    arguments = {"duration": 1, "steps": 2}
    long = "trigger-long-running-operation"
    await everything.call_tool(
        "all", long, arguments, on_progress=lambda done, _total, _text: seen.append(done)
    )
    assert seen == [1, 2]
    progressed = asyncio.Event()
    call = asyncio.ensure_future(
        everything.call_tool(
            "all", long, {"duration": 60, "steps": 60}, on_progress=lambda *_: progressed.set()
        )
    )
    await progressed.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert await _text(everything, "echo", {"message": "still"}) == "Echo: still"
    assert of(everything, "all").generation == 1


async def test_everything_completes_and_reads(everything: McpServers) -> None:
    offer = of(everything, "all").offer
    prompt = next(one for one in offer.prompts if one.name == "args-prompt")
    arguments = {argument.name: "Paris" for argument in prompt.arguments}
    messages = await everything.get_prompt("all", prompt.name, arguments)
    assert "Paris" in str(messages[0].block)
    completing = next(one for one in offer.prompts if "complet" in one.name)
    found = await everything.complete(completing, completing.arguments[0].name, "", {})
    assert found
    resource = next(one for one in offer.resources if not one.is_template)
    (part, *_) = await everything.read_resource("all", resource.uri)
    assert part.text or part.data


async def test_files_and_memory(npm: Path, tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("written")
    files = npm / "server-filesystem" / "dist" / "index.js"
    memory = npm / "server-memory" / "dist" / "index.js"
    both = (
        definition({"name": "files", "command": "node", "args": (str(files), str(tmp_path))}),
        definition({"name": "memory", "command": "node", "args": (str(memory),)}),
    )
    async with running(tmp_path, *both) as servers:
        read = await servers.call_tool(
            "files", "read_text_file", {"path": str(tmp_path / "note.txt")}
        )
        assert read.content[0]["text"] == "written"
        graph = await servers.call_tool("memory", "read_graph", {})
        assert not graph.is_error


@pytest.fixture(name="repository")
def git_repository(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    return tmp_path


@pytest.mark.parametrize("protocol", ["auto", "legacy", None])
async def test_both_eras(
    pypi: Path, repository: Path, tmp_path: Path, protocol: str | None
) -> None:
    servers_of_pypi = [_of_pypi(pypi, name, protocol) for name in ("git", "time")]
    async with running(tmp_path, *servers_of_pypi) as servers:
        version = of(servers, "git").protocol_version
        assert version == ("2026-07-28" if protocol == "auto" else "2025-11-25")
        status = await servers.call_tool("git", "git_status", {"repo_path": str(repository)})
        assert not status.is_error, status.content
        now = await servers.call_tool("time", "get_current_time", {"timezone": "Europe/Berlin"})
        assert "Europe/Berlin" in str(now.content)


async def test_fetch_offers_its_prompt(pypi: Path, tmp_path: Path) -> None:
    async with running(tmp_path, _of_pypi(pypi, "fetch")) as servers:
        view = of(servers, "fetch")
        assert [tool.full_name for tool in view.tools] == ["mcp__fetch__fetch"]
        assert [prompt.name for prompt in view.offer.prompts] == ["fetch"]
