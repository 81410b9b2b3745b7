"""HTTP hooks against a real server on loopback: what is sent, where, and what an answer means."""

from __future__ import annotations

import asyncio
import json
import shutil
import ssl
import subprocess
import threading
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from hooks.config.config import HookLayer
from hooks.config.spec import HandlerSpec, HookSource, HttpHandler
from hooks.events import PreToolUse
from hooks.execution.handlers.hook_call import HookCall
from hooks.execution.handlers.http import header_values, post
from hooks.ports import HookPorts
from permissions.base.network.environment_proxy import proxy_for
from tests.hooks.conftest import Place

BASH = PreToolUse(tool_name="Bash", tool_input={"command": "ls"}, tool_use_id="t1")
DENY = {
    "hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": "audited",
    }
}


@dataclass
class Server:
    """Answers every request with the same bytes and keeps what it was sent."""

    port: int = 0
    status: str = "200 OK"
    body: bytes = b""
    extra: str = ""
    hangs: bool = False
    requests: list[tuple[dict[str, str], bytes]] = field(default_factory=list)

    def url(self, host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}/audit?x=1"

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        first, *lines = head.strip().split("\r\n")
        headers = {"request": first}
        headers.update(
            (name.lower(), value) for name, _, value in (line.partition(": ") for line in lines)
        )
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        self.requests.append((headers, body))
        if self.hangs:
            await reader.read()
        else:
            answer = (
                f"HTTP/1.1 {self.status}\r\n{self.extra}content-length: {len(self.body)}\r\n\r\n"
            )
            writer.write(answer.encode() + self.body)
        writer.close()
        await writer.wait_closed()


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    made = Server()
    listening = await asyncio.start_server(made.handle, "127.0.0.1", 0)
    made.port = listening.sockets[0].getsockname()[1]
    async with listening:
        yield made


def http(url: str, **fields: object) -> dict[str, object]:
    return {"type": "http", "url": url, **fields}


async def test_the_payload_is_posted_and_the_answer_obeyed(place: Place, server: Server) -> None:
    server.body = json.dumps(DENY).encode()
    runner = place.runner(
        "PreToolUse",
        http(
            server.url(),
            headers={"Authorization": "Bearer $TOKEN", "X-Other": "[${SECRET}]"},
            allowedEnvVars=["TOKEN"],
        ),
        env={"TOKEN": "abc", "SECRET": "hidden"},
    )
    outcome = await runner.run(BASH)
    assert (outcome.decision, outcome.reason, outcome.reason_source) == ("deny", "audited", "json")
    ((headers, body),) = server.requests
    assert headers["request"] == "POST /audit?x=1 HTTP/1.1"
    assert headers["host"] == f"127.0.0.1:{server.port}"
    assert headers["authorization"] == "Bearer abc"
    assert headers["x-other"] == "[]"
    assert json.loads(body)["tool_input"] == {"command": "ls"}


async def test_a_header_is_sent_once_however_it_is_spelled(place: Place, server: Server) -> None:
    headers = {"Content-Type": "application/x-audit", "Host": "elsewhere.example"}
    runner = place.runner("PreToolUse", http(server.url(), headers=headers))
    assert (await runner.run(BASH)).outcome == "success"
    ((sent, _),) = server.requests
    assert sent["content-type"] == "application/x-audit"
    assert sent["host"] == f"127.0.0.1:{server.port}"


@pytest.mark.parametrize(
    ("status", "extra", "body", "outcome", "said"),
    [
        ("200 OK", "", b"", "success", ""),
        ("204 No Content", "", b"", "success", ""),
        ("200 OK", "", b"{}", "success", ""),
        ("200 OK", "", b"\xef\xbb\xbf{}", "success", ""),
        ("200 OK", "", b"thanks", "non_blocking_error", "not JSON"),
        ("200 OK", "", b"[1]", "non_blocking_error", "not an object"),
        ("403 Forbidden", "", b"no way", "non_blocking_error", "HTTP 403: no way"),
        ("500 Oops", "", b'{"decision": "block"}', "non_blocking_error", "HTTP 500"),
        ("302 Found", "location: http://10.0.0.1/\r\n", b"", "non_blocking_error", "not followed"),
        ("200 OK", "", b'{"continue": 3}', "non_blocking_error", "continue must be"),
    ],
)
async def test_a_status_never_blocks(
    place: Place, server: Server, status: str, extra: str, body: bytes, outcome: str, said: str
) -> None:
    server.status, server.extra, server.body = status, extra, body
    got = await place.runner("PreToolUse", http(server.url())).run(BASH)
    assert (got.outcome, got.decision, got.proceeds) == (outcome, "none", True)
    assert len(server.requests) == 1
    assert all(said in line for line in got.notices)


async def test_a_server_that_never_answers_is_given_up(place: Place, server: Server) -> None:
    server.hangs = True
    got = await place.runner("PreToolUse", http(server.url(), timeout=0.2)).run(BASH)
    assert got.outcome == "cancelled"
    assert "timed out after 0.2 s" in got.notices[0]
    closed = http(server.url(), timeout=0.2, onFailure="block")
    assert (await place.runner("PreToolUse", closed).run(BASH)).decision == "deny"


def test_a_name_server_that_does_not_answer_keeps_nothing_from_ending(place: Place) -> None:
    release, answered = threading.Event(), []

    def resolve(host: str) -> list[str]:
        release.wait(20)
        answered.append(host)
        return []

    handler = http("http://slow.example/", timeout=0.05)
    runner = place.runner("PreToolUse", handler, ports=HookPorts(resolve=resolve))
    # `run` also waits for the threads of its pool.
    got = asyncio.run(runner.run(BASH))
    assert (got.outcome, answered) == ("cancelled", [])
    release.set()


async def test_a_refused_connection_is_an_error(place: Place) -> None:
    listening = await asyncio.start_server(lambda r, w: None, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    listening.close()
    await listening.wait_closed()
    got = await place.runner("PreToolUse", http(f"http://127.0.0.1:{port}/")).run(BASH)
    assert got.outcome == "non_blocking_error"
    assert "request failed" in got.notices[0]


async def test_localhost_is_reached_by_name(place: Place, server: Server) -> None:
    got = await place.runner("PreToolUse", http(server.url("localhost"))).run(BASH)
    assert got.outcome == "success", got.notices
    assert server.requests[0][0]["host"] == f"localhost:{server.port}"


@pytest.mark.parametrize("addresses", [["10.0.0.1"], ["127.0.0.1"], ["8.8.8.8", "fc00::1"], []])
async def test_a_name_with_a_private_address_is_never_contacted(
    place: Place, server: Server, addresses: list[str]
) -> None:
    ports = HookPorts(resolve=lambda host: addresses)
    got = await place.runner("PreToolUse", http(server.url("evil.test")), ports=ports).run(BASH)
    assert got.outcome == "non_blocking_error"
    assert "not sent" in got.notices[0]
    assert server.requests == []


async def test_the_name_is_resolved_once_so_that_it_cannot_change_its_mind(place: Place) -> None:
    asked: list[str] = []

    def rebinding(host: str) -> list[str]:
        asked.append(host)
        return ["192.0.2.1"] if len(asked) == 1 else ["127.0.0.1"]

    ports = HookPorts(resolve=rebinding)
    runner = place.runner("PreToolUse", http("http://rebind.test/", timeout=0.2), ports=ports)
    await runner.run(BASH)
    assert asked == ["rebind.test"]


def self_signed(place: Place, name: str) -> tuple[Path, Path]:
    """Return a certificate for a host name, and its key."""
    certificate, key = place.root / "cert.pem", place.root / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
         "-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{name}",
         "-out", str(certificate), "-keyout", str(key)],
        check=True,
        capture_output=True,
    )  # fmt: skip
    return certificate, key


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs the openssl program")
@pytest.mark.parametrize(
    ("name", "served"), [("hooks.test", True), ("other.test", False)], ids=["right", "wrong"]
)
async def test_the_checked_address_is_connected_to_under_the_urls_name(
    place: Place, name: str, served: bool
) -> None:
    """A public address can't be listened on, so the request is made one layer below the check."""
    certificate, key = self_signed(place, name)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)
    names: list[str | None] = []
    context.sni_callback = lambda socket, sni, context: names.append(sni)
    server = Server()
    listening = await asyncio.start_server(server.handle, "127.0.0.1", 0, ssl=context)
    port = listening.sockets[0].getsockname()[1]
    handler = HttpHandler(f"https://hooks.test:{port}/x", {})
    spec = HandlerSpec("PreToolUse", None, handler, HookSource.USER, 0)
    call = HookCall(
        spec=spec,
        payload={},
        payload_json=b"{}",
        session=place.session(),
        ports=HookPorts(),
        env={"SSL_CERT_FILE": str(certificate)},
        cwd=place.project,
        timeout_s=5,
        allowed_urls=None,
        allowed_env_vars=None,
        detach=lambda: None,
    )
    async with listening:
        if served:
            assert (await post(call, handler, ("127.0.0.1",), None)).status == 200
            assert server.requests[0][0]["host"] == f"hooks.test:{port}"
        else:
            with pytest.raises(OSError, match="certificate"):
                await post(call, handler, ("127.0.0.1",), None)
            assert server.requests == []
    assert names == ["hooks.test"]


@pytest.mark.parametrize(
    ("settings", "sent"),
    [
        ({}, True),
        ({"allowedHttpHookUrls": []}, False),
        ({"allowedHttpHookUrls": ["https://*"]}, False),
        ({"allowedHttpHookUrls": ["http://127.0.0.1:*/*"]}, True),
    ],
)
async def test_allow_lists_of_urls(
    place: Place, server: Server, settings: dict[str, object], sent: bool
) -> None:
    section = {"PreToolUse": [{"hooks": [http(server.url())]}]}
    runner = place.layered(HookLayer(HookSource.USER, {"hooks": section, **settings}))
    await runner.run(BASH)
    assert bool(server.requests) is sent


async def test_async_requests_are_not_waited_for(place: Place, server: Server) -> None:
    runner = place.runner("PreToolUse", http(server.url(), **{"async": True}))
    assert (await runner.run(BASH)).outcome == "async"
    await runner.background.wait()
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("allowed", "outer", "expected"),
    [
        (("A",), None, "1-"),
        (("A", "B"), frozenset({"B"}), "-2"),
        ((), None, "-"),
        (("A",), frozenset(), "-"),
    ],
)
def test_header_variables_need_both_lists(
    allowed: tuple[str, ...], outer: frozenset[str] | None, expected: str
) -> None:
    handler = HttpHandler("http://x", {"H": "$A-${B}"}, allowed)
    assert header_values(handler, {"A": "1", "B": "2"}, outer) == {"H": expected}


def test_a_header_whose_variable_is_empty_can_still_be_sent() -> None:
    assert header_values(HttpHandler("http://x", {"H": "Bearer $A"}), {}, None) == {"H": "Bearer"}


def test_header_values_cannot_add_lines() -> None:
    handler = HttpHandler("http://x", {"H": "$A"}, ("A",))
    assert header_values(handler, {"A": "1\r\nX: 2"}, None) == {"H": "1X: 2"}


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({}, None),
        ({"HTTPS_PROXY": "http://p:1"}, "http://p:1"),
        ({"https_proxy": "http://p:1", "no_proxy": "a.com, example.org"}, None),
        ({"ALL_PROXY": "http://p:1", "NO_PROXY": "other.org"}, "http://p:1"),
        ({"HTTP_PROXY": "http://p:1"}, None),
    ],
)
def test_a_proxy_is_found_in_the_environment(env: Mapping[str, str], expected: str | None) -> None:
    assert proxy_for("https://hooks.example.org/x", env) == expected
    assert proxy_for("http://localhost:9000/", {"ALL_PROXY": "http://p:1"}) is None


async def test_a_proxy_is_named_because_it_hides_the_destination(
    place: Place, server: Server
) -> None:
    ports = HookPorts(resolve=lambda host: ["93.184.216.34"])
    env = {"http_proxy": f"http://127.0.0.1:{server.port}"}
    runner = place.runner("PreToolUse", http("http://hooks.test/x"), ports=ports, env=env)
    outcome = await runner.run(BASH)
    assert server.requests[0][0]["request"].startswith("POST http://hooks.test/x ")
    assert any("could not be checked" in line for line in outcome.notices)
