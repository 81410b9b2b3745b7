"""Model servers that run on this machine, found on their usual loopback ports.

Asks each port for its models, and whether it accepts Messages requests; a closed port fails
at once. Only the loopback address is contacted, with these two requests. No HTTP library is used,
because this runs during the first start.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from permissions.base.text.sanitize import sanitize

HOST: Final = "127.0.0.1"
USUAL_PORTS: Final[Mapping[int, str]] = {
    11434: "Ollama",
    8080: "llama.cpp",
    1234: "LM Studio",
    8000: "vLLM",
    4000: "LiteLLM",
}
"""Default ports, from the manuals."""
ANSWER_S: Final = 1.0
"""Time limit in seconds for both responses of a server; a slower one is not offered."""
MAX_BYTES: Final = 262_144
MAX_MODELS: Final = 50
NOT_THERE: Final = frozenset({404, 405, 501})


class LocalServer(Struct, frozen=True):
    """A server that can be used without configuration."""

    name: str
    """The product that uses this port by default."""
    base_url: str
    models: tuple[str, ...]
    """Its own names for them, at least one."""


async def find_local_servers(
    ports: Mapping[int, str] = USUAL_PORTS, *, answer_s: float = ANSWER_S
) -> tuple[LocalServer, ...]:
    """Return the servers that respond, in the order of `ports`. Never raises."""
    answers = await asyncio.gather(
        *(_ask_in_time(port, name, answer_s) for port, name in ports.items())
    )
    return tuple(server for server in answers if server is not None)


async def _ask_in_time(port: int, name: str, answer_s: float) -> LocalServer | None:
    try:
        async with asyncio.timeout(answer_s):
            return await _ask(port, name)
    except (TimeoutError, OSError, ValueError, RecursionError):
        return None


async def _ask(port: int, name: str) -> LocalServer | None:
    status, body = await _request(port, "GET", "/v1/models", b"")
    models = _models(body) if status == 200 else ()
    if not models:
        return None
    # A server of the Messages API rejects an empty request; any other does not know the path.
    status, _ = await _request(port, "POST", "/v1/messages", b"{}")
    if status in NOT_THERE:
        return None
    return LocalServer(name, f"http://localhost:{port}", models)


async def _request(port: int, method: str, path: str, body: bytes) -> tuple[int, bytes]:
    """Return status and body of one request. Raises OSError and ValueError."""
    reader, writer = await asyncio.open_connection(HOST, port)
    try:
        head = (
            f"{method} {path} HTTP/1.1\r\nHost: localhost:{port}\r\nAccept: application/json\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
            "Connection: close\r\n\r\n"
        )
        writer.write(head.encode() + body)
        await writer.drain()
        answer = b""
        while len(answer) < MAX_BYTES and (piece := await reader.read(65_536)):
            answer += piece
            if _is_complete(answer):
                break
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()
    return _parse_answer(answer)


def _is_complete(answer: bytes) -> bool:
    """Whether the response is complete, by its headers; some servers leave the connection open."""
    head, end, body = answer.partition(b"\r\n\r\n")
    if not end:
        return False
    fields = _fields(head)
    if b"chunked" in fields.get(b"transfer-encoding", b""):
        return body.endswith(b"0\r\n\r\n")
    length = fields.get(b"content-length", b"")
    return length.isdigit() and len(body) >= int(length)


def _parse_answer(answer: bytes) -> tuple[int, bytes]:
    head, _, body = answer.partition(b"\r\n\r\n")
    version, _, rest = head.partition(b" ")
    if not version.startswith(b"HTTP/1"):
        raise ValueError("no HTTP")
    status = int(rest[:3])
    if b"chunked" in _fields(head).get(b"transfer-encoding", b""):
        body = _decode_chunks(body)
    return status, body


def _fields(head: bytes) -> dict[bytes, bytes]:
    lines = (line.partition(b":") for line in head.split(b"\r\n")[1:])
    return {name.strip().lower(): value.strip().lower() for name, _, value in lines}


def _decode_chunks(body: bytes) -> bytes:
    whole = b""
    while body:
        size, _, rest = body.partition(b"\r\n")
        length = int(size.partition(b";")[0] or b"0", 16)
        if not length:
            break
        whole += rest[:length]
        body = rest[length + 2 :]
    return whole


def _models(body: bytes) -> tuple[str, ...]:
    data = json.loads(body)
    entries = data.get("data") if isinstance(data, dict) else None
    if not isinstance(entries, list):
        return ()
    names = [entry.get("id") for entry in entries if isinstance(entry, dict)]
    return _usable_names(names)


def _usable_names(names: Sequence[object]) -> tuple[str, ...]:
    """Return the usable names, at most `MAX_MODELS`, without embedding models."""
    return tuple(
        name
        for name in names
        if isinstance(name, str)
        and name
        and sanitize(name) == name
        and "\n" not in name
        and "embed" not in name.lower()
    )[:MAX_MODELS]
