"""A user who works inside the sandbox: which hosts and directories commands reach, unasked."""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
import socket
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from agent.abort import AbortSignal
from agent.model.scripted.scenario import ToolCall, Turn
from agent.sandbox.network.host_gate import HostAnswer, HostRequest
from agent.sandbox.refusal_request import RefusalAnswer, RefusalRequest
from agent.tools.services import PlanAnswer, Question
from tests.journeys.conftest import Begin, Journey
from tests.journeys.test_mcp_consent import Person, live_of, plain, trust, until, write
from tests.journeys.test_permissions import DONE, bash

pytestmark = pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
THROUGH_PROXY = "curl -sS --noproxy '' -m 60"


pytestmark = pytest.mark.usefixtures("full_sandbox")


@pytest.fixture
async def port() -> AsyncIterator[int]:
    """The port of a server on the host's loopback that says where it is."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, EOFError):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nserved by the host\n")
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield int(server.sockets[0].getsockname()[1])


class HostUser:
    """Answers questions about hosts, and no others."""

    def __init__(self, answer: HostAnswer) -> None:
        self.answer = answer
        self.asked: list[HostRequest] = []

    async def ask(
        self, questions: Sequence[Question], abort: AbortSignal
    ) -> Mapping[str, str] | None:
        return None

    async def approve_plan(self, plan: str, abort: AbortSignal) -> PlanAnswer:
        return PlanAnswer(False)

    async def decide_host(self, request: HostRequest) -> HostAnswer:
        self.asked.append(request)
        return self.answer

    async def decide_refusal(self, request: RefusalRequest) -> RefusalAnswer:
        return RefusalAnswer.NO


def _inside(**sandbox: Any) -> str:
    return json.dumps({"sandbox": {"enabled": True, **sandbox}})


async def _contents(journey: Journey) -> list[str]:
    """Send a prompt; what the model then reads of each call."""
    await journey.send("go")
    return [
        str(block["content"])
        for message in journey.last_messages()
        for block in message["content"]
        if block["type"] == "tool_result"
    ]


async def test_settings_name_the_hosts_and_no_one_is_asked(
    begin: Begin, port: int, fresh_home: Path
) -> None:
    url = f"http://127.0.0.1:{port}/"
    commands = [
        f"{THROUGH_PROXY} {url}",
        f"{THROUGH_PROXY} http://other.example/",
        f"curl -sS {url}",
    ]
    settings = _inside(network={"allowedDomains": [f"127.0.0.1:{port}"]})
    journey = await begin([bash(*commands), DONE], settings_file=settings)
    allowed, refused, direct = await _contents(journey)
    assert journey.person.asked == []
    assert "served by the host" in allowed
    assert "other.example:80 is not an allowed host, and no user can approve it" in refused
    assert "connect" in direct.lower()
    assert "served" not in direct
    lines = [
        json.loads(line)
        for path in (fresh_home / ".agent" / "audit").glob("*.jsonl")
        for line in path.read_text().splitlines()
    ]
    hosts = [(one["event"], one["host"], one["port"]) for one in lines if one.get("kind") == "host"]
    assert hosts.count(("allowed", "127.0.0.1", port)) == 1
    assert hosts.count(("refused", "other.example", 80)) == 1


@pytest.mark.parametrize("allowed", [True, False])
async def test_a_new_host_is_asked_about_once(begin: Begin, port: int, allowed: bool) -> None:
    user = HostUser(HostAnswer(allowed, "" if allowed else "use the cache"))
    command = f"{THROUGH_PROXY} http://127.0.0.1:{port}/"
    journey = await begin([bash(f"{command}; {command}"), DONE], settings_file=_inside(), ask=user)
    (content,) = await _contents(journey)
    assert content.count("served by the host") == (2 if allowed else 0)
    assert allowed or f"the user refused 127.0.0.1:{port}: use the cache" in content
    (request,) = user.asked
    assert (request.host, request.port, request.kind) == ("127.0.0.1", port, "loopback")
    assert request.call.command == f"{command}; {command}"


async def test_what_has_no_effect_is_reported_at_the_start(begin: Begin) -> None:
    settings = _inside(network={"allowedDomains": ["https://wrong/"], "tlsTerminate": {}})
    journey = await begin([DONE], settings_file=settings)
    (note,) = (text for text in journey.assembled.notices if "sandbox" in text)
    assert note.startswith("sandbox.network.allowedDomains.0: is ignored: ")


async def test_a_project_confines_what_the_user_allows(begin: Begin, fresh_home: Path) -> None:
    outside = fresh_home / "outside"
    journey = await begin([bash("sh ./build.sh"), bash("sh ./build.sh"), DONE])
    project = journey.project
    (project / "build.sh").write_text(f"echo x > inside; echo x > {outside}\n")
    file = project / ".agent" / "settings.json"
    file.parent.mkdir()
    file.write_text(json.dumps({"sandbox": {"enabled": True}}))
    await journey.assembled.commands.context.reload_settings()
    await journey.send("go")
    assert len(journey.person.asked) == 2
    assert (project / "inside").exists()
    assert not outside.exists()


async def test_dont_ask_refuses_at_once(begin: Begin, port: int) -> None:
    user = HostUser(HostAnswer(True))
    command = f"{THROUGH_PROXY} http://127.0.0.1:{port}/"
    journey = await begin(
        [bash(command), DONE], settings_file=_inside(), ask=user, permission_mode="dontAsk"
    )
    (content,) = await _contents(journey)
    assert "no user can approve it" in content
    assert user.asked == []


async def test_a_server_of_one_call_is_there_for_the_next_and_not_for_the_host(
    begin: Begin,
) -> None:
    script = (
        "import http.server, pathlib\n"
        "server = http.server.HTTPServer(('127.0.0.1', 0), http.server.SimpleHTTPRequestHandler)\n"
        "pathlib.Path('port').write_text(str(server.server_port))\n"
        "server.serve_forever()\n"
    )
    start = ToolCall("Bash", {"command": "python3 server.py", "run_in_background": True})
    fetch = "until [ -s port ]; do sleep 0.05; done; curl -sS http://127.0.0.1:$(cat port)/port"
    journey = await begin([Turn((start,)), bash(fetch), DONE], settings_file=_inside())
    (journey.project / "server.py").write_text(script)
    content = (await _contents(journey))[-1]
    number = (journey.project / "port").read_text()
    assert number in content
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", int(number)))


async def test_settings_open_and_close_paths(begin: Begin, fresh_home: Path) -> None:
    opened, closed = fresh_home / "opened", fresh_home / "closed"
    for directory in (opened, closed):
        directory.mkdir()
    (closed / "secret").write_text("hidden words")
    settings = _inside(
        filesystem={"allowWrite": [str(opened)], "denyRead": [str(closed)], "denyWrite": ["~/p"]},
        credentials={"envVars": [{"name": "MY_HIDDEN", "mode": "deny"}]},
    )
    local = {"sandbox": {"filesystem": {"denyWrite": ["kept", "absent"]}}}
    journey = await begin(
        [
            bash(
                f"echo x > {opened}/made", f"cat {closed}/secret", "echo x > kept",
                "mkdir absent; echo x > made", "echo [$MY_HIDDEN]",
            ),
            DONE,
        ],
        settings_file=settings,
        env={"MY_HIDDEN": "hidden words"},
    )  # fmt: skip
    project = journey.project
    (project / "kept").write_text("as it was")
    file = project / ".agent" / "settings.local.json"
    file.parent.mkdir()
    file.write_text(json.dumps(local))
    await journey.assembled.commands.context.reload_settings()
    contents = await _contents(journey)
    assert (opened / "made").read_text() == "x\n"
    assert (project / "kept").read_text() == "as it was"
    assert (project / "made").exists()
    assert not (project / "absent").exists()
    assert "hidden words" not in str(contents)
    assert "[]" in contents[-1]


async def test_a_project_s_server_reaches_the_hosts_that_are_allowed(
    begin: Begin, port: int, tmp_path: Path, fresh_home: Path
) -> None:
    project = tmp_path / "a project"
    write(project / ".mcp.json", plain=plain())
    trust(fresh_home, project)
    urls = (f"http://127.0.0.1:{port}/", "http://other.example/")
    calls = [Turn((ToolCall("mcp__plain__echo", {"text": f"get {url}"}),)) for url in urls]
    settings = _inside(network={"allowedDomains": [f"127.0.0.1:{port}"]})
    journey = await begin(
        [*calls, DONE], settings_file=settings, mcp=Person("approved"), allow=("mcp__plain",)
    )
    live = await live_of(journey)
    await until(live, lambda: bool(live.tools.names("plain")))
    allowed, refused = await _contents(journey)
    assert "served by the host" in allowed
    assert "refused" in refused
