"""Servers on loopback: asked shortly, believed only when they answer as model servers do."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.model.local_servers import LocalServer, _parse_answer, find_local_servers

MODELS = json.dumps({"data": [{"id": "qwen3:8b"}, {"id": "nomic-embed-text"}, {"id": "gpt-oss"}]})


def answer(status: str, body: str, *fields: str) -> bytes:
    head = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *fields]
    return ("\r\n".join(head) + "\r\n\r\n" + body).encode()


def model_server(request: bytes) -> bytes:
    if request.startswith(b"GET /v1/models "):
        return answer("200 OK", MODELS)
    return answer("400 Bad Request", '{"type": "error"}')


def without_messages(request: bytes) -> bytes:
    if request.startswith(b"GET"):
        return answer("200 OK", MODELS)
    return answer("404 Not Found", "")


def chunked(request: bytes) -> bytes:
    if not request.startswith(b"GET"):
        return answer("422 Unprocessable", "")
    half = len(MODELS) // 2
    parts = "".join(f"{len(p):x}\r\n{p}\r\n" for p in (MODELS[:half], MODELS[half:]))
    head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    return f"{head}{parts}0\r\n\r\n".encode()


@asynccontextmanager
async def listening(respond: Callable[[bytes], bytes]) -> AsyncIterator[int]:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(respond(await reader.readuntil(b"\r\n\r\n")))
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        port: int = server.sockets[0].getsockname()[1]
        yield port


@pytest.mark.parametrize("respond", [model_server, chunked])
async def test_a_model_server_is_found_with_its_models(
    respond: Callable[[bytes], bytes],
) -> None:
    async with listening(respond) as port:
        assert await find_local_servers({port: "Ollama"}) == (
            LocalServer("Ollama", f"http://localhost:{port}", ("qwen3:8b", "gpt-oss")),
        )


@pytest.mark.parametrize(
    "respond",
    [
        without_messages,
        lambda _: answer("200 OK", "<html>a web server</html>"),
        lambda _: answer("200 OK", '{"data": []}'),
        lambda _: answer("200 OK", '{"data": [{"id": "evil\\u001b[31m"}]}'),
        lambda _: answer("401 Unauthorized", MODELS),
        lambda _: b"SSH-2.0-OpenSSH_9.9\r\n",
        lambda _: b"",
        lambda _: b"HTTP/1.1 abc\r\n\r\n",
        lambda _: b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nx0\r\n\r\n",
    ],
)
async def test_anything_else_is_no_model_server(respond: Callable[[bytes], bytes]) -> None:
    async with listening(respond) as port:
        assert await find_local_servers({port: "?"}) == ()


async def test_a_server_that_says_nothing_is_not_waited_for() -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        assert await find_local_servers({port: "?"}, answer_s=0.05) == ()


@given(st.binary(max_size=200))
def test_no_answer_breaks_the_reading(data: bytes) -> None:
    try:
        status, _ = _parse_answer(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + data)
    except ValueError:
        return
    assert status == 200
