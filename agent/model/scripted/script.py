"""Chooses the response to a request: the script's turns and faults, and the endpoint's rules."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from agent.model.scripted.cache import CacheSimulation
from agent.model.scripted.choose import holds, last_result, prompt_of
from agent.model.scripted.faults import Fault, Quirk, Status, WholeJson
from agent.model.scripted.frames import ScriptedAnswer, frames_of, make_answer
from agent.model.scripted.prefix import PrefixChain, chain_of, sign_summary
from agent.model.scripted.record import RecordedRequest
from agent.model.scripted.scenario import (
    FaultPlan,
    ModelInfo,
    Pace,
    RawBlock,
    Scenario,
    Text,
    Turn,
)
from agent.model.scripted.send_plan import Step, error_body, plan_body, plan_stream
from agent.model.scripted.spoken.spoken_dialect import conversation_digest
from agent.model.scripted.spoken.spoken_paths import MESSAGES, asks_for_answer, dialect_at
from agent.model.scripted.substitute import substitute
from agent.model.scripted.validate import RequestProblem, find_problem, too_long

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


class ScriptedResponse(Struct, frozen=True):
    """A response, ready to be sent on a connection."""

    status: int
    headers: Mapping[str, str]
    steps: tuple[Step, ...]
    length: int | None
    """None: the body is sent in chunks."""
    pace: Pace


class ScriptPlayer:
    """The state of a scenario: which turns and faults were used, and what is cached."""

    def __init__(
        self,
        scenario: Scenario,
        *,
        variables: Mapping[str, str],
        respond: Callable[[RecordedRequest], Turn | None] | None,
        clock: Callable[[], float],
    ) -> None:
        """See `ScriptedServer`."""
        self.scenario = scenario
        self._variables = {**scenario.variables, **variables}
        self._respond = respond
        self._cache = CacheSimulation(clock, min_tokens=scenario.min_cache_tokens)
        self._turn_uses: dict[int, int] = {}
        self._fault_uses: dict[int, int] = {}
        self._last_turns: dict[str, tuple[str, str]] = {}
        """Digest at an answer's last block to the turn's name and its stop reason."""

    def answer(self, record: RecordedRequest, raw_body: bytes) -> ScriptedResponse:
        """Return the response to a request and note the details in `record`."""
        faults = [plan.fault for plan in self._due_faults(record, turn=None)]
        for fault in faults:
            if isinstance(fault, Status):
                return self._status(record, fault, faults)
        problem = self._check_key(record)
        if problem is None and raw_body and not record.body:
            problem = RequestProblem("The request body is not valid JSON")
        if problem is None and len(raw_body) > MAX_BODY_BYTES:
            problem = RequestProblem("Request exceeds the maximum size", 413, "request_too_large")
        if problem is not None:
            return self._reject(record, problem)
        response = self._handle_post(record, faults) if record.method == "POST" else None
        if record.method in ("GET", "HEAD"):
            response = self._handle_get(record, faults)
        return response or self._reject(record, RequestProblem("Not Found", 404, "not_found_error"))

    def _handle_post(self, record: RecordedRequest, faults: list[Fault]) -> ScriptedResponse | None:
        if asks_for_answer(record.path):
            return self._messages(record, faults)
        if record.path == "/v1/messages/count_tokens" and self.scenario.count_tokens:
            return _json(200, {"input_tokens": chain_of(record.body).tokens}, faults)
        return None

    def _handle_get(self, record: RecordedRequest, faults: list[Fault]) -> ScriptedResponse | None:
        if record.path.startswith("/v1beta/models") and self.scenario.models_endpoint:
            return _google_models(self.scenario.models, record.path, faults)
        if record.path.startswith("/v1/models") and self.scenario.models_endpoint:
            return self._models(record, faults)
        if record.path == "/":
            return _json(200, {"name": f"scripted: {self.scenario.name}"}, faults)
        return None

    def _problem(
        self, record: RecordedRequest, chain: PrefixChain, model: ModelInfo, stop_reason: str
    ) -> RequestProblem | None:
        if not self.scenario.strict:
            return None
        dialect = dialect_at(record.path)
        if dialect is not None:
            return dialect.problem(record.body) or too_long(record.messages_body, chain, model)
        is_unfinished = stop_reason in ("pause_turn", "max_tokens")
        return find_problem(
            record.messages_body,
            chain,
            model,
            bound_thinking=self.scenario.bound_thinking,
            may_end_with_assistant=is_unfinished or bool(record.messages_body.get("compaction")),
        )

    def _messages(self, record: RecordedRequest, faults: list[Fault]) -> ScriptedResponse:
        body = record.messages_body
        model = self._model(str(body.get("model", "")))
        if model is None:
            return self._reject(
                record, RequestProblem(f"model: {body.get('model')}", 404, "not_found_error")
            )
        chain = chain_of(body)
        last_turn, stop_reason = self._last_turns.get(_place(chain, record), ("", ""))
        problem = self._problem(record, chain, model, stop_reason)
        if problem is not None:
            return self._reject(record, problem)
        turn = self._turn(record, last_turn)
        if turn is None:
            return self._reject(
                record, RequestProblem(f"the script has no answer for request {record.number}")
            )
        record.turn = turn.name
        if turn.fault is not None:
            faults = [*faults, turn.fault]
        faults += [plan.fault for plan in self._due_faults(record, turn=turn.name)]
        for fault in faults:
            if isinstance(fault, Status):
                return self._status(record, fault, faults)
        if body.get("compaction"):
            turn = _as_summary(turn, chain)
        usage = self._cache.usage(body, chain)
        answer = make_answer(
            self._substitute(turn, body),
            prefix=chain,
            # From the history, so that a resumed conversation never gets an id twice.
            message_id=f"msg_{chain.digest[:12]}{record.number:04d}",
            model=str(body["model"]),
            input_usage=usage,
        )
        record.usage = {**answer.start_usage, **answer.final_usage}
        self._last_turns[_place(chain, record)] = (turn.name, answer.stop_reason)
        return self._stream(record, answer, turn.pace or self.scenario.pace, faults)

    def _stream(
        self, record: RecordedRequest, answer: ScriptedAnswer, pace: Pace, faults: Sequence[Fault]
    ) -> ScriptedResponse:
        dialect = dialect_at(record.path)
        is_streamed = record.body.get("stream") or "stream" in record.path
        if not is_streamed or any(isinstance(f, WholeJson) for f in faults):
            whole = answer.message() if dialect is None else dialect.whole(answer)
            return _json(200, whole, faults)
        quirks = [fault for fault in faults if isinstance(fault, Quirk)]
        encoder = None if dialect is None else dialect.encoder(answer, record.body, quirks)
        words = pace.delta_tokens or (1 if pace.tokens_per_s else 8)
        steps = plan_stream(
            frames_of(answer, words_per_delta=words),
            faults,
            chunk_bytes=pace.chunk_bytes,
            encoder=encoder,
        )
        headers = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}
        return ScriptedResponse(200, headers, tuple(steps), None, pace)

    def _turn(self, record: RecordedRequest, last_turn: str) -> Turn | None:
        if self._respond is not None and (turn := self._respond(record)) is not None:
            return turn
        for index, turn in enumerate(self.scenario.turns):
            if turn.times and self._turn_uses.get(index, 0) >= turn.times:
                continue
            if holds(turn.when, record.messages_body, number=record.number, last_turn=last_turn):
                self._turn_uses[index] = self._turn_uses.get(index, 0) + 1
                return turn
        return self.scenario.otherwise

    def _due_faults(self, record: RecordedRequest, *, turn: str | None) -> list[FaultPlan]:
        """Return the faults that happen now: before a turn is chosen (None), or once it is."""
        due: list[FaultPlan] = []
        for index, plan in enumerate(self.scenario.faults):
            path = MESSAGES if asks_for_answer(record.path) else record.path
            if plan.path != path or plan.turn != turn:
                continue
            if plan.times and self._fault_uses.get(index, 0) >= plan.times:
                continue
            if plan.request is not None and plan.request != record.number:
                continue
            if holds(plan.when, record.messages_body, number=record.number, last_turn=""):
                self._fault_uses[index] = self._fault_uses.get(index, 0) + 1
                due.append(plan)
        return due

    def _model(self, name: str) -> ModelInfo | None:
        for model in self.scenario.models:
            if model.id == name:
                return model
        return ModelInfo(name) if self.scenario.any_model and name else None

    def _models(self, record: RecordedRequest, faults: Sequence[Fault]) -> ScriptedResponse:
        name = record.path.removeprefix("/v1/models").strip("/")
        if not name:
            records = [_model_json(model) for model in self.scenario.models]
            return _json(200, {"data": records, "has_more": False}, faults)
        model = self._model(name)
        if model is None:
            return self._reject(record, RequestProblem(f"model: {name}", 404, "not_found_error"))
        return _json(200, _model_json(model), faults)

    def _check_key(self, record: RecordedRequest) -> RequestProblem | None:
        key = self.scenario.api_key
        if key is None:
            return None
        bearer = record.headers.get("authorization", "") == f"Bearer {key}"
        api_key = key in (
            record.headers.get("x-api-key", ""),
            record.headers.get("x-goog-api-key", ""),
        )
        match self.scenario.auth_style:
            case "bearer":
                is_valid = bearer
            case "x-api-key":
                is_valid = api_key
            case "any":
                is_valid = bearer or api_key
        return (
            None if is_valid else RequestProblem("invalid x-api-key", 401, "authentication_error")
        )

    def _reject(self, record: RecordedRequest, problem: RequestProblem) -> ScriptedResponse:
        record.problem = problem.message
        return self._status(record, Status(problem.status, problem.error_type, problem.message), ())

    def _status(
        self, record: RecordedRequest, fault: Status, faults: Sequence[Fault]
    ) -> ScriptedResponse:
        request_id = f"req_{record.number:06d}"
        error_type = fault.error_type or ERROR_TYPES.get(fault.status, "api_error")
        text = fault.body
        dialect = dialect_at(record.path)
        if text is None and dialect is not None:
            text = dialect.error_body(fault.status, error_type, fault.message)
        elif text is None:
            text = error_body(error_type, fault.message, fault.error_code, request_id)
        body = text.encode()
        headers = {"content-type": fault.content_type, **fault.headers}
        return ScriptedResponse(
            fault.status, headers, tuple(plan_body(body, faults)), len(body), Pace()
        )

    def _substitute(self, turn: Turn, body: Mapping[str, object]) -> Turn:
        values = {
            "prompt": prompt_of(body),
            "result": last_result(body),
            "model": str(body.get("model", "")),
            **self._variables,
        }
        return substitute(turn, values)


def _json(status: int, value: Mapping[str, object], faults: Sequence[Fault]) -> ScriptedResponse:
    body = json.dumps(value).encode()
    headers = {"content-type": "application/json"}
    return ScriptedResponse(status, headers, tuple(plan_body(body, faults)), len(body), Pace())


def _as_summary(turn: Turn, chain: PrefixChain) -> Turn:
    """Return the turn's text as a signed summary of the request's messages."""
    text = "".join(part.text for part in turn.parts if isinstance(part, Text)) or "A summary."
    block = {
        "type": "compaction",
        "content": text,
        "encrypted_content": chain.digest,
        "signature": sign_summary(chain.digest, text),
    }
    delta = {"type": "compaction_delta", "content": text, "encrypted_content": chain.digest}
    return replace(turn, parts=(RawBlock(block, (delta,)),), stop_reason="compaction")


def _google_models(
    models: Sequence[ModelInfo], path: str, faults: Sequence[Fault]
) -> ScriptedResponse | None:
    """Return Google's list of models, or one of them; None if there is no such model."""
    records = [
        {
            "name": f"models/{model.id}",
            "inputTokenLimit": model.max_input_tokens,
            "outputTokenLimit": model.max_tokens,
            "supportedGenerationMethods": ["generateContent"],
        }
        for model in models
    ]
    name = path.removeprefix("/v1beta/")
    if name == "models":
        return _json(200, {"models": records}, faults)
    record = next((each for each in records if each["name"] == name), None)
    return None if record is None else _json(200, record, faults)


def _place(chain: PrefixChain, record: RecordedRequest) -> str:
    """Return a key for a conversation's state: a digest up to its last answer."""
    is_foreign = dialect_at(record.path) is not None
    return conversation_digest(chain) if is_foreign else _last_assistant_digest(chain)


def _last_assistant_digest(chain: PrefixChain) -> str:
    """Return the digest at the last block of an assistant message; empty if there is none."""
    for unit in reversed(chain.units):
        if unit.place == "assistant":
            return unit.digest
    return ""


def _model_json(model: ModelInfo) -> dict[str, object]:
    efforts = {effort: {"supported": True} for effort in model.efforts}
    return {
        "type": "model",
        "id": model.id,
        "display_name": model.id,
        "created_at": "2026-01-01T00:00:00Z",
        "max_input_tokens": model.max_input_tokens,
        "max_tokens": model.max_tokens,
        "capabilities": {
            "compaction": {
                "supported": model.signed_compaction,
                "summarize": {"supported": model.signed_compaction},
            },
            "context_management": {
                "supported": model.clears_tool_results or model.clears_thinking,
                "clear_thinking_20251015": {"supported": model.clears_thinking},
                "clear_tool_uses_20250919": {"supported": model.clears_tool_results},
            },
            "effort": {"supported": bool(model.efforts), **efforts},
            "server_tools": {
                "advisor": {"supported": model.advises},
                **{name: {"supported": True} for name in model.served},
            },
            "structured_outputs": {"supported": model.structured_outputs},
            "thinking": {
                "supported": model.adaptive_thinking,
                "types": {
                    "adaptive": {"supported": model.adaptive_thinking},
                    "disabled": {"supported": model.can_disable_thinking},
                    "enabled": {"supported": not model.adaptive_thinking},
                },
            },
        },
    }
