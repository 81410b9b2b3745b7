"""The bridge: who may call it, what it shows, and that an answer counts once."""

from __future__ import annotations

import asyncio
import json
import stat
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from permissions.decision import Behavior, Decision, DecisionSource
from permissions.resolve.denial_limits import DenialState
from permissions.resolve.handlers import InteractiveHandler
from permissions.resolve.http_bridge import MAX_BODY_BYTES, MAX_HEAD_BYTES, Bridge
from permissions.resolve.race import RaceAborted
from tests.permissions.resolving import NO, PENDING, REQUEST, FakeAbort, Scripted

Reply = tuple[int, dict[str, Any]]


@dataclass
class Caller:
    """Another program that talks to the bridge."""

    bridge: Bridge
    file: Path

    @property
    def access(self) -> dict[str, Any]:
        access: dict[str, Any] = json.loads(self.file.read_text())
        return access

    async def raw(self, request: bytes) -> Reply:
        port = int(self.bridge.url.rpartition(":")[2])
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            writer.write(request)
            if request.endswith(b"<eof>"):
                writer.write_eof()
            answer = await reader.read()
        finally:
            writer.close()
        head, _, body = answer.partition(b"\r\n\r\n")
        return int(head.split()[1]), json.loads(body)

    async def call(self, method: str, path: str, body: Any = None, **headers: str | None) -> Reply:
        data = b"" if body is None else json.dumps(body).encode()
        given: dict[str, str | None] = {
            "Host": self.bridge.url.removeprefix("http://"),
            "Authorization": f"Bearer {self.access['token']}",
            "Content-Length": str(len(data)),
            **headers,
        }
        lines = [f"{name}: {value}" for name, value in given.items() if value is not None]
        head = "\r\n".join([f"{method} {path} HTTP/1.1", *lines])
        return await self.raw(f"{head}\r\n\r\n".encode() + data)

    def ask(self, request: Any = REQUEST) -> asyncio.Task[Decision | None]:
        return asyncio.ensure_future(self.bridge.decide(request, PENDING))


@pytest.fixture
async def caller(tmp_path: Path) -> AsyncIterator[Caller]:
    bridge = Bridge(origins=["https://panel.example"])
    file = tmp_path / "bridge.json"
    await bridge.start(file)
    yield Caller(bridge, file)
    await bridge.aclose()


async def shown(caller: Caller) -> list[dict[str, Any]]:
    status, answer = await caller.call("GET", "/requests")
    assert status == 200
    requests: list[dict[str, Any]] = answer["requests"]
    return requests


async def test_it_says_where_it_is_to_its_owner_alone(caller: Caller) -> None:
    assert stat.S_IMODE(caller.file.stat().st_mode) == 0o600
    assert caller.access["url"] == caller.bridge.url
    assert caller.bridge.url.startswith("http://127.0.0.1:")
    assert len(caller.access["token"]) >= 40


async def test_every_session_has_a_secret_of_its_own(caller: Caller, tmp_path: Path) -> None:
    other = Bridge()
    await other.start(tmp_path / "other.json")
    assert json.loads((tmp_path / "other.json").read_text())["token"] != caller.access["token"]
    await other.aclose()


async def test_what_is_asked_can_be_listed_and_answered(caller: Caller) -> None:
    asked = caller.ask()
    (listed,) = await shown(caller)
    assert (listed["id"], listed["tool"], listed["input"]) == (
        "r1",
        "Bash",
        {"command": "git push"},
    )
    assert listed["message"] == PENDING.message

    status, answer = await caller.call("POST", "/requests/r1", {"behavior": "allow"})

    decision = await asked
    assert (status, answer) == (200, {"id": "r1", "taken": True})
    assert decision is not None
    assert (decision.behavior, decision.source) == (Behavior.ALLOW, DecisionSource.BRIDGE)
    assert await shown(caller) == []


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({"behavior": "deny"}, (Behavior.DENY, None, True)),
        ({"behavior": "deny", "message": " not now "}, (Behavior.DENY, "not now", False)),
        ({"behavior": "allow", "message": "go"}, (Behavior.ALLOW, "go", False)),
    ],
    ids=["a bare no ends the turn", "a no with a word goes on", "a yes with a word"],
)
async def test_an_answer_is_a_users(
    caller: Caller, answer: dict[str, str], expected: tuple[Behavior, str | None, bool]
) -> None:
    asked = caller.ask()
    await shown(caller)
    await caller.call("POST", "/requests/r1", answer)
    decision = await asked
    assert decision is not None
    assert (decision.behavior, decision.feedback, decision.interrupt) == expected


async def test_the_input_may_be_changed(caller: Caller) -> None:
    asked = caller.ask()
    await shown(caller)
    other = {"command": "git push --dry-run"}
    await caller.call("POST", "/requests/r1", {"behavior": "allow", "updated_input": other})
    decision = await asked
    assert decision is not None
    assert decision.updated_input == other


async def test_an_answer_counts_once(caller: Caller) -> None:
    asked = caller.ask()
    await shown(caller)
    replies = [
        await caller.call("POST", "/requests/r1", {"behavior": behavior})
        for behavior in ("deny", "allow")
    ]
    assert [status for status, _ in replies] == [200, 404]
    decision = await asked
    assert decision is not None
    assert decision.behavior is Behavior.DENY


async def test_what_the_dialog_answered_is_gone(caller: Caller) -> None:
    dialog = Scripted("dialog", NO)
    handler = InteractiveHandler([caller.bridge, dialog])
    running = asyncio.ensure_future(handler.resolve(REQUEST, PENDING, FakeAbort(), DenialState()))
    await dialog.started.wait()
    assert len(await shown(caller)) == 1
    dialog.go.set()
    assert (await running).source is DecisionSource.USER
    assert await shown(caller) == []
    assert (await caller.call("POST", "/requests/r1", {"behavior": "allow"}))[0] == 404


async def test_an_interrupted_request_disappears(caller: Caller) -> None:
    abort = FakeAbort()
    handler = InteractiveHandler([caller.bridge])
    running = asyncio.ensure_future(handler.resolve(REQUEST, PENDING, abort, DenialState()))
    assert len(await shown(caller)) == 1
    abort.fire()
    with pytest.raises(RaceAborted):
        await running
    assert await shown(caller) == []


async def test_several_requests_are_distinguished(caller: Caller) -> None:
    first = caller.ask()
    second = caller.ask(replace(REQUEST, request_id="r2"))
    assert [one["id"] for one in await shown(caller)] == ["r1", "r2"]
    await caller.call("POST", "/requests/r2", {"behavior": "allow"})
    assert (await second) is not None
    assert not first.done()
    first.cancel()


BAD_ANSWERS: list[Any] = [
    None, 3, [], {}, {"behavior": "maybe"}, {"behavior": True}, {"behavior": "allow", "x": 1},
    {"behavior": "allow", "message": 3}, {"behavior": "allow", "updated_input": "ls"},
    {"behavior": "deny", "updated_input": {}},
]  # fmt: skip


@pytest.mark.parametrize("answer", BAD_ANSWERS, ids=repr)
async def test_a_bad_answer_answers_nothing(caller: Caller, answer: Any) -> None:
    asked = caller.ask()
    await shown(caller)
    status, reply = await caller.call("POST", "/requests/r1", answer)
    assert status == 400
    assert "error" in reply
    assert not asked.done()
    asked.cancel()


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Authorization": None}, 401),
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Authorization": "Basic x"}, 401),
        ({"Host": None}, 403),
        ({"Host": "evil.example"}, 403),
        ({"Host": "127.0.0.1"}, 403),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "https://panel.example"}, 200),
    ],
    ids=repr,
)
async def test_who_may_call(caller: Caller, headers: dict[str, str | None], status: int) -> None:
    asked = caller.ask()
    await shown(caller)
    replies = [
        await caller.call("GET", "/requests", None, **headers),
        await caller.call("POST", "/requests/r1", {"behavior": "allow"}, **headers),
    ]
    assert [reply[0] for reply in replies] == [status, status]
    assert (status == 200) or not asked.done()
    if status != 200:
        assert "requests" not in replies[0][1]
    asked.cancel()


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("POST", "/requests", 405), ("GET", "/requests/r1", 405), ("GET", "/", 404),
     ("GET", "/requests/../requests/r1", 404), ("POST", "/requests/r9", 404)],
)  # fmt: skip
async def test_other_places_and_verbs_are_refused(
    caller: Caller, method: str, path: str, status: int
) -> None:
    assert (await caller.call(method, path, {"behavior": "allow"}))[0] == status


BROKEN = {
    "no HTTP": b"hello\r\n\r\n<eof>",
    "three words": b"GET / HTTP/1.1 x\r\n\r\n",
    "other version": b"GET /requests HTTP/2\r\n\r\n",
    "broken header": b"GET /requests HTTP/1.1\r\nnonsense\r\n\r\n",
    "space before colon": b"GET /requests HTTP/1.1\r\nHost : x\r\n\r\n",
    "doubled header": b"GET /requests HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    "length no number": b"GET /requests HTTP/1.1\r\nContent-Length: x\r\n\r\n",
    "negative length": b"GET /requests HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
    "chunked": b"POST /requests/r1 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
    "body too long": b"POST / HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % (MAX_BODY_BYTES + 1),
    "head too long": b"GET / HTTP/1.1\r\nX: " + b"x" * (2 * MAX_HEAD_BYTES),
    "nothing": b"<eof>",
}


@pytest.mark.parametrize("request_bytes", BROKEN.values(), ids=BROKEN.keys())
async def test_broken_requests_are_refused_and_the_next_one_works(
    caller: Caller, request_bytes: bytes
) -> None:
    status, answer = await caller.raw(request_bytes)
    assert status in {400, 413}
    assert set(answer) == {"error"}
    assert await shown(caller) == []


async def test_closing_ends_open_connections_and_removes_the_file(caller: Caller) -> None:
    port = int(caller.bridge.url.rpartition(":")[2])
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET /requests")
    await writer.drain()
    assert await shown(caller) == []  # the connection before it was accepted by now
    await caller.bridge.aclose()
    assert await reader.read() == b""
    writer.close()
    assert not caller.file.exists()
    with pytest.raises(ConnectionError):
        await asyncio.open_connection("127.0.0.1", port)
    await caller.bridge.aclose()


async def test_closed_or_nameless_it_has_no_opinion(caller: Caller) -> None:
    assert await caller.bridge.decide(replace(REQUEST, request_id=""), PENDING) is None
    await caller.bridge.aclose()
    assert await caller.bridge.decide(REQUEST, PENDING) is None


async def test_a_port_that_is_taken_is_an_error(caller: Caller, tmp_path: Path) -> None:
    other = Bridge()
    port = int(caller.bridge.url.rpartition(":")[2])
    with pytest.raises(OSError, match="address already in use"):
        await other.start(tmp_path / "other.json", port=port)


async def test_a_link_in_the_place_of_the_file_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "bridge.json").symlink_to(tmp_path / "elsewhere")
    bridge = Bridge()
    await bridge.start(tmp_path / "bridge.json")
    assert not (tmp_path / "elsewhere").exists()
    await bridge.aclose()
