"""The first request of a process, sent before the SDK is there: the same request, the same errors.

Each case runs in a process of its own, since the SDK is loaded for good once it was needed.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

PROGRAM = r"""
import asyncio, json, sys

from agent.messages import user_message
from agent.model.anthropic import make_client
from agent.model.client import BlockDelta, ModelError, ModelRequest
from agent.model.sdk import load_sdk, loaded_sdk

case = sys.argv[1]
seen = []
STREAM = "".join(
    f"event: {data['type']}\ndata: {json.dumps(data)}\n\n"
    for data in (
        {"type": "message_start", "message": {"id": "m", "model": "m", "usage": {}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "text_delta", "text": "Hello \u4e16."},
        },
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {}},
        {"type": "message_stop"},
    )
).encode()


def answer(number):
    kind, status, body = "text/event-stream", "200 OK", STREAM
    if case == "overloaded":
        kind, status = "application/json", "529 Overloaded"
        body = json.dumps(
            {"type": "error", "error": {"type": "overloaded_error", "message": "Too busy."}}
        ).encode()
    elif case == "html":
        kind, status = "text/html", "502 Bad Gateway"
        body = b"<html><title>A proxy says no</title></html>"
    elif case == "key" and number == 0:
        kind, status, body = "application/json", "401 Unauthorized", b'{"message": "no key"}'
    elif case == "cut":
        head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: 9999\r\n\r\n"
        return head.encode() + body[:200]
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
    return f"{head}request-id: req_1\r\nretry-after: 3\r\n\r\n".encode() + body


async def serve(reader, writer):
    while True:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
        except asyncio.IncompleteReadError:
            break
        line, *lines = head.split("\r\n")
        pairs = (each.partition(":") for each in lines if each)
        headers = {name.lower(): value.strip() for name, _, value in pairs}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        writer.write(answer(len(seen)))
        has_sdk = loaded_sdk() is not None
        seen.append({"line": line, "headers": headers, "body": body.decode(), "sdk": has_sdk})
        await writer.drain()
        if case == "cut":
            break
    writer.close()


async def ask(client):
    request = ModelRequest(
        model="claude-sonnet-5",
        system=({"type": "text", "text": "Be brief."},),
        tools=(),
        messages=[user_message("half: \ud83d" if case == "surrogate" else "gr\u00fc\u00df")],
        max_tokens=100,
        betas=("one-2026", "two-2026"),
    )
    text = ""
    try:
        async for event in client.stream(request):
            if isinstance(event, BlockDelta):
                text += event.delta.get("text", "")
    except ModelError as error:
        return {
            "kind": error.kind, "status": error.status, "text": str(error), "phase": error.phase,
            "request_id": error.request_id, "headers": dict(error.headers or {}),
        }
    return text


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    if case == "refused":
        server.close()
        await server.wait_closed()
    client = make_client(
        base_url=f"http://127.0.0.1:{port}/base", api_key="secret", headers={"X-Mine": "yes"}
    )
    answers = [await ask(client)]
    before = loaded_sdk() is not None
    if case == "refused":
        load_sdk()
    answers.append(await ask(client))
    await client.aclose()
    server.close()
    for each in answers:
        if isinstance(each, dict):
            each.get("headers", {}).pop("date", None)
    json.dump({"answers": answers, "seen": seen, "loaded": before}, sys.stdout)


asyncio.run(main())
"""


def play(case: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, case],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_the_first_request_is_the_one_that_the_sdk_would_send() -> None:
    played = play("well")
    first, second = played["seen"]
    assert (first["sdk"], second["sdk"]) == (False, True)
    assert first["line"] == second["line"] == "POST /base/v1/messages HTTP/1.1"
    assert json.loads(first["body"]) == json.loads(second["body"])
    # What the SDK tells about itself is not part of the request.
    by_sdk = {k: v for k, v in second["headers"].items() if not k.startswith("x-stainless-")}
    own = {k: v for k, v in first["headers"].items() if not k.startswith("x-stainless-")}
    assert own.pop("content-length")
    assert by_sdk.pop("content-length")
    assert own == by_sdk
    assert own["anthropic-beta"] == "one-2026,two-2026"
    assert played["answers"] == ["Hello 世.", "Hello 世."]


@pytest.mark.parametrize("case", ["overloaded", "html", "cut", "refused"])
def test_a_failure_reads_the_same_with_and_without_the_sdk(case: str) -> None:
    played = play(case)
    first, second = played["answers"]
    assert isinstance(first, dict)
    assert first == second
    assert [each["sdk"] for each in played["seen"][:1]] == ([] if case == "refused" else [False])


def test_an_overloaded_server_is_named_as_such() -> None:
    error = play("overloaded")["answers"][0]
    assert (error["kind"], error["status"]) == ("overloaded_error", 529)
    assert error["text"] == "Too busy."
    assert error["request_id"] == "req_1"
    assert error["headers"]["retry-after"] == "3"


def test_the_key_is_offered_in_the_other_header_too() -> None:
    played = play("key")
    first, second, third = played["seen"]
    assert first["headers"]["authorization"] == "Bearer secret"
    assert [each["headers"].get("x-api-key") for each in (second, third)] == ["secret"] * 2
    assert "authorization" not in second["headers"]
    assert played["answers"] == ["Hello 世.", "Hello 世."]


def test_half_of_a_surrogate_pair_is_replaced() -> None:
    played = play("surrogate")
    first, second = played["seen"]
    assert json.loads(first["body"]) == json.loads(second["body"])
    assert played["answers"] == ["Hello 世.", "Hello 世."]
