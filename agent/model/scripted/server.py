"""The scripted server: the Messages API on a loopback port, answered from a scenario."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Final, assert_never

from agent.model.scripted.cache import CacheSimulation
from agent.model.scripted.choose import holds, last_result, prompt_of
from agent.model.scripted.connection import BadRequest, Connection, HttpRequest, HungUp
from agent.model.scripted.faults import Fault, Status, WholeJson
from agent.model.scripted.frames import Answer, frames_of, make_answer
from agent.model.scripted.plan import (
    End,
    Head,
    Send,
    Step,
    Wait,
    error_body,
    plan_body,
    plan_stream,
)
from agent.model.scripted.prefix import PrefixChain, chain_of
from agent.model.scripted.scenario import FaultPlan, ModelInfo, Pace, Scenario, Turn
from agent.model.scripted.substitute import substitute
from agent.model.scripted.validate import Problem, find_problem

MAX_BODY_BYTES: Final = 32 * 1024 * 1024

ERROR_TYPES: Final[Mapping[int, str]] = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    408: "timeout_error",
    409: "conflict_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}


@dataclass(slots=True)
class RecordedRequest:
    """What was asked and how it was answered; filled in while the answer is sent."""

    number: int
    """Among requests of the same path, from 1."""
    method: str
    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]
    """The JSON body; empty when there is none."""
    connection: int = 0
    """Number of the connection it came on, from 1."""
    turn: str = ""
    """Name of the turn that answered; empty when none did."""
    status: int = 0
    """HTTP status that was sent; 0 while none was."""
    problem: str = ""
    """Why the request was rejected."""
    usage: Mapping[str, Any] = field(default_factory=dict)
    hung_up: bool = False
    """The client left before the answer was whole."""
    started_at: float = 0.0
    """Seconds on the server's clock."""
    ended_at: float = 0.0
    """0 while the answer is being sent."""
    done: asyncio.Event = field(default_factory=asyncio.Event)


class ScriptedServer:
    """Serves one scenario; `async with` it, or `start` and `aclose`.

    `requests` holds the requests to `/v1/messages` in order of arrival, `others` all the rest.
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
            respond: asked first for every request; a turn it returns goes before the script's.
            on_done: told of every request when its answer has ended.
            clock: seconds, for pacing and the cache simulation.
        """
        self.scenario = scenario
        self.requests: list[RecordedRequest] = []
        self.others: list[RecordedRequest] = []
        self.base_url = ""
        self._variables = {**scenario.variables, **(variables or {})}
        self._respond = respond
        self._on_done = on_done
        self._clock = clock
        self._cache = CacheSimulation(clock, min_tokens=scenario.min_cache_tokens)
        self._used: dict[int, int] = {}
        self._struck: dict[int, int] = {}
        self._written: dict[str, tuple[str, str]] = {}
        self._numbers: dict[str, int] = {}
        self._holds: dict[str, tuple[asyncio.Event, asyncio.Event]] = {}
        self._arrived = asyncio.Condition()
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
        """Listen on loopback and return the base URL; port 0 takes a free one."""
        self._server = await asyncio.start_server(
            self._on_connection, "127.0.0.1", port, limit=64 * 1024
        )
        bound = self._server.sockets[0].getsockname()[1]
        self.base_url = f"http://127.0.0.1:{bound}"
        return self.base_url

    async def aclose(self) -> None:
        """Stop listening and end every connection."""
        if self._server is not None:
            self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._server is not None:
            await self._server.wait_closed()
            self._server = None

    async def wait_for_request(self, number: int = 1) -> RecordedRequest:
        """Return the `number`-th request to `/v1/messages` (from 1) once it has arrived."""
        async with self._arrived:
            await self._arrived.wait_for(lambda: len(self.requests) >= number)
        return self.requests[number - 1]

    async def reached(self, hold: str) -> None:
        """Return once an answer waits at the stall with this name."""
        await self._hold(hold)[0].wait()

    def release(self, hold: str) -> None:
        """Let the answer at the stall with this name go on, now or when it gets there."""
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
        connection = Connection(reader, writer, self._connections)
        try:
            while (request := await connection.read_request()) is not None:
                if not await self._serve(connection, request):
                    break
        except (BadRequest, HungUp, ConnectionError):
            pass
        except asyncio.CancelledError:
            # The server is closing: the connection ends here, and nobody awaits this task further.
            pass
        finally:
            self._tasks.discard(task)
            with contextlib.suppress(asyncio.CancelledError):
                await connection.close()

    async def _serve(self, connection: Connection, request: HttpRequest) -> bool:
        """Answer one request; return whether the connection can be used again."""
        record = await self._record(request, connection.number)
        response = self._answer(record, request)
        try:
            await connection.until_hang_up(self._perform(connection, record, response))
        except HungUp:
            record.hung_up = True
            return False
        finally:
            record.ended_at = self._clock()
            record.done.set()
            if self._on_done is not None:
                self._on_done(record)
        return isinstance(response.steps[-1], End) and response.steps[-1].how in ("finish", "end")

    async def _record(self, request: HttpRequest, connection: int) -> RecordedRequest:
        try:
            body = json.loads(request.body) if request.body else {}
        except ValueError:
            body = {}
        number = self._numbers[request.path] = self._numbers.get(request.path, 0) + 1
        record = RecordedRequest(
            number=number,
            method=request.method,
            path=request.path,
            headers=request.headers,
            body=body if isinstance(body, dict) else {},
            connection=connection,
            started_at=self._clock(),
        )
        log = self.requests if request.path == "/v1/messages" else self.others
        async with self._arrived:
            log.append(record)
            self._arrived.notify_all()
        return record

    def _answer(self, record: RecordedRequest, request: HttpRequest) -> _Response:
        faults = [plan.fault for plan in self._due(record, turn=None)]
        for fault in faults:
            if isinstance(fault, Status):
                return self._status(record, fault, faults)
        problem = self._unauthorised(record)
        if problem is None and len(request.body) > MAX_BODY_BYTES:
            problem = Problem("Request exceeds the maximum size", 413, "request_too_large")
        if problem is not None:
            return self._rejected(record, problem)
        if record.method == "POST" and record.path == "/v1/messages":
            return self._messages(record, faults)
        if record.method == "POST" and record.path == "/v1/messages/count_tokens":
            if self.scenario.count_tokens:
                return _json(200, {"input_tokens": chain_of(record.body).tokens}, faults)
        elif record.method in ("GET", "HEAD") and record.path.startswith("/v1/models"):
            if self.scenario.models_endpoint:
                return self._models(record, faults)
        elif record.method in ("GET", "HEAD") and record.path == "/":
            return _json(200, {"name": f"scripted: {self.scenario.name}"}, faults)
        return self._rejected(record, Problem("Not Found", 404, "not_found_error"))

    def _messages(self, record: RecordedRequest, faults: list[Fault]) -> _Response:
        body = record.body
        model = self._model(str(body.get("model", "")))
        if model is None:
            return self._rejected(
                record, Problem(f"model: {body.get('model')}", 404, "not_found_error")
            )
        chain = chain_of(body)
        after, stop_reason = self._written.get(_last_assistant_digest(chain), ("", ""))
        if self.scenario.strict:
            problem = find_problem(
                body,
                chain,
                model,
                bound_thinking=self.scenario.bound_thinking,
                may_end_with_assistant=stop_reason in ("pause_turn", "max_tokens"),
            )
            if problem is not None:
                return self._rejected(record, problem)
        turn = self._turn(record, after)
        if turn is None:
            return self._rejected(
                record, Problem(f"the script has no answer for request {record.number}")
            )
        record.turn = turn.name
        if turn.fault is not None:
            faults = [*faults, turn.fault]
        faults += [plan.fault for plan in self._due(record, turn=turn.name)]
        for fault in faults:
            if isinstance(fault, Status):
                return self._status(record, fault, faults)
        usage = self._cache.usage(body, chain)
        answer = make_answer(
            self._substituted(turn, body),
            prefix=chain,
            message_id=f"msg_{len(self.requests):06d}",
            model=str(body["model"]),
            input_usage=usage,
        )
        record.usage = {**answer.start_usage, **answer.final_usage}
        self._written[_last_assistant_digest(chain)] = (turn.name, answer.stop_reason)
        return self._stream(record, answer, turn.pace or self.scenario.pace, faults)

    def _stream(
        self, record: RecordedRequest, answer: Answer, pace: Pace, faults: Sequence[Fault]
    ) -> _Response:
        if not record.body.get("stream") or any(isinstance(f, WholeJson) for f in faults):
            return _json(200, answer.message(), faults)
        words = pace.delta_tokens or (1 if pace.tokens_per_s else 8)
        steps = plan_stream(
            frames_of(answer, words_per_delta=words), faults, chunk_bytes=pace.chunk_bytes
        )
        headers = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}
        return _Response(200, headers, tuple(steps), None, pace)

    def _turn(self, record: RecordedRequest, after: str) -> Turn | None:
        if self._respond is not None and (turn := self._respond(record)) is not None:
            return turn
        for at, turn in enumerate(self.scenario.turns):
            if turn.times and self._used.get(at, 0) >= turn.times:
                continue
            if holds(turn.when, record.body, number=record.number, after=after):
                self._used[at] = self._used.get(at, 0) + 1
                return turn
        return self.scenario.otherwise

    def _due(self, record: RecordedRequest, *, turn: str | None) -> list[FaultPlan]:
        """Return the faults that strike now: before a turn is chosen (None), or once it is."""
        due: list[FaultPlan] = []
        for at, plan in enumerate(self.scenario.faults):
            if plan.path != record.path or plan.turn != turn:
                continue
            if plan.times and self._struck.get(at, 0) >= plan.times:
                continue
            if plan.request is not None and plan.request != record.number:
                continue
            if holds(plan.when, record.body, number=record.number, after=""):
                self._struck[at] = self._struck.get(at, 0) + 1
                due.append(plan)
        return due

    def _model(self, name: str) -> ModelInfo | None:
        for model in self.scenario.models:
            if model.id == name:
                return model
        return ModelInfo(name) if self.scenario.any_model and name else None

    def _models(self, record: RecordedRequest, faults: Sequence[Fault]) -> _Response:
        name = record.path.removeprefix("/v1/models").strip("/")
        if not name:
            listed = [_model_json(model) for model in self.scenario.models]
            return _json(200, {"data": listed, "has_more": False}, faults)
        model = self._model(name)
        if model is None:
            return self._rejected(record, Problem(f"model: {name}", 404, "not_found_error"))
        return _json(200, _model_json(model), faults)

    def _unauthorised(self, record: RecordedRequest) -> Problem | None:
        wanted = self.scenario.api_key
        if wanted is None:
            return None
        bearer = record.headers.get("authorization", "") == f"Bearer {wanted}"
        api_key = record.headers.get("x-api-key", "") == wanted
        match self.scenario.auth_style:
            case "bearer":
                known = bearer
            case "x-api-key":
                known = api_key
            case "any":
                known = bearer or api_key
        return None if known else Problem("invalid x-api-key", 401, "authentication_error")

    def _rejected(self, record: RecordedRequest, problem: Problem) -> _Response:
        record.problem = problem.message
        return self._status(record, Status(problem.status, problem.error_type, problem.message), ())

    def _status(self, record: RecordedRequest, fault: Status, faults: Sequence[Fault]) -> _Response:
        request_id = f"req_{record.number:06d}"
        error_type = fault.error_type or ERROR_TYPES.get(fault.status, "api_error")
        text = fault.body
        if text is None:
            text = error_body(error_type, fault.message, fault.error_code, request_id)
        body = text.encode()
        headers = {"content-type": fault.content_type, **fault.headers}
        return _Response(fault.status, headers, tuple(plan_body(body, faults)), len(body), Pace())

    def _substituted(self, turn: Turn, body: Mapping[str, Any]) -> Turn:
        values = {
            "prompt": prompt_of(body),
            "result": last_result(body),
            "model": str(body.get("model", "")),
            **self._variables,
        }
        return substitute(turn, values)

    async def _perform(
        self, connection: Connection, record: RecordedRequest, response: _Response
    ) -> None:
        pace = response.pace
        if pace.first_token_s:
            await asyncio.sleep(pace.first_token_s)
        started = self._clock()
        tokens = 0
        for step in response.steps:
            match step:
                case Head():
                    record.status = response.status
                    headers = {**response.headers, "request-id": f"req_{record.number:06d}"}
                    await connection.send_head(response.status, headers, length=response.length)
                case Send(data, step_tokens):
                    tokens += step_tokens
                    if pace.tokens_per_s and step_tokens:
                        ahead = started + tokens / pace.tokens_per_s - self._clock()
                        if ahead > 0:
                            await asyncio.sleep(ahead)
                    if response.length is None:
                        await connection.send_chunk(data)
                    else:
                        await connection.send_raw(data)
                case Wait():
                    await self._wait(step)
                case End(how):
                    await _end(connection, how, chunked=response.length is None)
                case _:
                    assert_never(step)

    async def _wait(self, step: Wait) -> None:
        if step.seconds is not None:
            await asyncio.sleep(step.seconds)
            return
        # A stall without a name lasts until the client leaves.
        reached, released = self._hold(step.hold) if step.hold else (asyncio.Event(),) * 2
        if step.hold:
            reached.set()
        await released.wait()


@dataclass(frozen=True, slots=True)
class _Response:
    status: int
    headers: Mapping[str, str]
    steps: tuple[Step, ...]
    length: int | None
    """None: the body is sent in chunks."""
    pace: Pace


async def _end(connection: Connection, how: str, *, chunked: bool) -> None:
    match how:
        case "reset":
            connection.reset()
        case "close":
            await connection.close()
        case _:
            if chunked:
                await connection.end_chunks()


def _json(status: int, value: Mapping[str, Any], faults: Sequence[Fault]) -> _Response:
    body = json.dumps(value).encode()
    headers = {"content-type": "application/json"}
    return _Response(status, headers, tuple(plan_body(body, faults)), len(body), Pace())


def _last_assistant_digest(chain: PrefixChain) -> str:
    """Return the digest at the last block an assistant wrote; empty when none did."""
    for unit in reversed(chain.units):
        if unit.place == "assistant":
            return unit.digest
    return ""


def _model_json(model: ModelInfo) -> dict[str, Any]:
    efforts = {effort: {"supported": True} for effort in model.efforts}
    return {
        "type": "model",
        "id": model.id,
        "display_name": model.id,
        "created_at": "2026-01-01T00:00:00Z",
        "max_input_tokens": model.max_input_tokens,
        "max_tokens": model.max_tokens,
        "capabilities": {
            "effort": {"supported": bool(model.efforts), **efforts},
            "thinking": {
                "supported": model.adaptive_thinking,
                "types": {
                    "adaptive": {"supported": model.adaptive_thinking},
                    "enabled": {"supported": not model.adaptive_thinking},
                },
            },
        },
    }
