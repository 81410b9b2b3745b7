"""The input of every handler mode, and the reading of models' `{ok, reason}` answers."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, Protocol

from msgspec import Struct
from msgspec.structs import replace

from hooks.answers.answer import Answer, Verdict
from hooks.answers.response import HandlerOutcome, HandlerResult, ReasonSource, settle
from hooks.config.spec import HandlerSpec
from hooks.events.capabilities import EFFECTS
from hooks.events.effects import Effects, ExitTwo, ModelRefusal
from hooks.ports import HookPorts, HookSession
from permissions.base.text.late_pattern import compile_late
from permissions.base.text.strict_json import load_json

ARGUMENTS: Final = compile_late(r"(?<!\\)\$ARGUMENTS\b")
JSON_OBJECT: Final = compile_late(r"\{.*\}", re.DOTALL)


class HookCall(Struct, frozen=True):
    """One handler about to run for one event."""

    spec: HandlerSpec
    payload: Mapping[str, object]
    """All fields of the payload; do not change it, others share it."""
    payload_json: bytes
    session: HookSession
    ports: HookPorts
    env: Mapping[str, str]
    cwd: Path
    timeout_s: float
    allowed_urls: tuple[str, ...] | None
    allowed_env_vars: frozenset[str] | None
    detach: Callable[[], None]
    """Call it when the handler announces that it continues in the background."""


class HandlerMode(Protocol):
    """Runs handlers of one type. Must not swallow cancellation; what it raises is reported."""

    async def run(self, call: HookCall) -> HandlerResult:
        """Return how the handler ended."""
        ...


class ModelAnswerError(ValueError):
    """A model's answer is not `{ok, reason}`."""


def fill_arguments(prompt: str, payload_json: bytes) -> str:
    """Insert the payload at `$ARGUMENTS`, or append it; `\\$` is a plain dollar."""
    arguments = payload_json.decode("utf-8")
    # The payload is inserted last, so that `$` in it is not interpreted.
    own = [part.replace("\\$", "$") for part in ARGUMENTS.split(prompt)]
    return arguments.join(own) if len(own) > 1 else f"{own[0]}\n\n{arguments}"


def parse_model_answer(text: str) -> Mapping[str, object]:
    """Return the object in a model's answer, whatever is around it. Raises ModelAnswerError."""
    match = JSON_OBJECT.search(text)
    if match is None:
        raise ModelAnswerError(f"the model did not answer with JSON: {text.strip()[:80]!r}")
    try:
        answer = load_json(match.group(0))
    except ValueError as error:
        raise ModelAnswerError(f"the model answered with invalid JSON: {error}") from error
    if not isinstance(answer, Mapping):
        raise ModelAnswerError("the model's JSON is not an object")
    return answer


def judge_ok(
    spec: HandlerSpec, raw: Mapping[str, object], *, continue_on_block: bool
) -> HandlerResult:
    """Convert `{ok, reason, impossible?}` to the result for the event."""
    run = HandlerResult(spec, HandlerOutcome.SUCCESS, stdout=json.dumps(raw, ensure_ascii=False))
    ok = raw.get("ok")
    if not isinstance(ok, bool):
        return run.to_failure(
            HandlerOutcome.NON_BLOCKING_ERROR, f'"ok" must be true or false, found {ok!r}'
        )
    if ok:
        return run
    text = raw.get("reason")
    reason = text if isinstance(text, str) and text.strip() else None
    effects = EFFECTS[spec.event]
    refusal = effects.model_refusal
    if refusal is ModelRefusal.IGNORED:
        note = f"ok: false has no effect on {spec.event}"
        return replace(run, answer=Answer(notes=(note,)))
    if refusal is ModelRefusal.CONTINUES and raw.get("impossible") is True:
        note = f"cannot be met, so the turn may end: {reason or 'no reason given'}"
        return replace(run, answer=Answer(notes=(note,)))
    answer = _refusal(effects, reason, continue_on_block=continue_on_block)
    result = settle(replace(run, answer=answer), effects)
    if reason is not None and result.reason_source is None:
        result = replace(result, reason_source=ReasonSource.JSON)
    return result


def _refusal(effects: Effects, reason: str | None, *, continue_on_block: bool) -> Answer:
    verdict: Verdict = "deny" if effects.exit_two is ExitTwo.DENY else "block"
    match effects.model_refusal:
        case ModelRefusal.ENDS_TURN:
            ends_turn = True
        case ModelRefusal.ENDS_TURN_UNLESS_CONTINUED:
            ends_turn = not continue_on_block
        case ModelRefusal.STOPS_UNLESS_CONTINUED if not continue_on_block:
            return Answer(proceed=False, stop_reason=reason)
        case _:
            ends_turn = False
    return Answer(
        verdict=verdict,
        reason=reason,
        proceed=not ends_turn,
        stop_reason=reason if ends_turn else None,
    )
