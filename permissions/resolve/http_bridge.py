"""The bridge: a loopback HTTP endpoint on which another program lists and answers open requests.

`GET /requests` lists what is being asked, `POST /requests/{id}` answers
(`permissions.resolve.remote_request`). Every call needs the session's secret; the host must be
spelled as loopback, and an origin, which browsers send, must be a configured one. Off unless the
user's or managed settings turn it on.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import os
import secrets
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from permissions.decision import Decision, DecisionSource
from permissions.request import PermissionRequest
from permissions.resolve.contender_authority import BRIDGE
from permissions.resolve.remote_request import BadAnswer, decision_from, request_json

if TYPE_CHECKING:
    from permissions.resolve.contender import Contender

MAX_HEAD_BYTES: Final = 16 * 1024
MAX_BODY_BYTES: Final = 256 * 1024
MAX_CONNECTIONS: Final = 16
PATIENCE_S: Final = 10.0
"""How long a caller may take for one request."""

_REASONS: Final = {
    200: "OK",
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    413: "Content Too Large",
    503: "Service Unavailable",
}


class _Asked(Struct, frozen=True):
    request: PermissionRequest
    pending: Decision
    answer: asyncio.Future[Decision]


class _Call(Struct, frozen=True):
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class _Refused(Exception):
    def __init__(self, status: int, message: str) -> None:
        self.status = status
        self.message = message
        super().__init__(message)


class Bridge:
    """Answers over HTTP; a contender for every ask while the server runs."""

    name = BRIDGE

    def __init__(self, *, origins: Iterable[str] = (), secret: str | None = None) -> None:
        """`origins` may call from a browser. If `secret` is None, a new one is generated."""
        self._origins = frozenset(origins)
        self._secret = secret or secrets.token_urlsafe(32)
        self._questions: dict[str, _Asked] = {}
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self._port = 0
        self._file: Path | None = None

    @property
    def url(self) -> str:
        """The URL that it listens on; without a port before `start`."""
        return f"http://127.0.0.1:{self._port}"

    async def start(self, file: Path, *, port: int = 0) -> None:
        """Listen, and write address and secret to a file that only its owner can read.

        Raises:
            OSError: the port is taken, or the file cannot be written.
        """
        self._server = await asyncio.start_server(
            self._on_connection, "127.0.0.1", port, limit=MAX_HEAD_BYTES
        )
        self._port = self._server.sockets[0].getsockname()[1]
        with suppress(FileNotFoundError):
            file.unlink()
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            with os.fdopen(os.open(file, flags, 0o600), "w", encoding="utf-8") as stream:
                json.dump({"url": self.url, "token": self._secret, "pid": os.getpid()}, stream)
        except OSError:
            await self.aclose()
            raise
        self._file = file

    async def aclose(self) -> None:
        """Stop listening, end open connections, remove the file; safe to call twice."""
        if self._file is not None:
            self._file.unlink(missing_ok=True)
            self._file = None
        if self._server is None:
            return
        self._server.close()
        connections = tuple(self._connections)
        for task in connections:
            task.cancel()
        if connections:
            await asyncio.wait(connections)
        await self._server.wait_closed()
        self._server = None

    async def decide(self, request: PermissionRequest, pending: Decision) -> Decision | None:
        """Show the request on the endpoint until it is answered there, or cancelled."""
        if self._server is None or not request.request_id:
            return None
        answer: asyncio.Future[Decision] = asyncio.get_running_loop().create_future()
        self._questions[request.request_id] = _Asked(request, pending, answer)
        try:
            return await answer
        finally:
            del self._questions[request.request_id]

    # -- HTTP -------------------------------------------------------------------------------

    async def _on_connection(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            status, answer = await self._answer(reader)
            with suppress(ConnectionError, TimeoutError):
                writer.write(_response(status, answer))
                await asyncio.wait_for(writer.drain(), PATIENCE_S)
        except asyncio.CancelledError:
            # The bridge closes; the streams' own callback would report a cancellation as an error.
            return
        finally:
            self._connections.discard(task)
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader) -> tuple[int, dict[str, object]]:
        try:
            if len(self._connections) > MAX_CONNECTIONS:
                raise _Refused(503, "too many connections")
            call = await asyncio.wait_for(_read(reader), PATIENCE_S)
            self._admit(call)
            return 200, self._route(call)
        except _Refused as refusal:
            return refusal.status, {"error": refusal.message}
        except TimeoutError:
            return 400, {"error": "the request did not arrive in time"}
        except (asyncio.IncompleteReadError, ValueError, ConnectionError):
            return 400, {"error": "this request is not supported here"}

    def _admit(self, call: _Call) -> None:
        # A web page could get here through a name that resolves to loopback (DNS rebinding).
        if call.headers.get("host") not in {f"127.0.0.1:{self._port}", f"localhost:{self._port}"}:
            raise _Refused(403, "the host must be 127.0.0.1")
        origin = call.headers.get("origin")
        if origin is not None and origin not in self._origins:
            raise _Refused(403, "this origin is not configured in permissionBridge.origins")
        authorization = call.headers.get("authorization", "").encode("utf-8", "replace")
        if not hmac.compare_digest(authorization, f"Bearer {self._secret}".encode()):
            raise _Refused(401, "send the session's token: Authorization: Bearer …")

    def _route(self, call: _Call) -> dict[str, object]:
        if call.path == "/requests":
            if call.method != "GET":
                raise _Refused(405, "GET lists requests")
            return {"requests": [request_json(one.request, one.pending) for one in self._open()]}
        head, _, identity = call.path.rpartition("/")
        if head != "/requests":
            raise _Refused(404, "only /requests and /requests/{id} exist")
        if call.method != "POST":
            raise _Refused(405, "POST answers a request")
        question = self._questions.get(identity)
        if question is None or question.answer.done():
            raise _Refused(404, "no such request is open; it may have been answered already")
        try:
            question.answer.set_result(decision_from(json.loads(call.body), DecisionSource.BRIDGE))
        except BadAnswer as error:
            raise _Refused(400, str(error)) from error
        except (ValueError, RecursionError) as error:
            raise _Refused(400, "the body must be JSON") from error
        return {"id": identity, "taken": True}

    def _open(self) -> list[_Asked]:
        return [question for question in self._questions.values() if not question.answer.done()]


async def _read(reader: asyncio.StreamReader) -> _Call:
    """Read one request. Raises _Refused, ValueError and what streams raise."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.LimitOverrunError as error:
        raise _Refused(413, f"the head is longer than {MAX_HEAD_BYTES} bytes") from error
    first, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
    method, path, version = first.split(" ")
    if not version.startswith("HTTP/1."):
        raise ValueError(version)
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        name = name.lower()
        if not colon or name != name.strip() or name in headers:
            raise ValueError("a malformed or repeated header")
        headers[name] = value.strip()
    if "transfer-encoding" in headers:
        raise _Refused(400, "send a Content-Length")
    length = int(headers.get("content-length", "0"))
    if not 0 <= length <= MAX_BODY_BYTES:
        raise _Refused(413, f"the body is longer than {MAX_BODY_BYTES} bytes")
    return _Call(method, path, headers, await reader.readexactly(length))


def _response(status: int, answer: dict[str, object]) -> bytes:
    body = json.dumps(answer, default=str).encode()
    return (
        f"HTTP/1.1 {status} {_REASONS[status]}\r\n"
        "Content-Type: application/json\r\n"
        "Cache-Control: no-store\r\n"
        f"Content-Length: {len(body)}\r\n"
        "Connection: close\r\n\r\n"
    ).encode() + body


if TYPE_CHECKING:

    def _check_protocol(bridge: Bridge) -> Contender:
        return bridge
