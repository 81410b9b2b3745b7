"""The scripted server: the Messages API on a loopback port, answered from a scenario.

Requests in OpenAI's and Google's dialects get responses in theirs, too
(`agent.model.scripted.spoken`).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import assert_never

from agent.model.scripted.record import RecordedRequest
from agent.model.scripted.scenario import Scenario, Turn
from agent.model.scripted.script import ScriptedResponse, ScriptPlayer
from agent.model.scripted.send_plan import End, Send, SendHead, Wait
from agent.model.scripted.server_connection import BadRequest, HttpRequest, HungUp, ServerConnection
from agent.model.scripted.spoken.spoken_paths import (
    MESSAGES,
    as_messages,
    asks_for_answer,
    dialect_at,
)

__all__ = ["RecordedRequest", "ScriptedServer"]

_ACCEPTING_TURNS = 4
"""Iterations of the event loop until an accepted connection has a task that can be cancelled.

A server that is closed earlier drops the socket without closing it.
"""


class ScriptedServer:
    """Serves one scenario; `async with` it, or `start` and `aclose`.

    `requests` holds the requests for answers in order of arrival, `others` all the rest.
    """

    def __init__(
        self,
        scenario: Scenario,
        *,
        variables: Mapping[str, str] | None = None,
        respond: Callable[[RecordedRequest], Turn | None] | None = None,
        on_done: Callable[[RecordedRequest], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Prepare; nothing listens yet.

        Args:
            scenario: the script.
            variables: replace `${name}` in its texts and tool inputs.
            respond: called first for every request; a turn that it returns replaces the script's.
            on_done: called with every request when its response has ended.
            clock: returns seconds, for pacing and the cache simulation.
        """
        self.scenario = scenario
        self.requests: list[RecordedRequest] = []
        self.others: list[RecordedRequest] = []
        self.base_url = ""
        self._script = ScriptPlayer(
            scenario, variables=variables or {}, respond=respond, clock=clock
        )
        self._on_done = on_done
        self._clock = clock
        self._numbers: dict[str, int] = {}
        self._holds: dict[str, tuple[asyncio.Event, asyncio.Event]] = {}
        self._connections = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> ScriptedServer:
        """Start on a free port."""
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop."""
        await self.aclose()

    async def start(self, port: int = 0) -> str:
        """Listen on loopback and return the base URL; port 0 selects a free one."""
        self._server = await asyncio.start_server(
            self._on_connection, "127.0.0.1", port, limit=64 * 1024
        )
        actual_port = self._server.sockets[0].getsockname()[1]
        self.base_url = f"http://127.0.0.1:{actual_port}"
        return self.base_url

    async def aclose(self) -> None:
        """Stop listening and end every connection."""
        if self._server is not None:
            for listening in self._server.sockets:
                asyncio.get_running_loop().remove_reader(listening.fileno())
            for _ in range(_ACCEPTING_TURNS):
                await asyncio.sleep(0)
            self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._server is not None:
            await self._server.wait_closed()
            self._server = None

    async def wait_for_hold(self, hold: str) -> None:
        """Return once an answer waits at the stall with this name."""
        await self._hold(hold)[0].wait()

    def release(self, hold: str) -> None:
        """Let the answer at the stall with this name continue, now or when it gets there."""
        self._hold(hold)[1].set()

    def _hold(self, name: str) -> tuple[asyncio.Event, asyncio.Event]:
        return self._holds.setdefault(name, (asyncio.Event(), asyncio.Event()))

    async def _on_connection(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self._connections += 1
        connection = ServerConnection(reader, writer, self._connections)
        try:
            while (request := await connection.read_request()) is not None:
                if not await self._serve(connection, request):
                    break
        except (BadRequest, HungUp, ConnectionError):
            pass
        except asyncio.CancelledError:
            # The server is closing, and nothing awaits this task.
            pass
        finally:
            # Tracked until it is closed, so that the server's end waits for it.
            try:
                with contextlib.suppress(asyncio.CancelledError):
                    await connection.close()
            finally:
                self._tasks.discard(task)

    async def _serve(self, connection: ServerConnection, request: HttpRequest) -> bool:
        """Answer one request; return whether the connection can be used again."""
        record = self._record(request, connection.number)
        response = self._script.answer(record, request.body)
        try:
            await connection.until_hang_up(self._perform(connection, record, response))
        except HungUp:
            record.hung_up = True
            return False
        finally:
            record.ended_at = self._clock()
            record.done_event.set()
            if self._on_done is not None:
                self._on_done(record)
        return isinstance(response.steps[-1], End) and response.steps[-1].how in ("finish", "end")

    def _record(self, request: HttpRequest, connection: int) -> RecordedRequest:
        try:
            body = json.loads(request.body) if request.body else {}
        except ValueError:
            body = {}
        path, body = as_messages(request.path, body if isinstance(body, dict) else {})
        is_answer = asks_for_answer(path)
        numbering = MESSAGES if is_answer else path
        number = self._numbers[numbering] = self._numbers.get(numbering, 0) + 1
        dialect = dialect_at(path)
        record = RecordedRequest(
            number=number,
            method=request.method,
            path=path,
            headers=request.headers,
            body=body,
            messages_body=dialect.canonical(path, body) if dialect is not None else body,
            connection=connection,
            started_at=self._clock(),
        )
        log = self.requests if is_answer else self.others
        log.append(record)
        return record

    async def _perform(
        self, connection: ServerConnection, record: RecordedRequest, response: ScriptedResponse
    ) -> None:
        pace = response.pace
        if pace.first_token_s:
            await asyncio.sleep(pace.first_token_s)
        start_s = self._clock()
        tokens = 0
        for step in response.steps:
            match step:
                case SendHead():
                    record.status = response.status
                    headers = {**response.headers, "request-id": f"req_{record.number:06d}"}
                    await connection.send_head(response.status, headers, length=response.length)
                case Send(data, step_tokens):
                    tokens += step_tokens
                    if pace.tokens_per_s and step_tokens:
                        ahead = start_s + tokens / pace.tokens_per_s - self._clock()
                        await asyncio.sleep(max(0.0, ahead))
                    if response.length is None:
                        await connection.send_chunk(data)
                    else:
                        await connection.send_raw(data)
                case Wait():
                    await self._wait(step)
                case End(how):
                    await _end(connection, how, is_chunked=response.length is None)
                case _:
                    assert_never(step)

    async def _wait(self, step: Wait) -> None:
        if step.seconds is not None:
            await asyncio.sleep(step.seconds)
            return
        # A stall without a name lasts until the client leaves.
        is_waiting, may_continue = self._hold(step.hold) if step.hold else (asyncio.Event(),) * 2
        if step.hold:
            is_waiting.set()
        await may_continue.wait()


async def _end(connection: ServerConnection, how: str, *, is_chunked: bool) -> None:
    match how:
        case "reset":
            connection.reset()
        case "close":
            await connection.close()
        case _:
            if is_chunked:
                await connection.end_chunks()
