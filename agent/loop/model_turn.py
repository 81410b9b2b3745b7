"""One model response: stream it, retry failures if that may help, and return the outcome.

A failed attempt is withdrawn with a `Tombstone`, so that screen and history never show a partial
answer twice. Next: `agent.model.message_builder`, `agent.recovery.classify`,
`agent.recovery.retry`.
"""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Awaitable, Callable
from typing import Literal, assert_never

from msgspec import Struct, field
from msgspec.structs import replace

from agent.abort import Aborted, AbortSignal, has_fired
from agent.events import (
    AgentEvent,
    ModelFallback,
    RequestStart,
    RetryScheduled,
    TextDelta,
    ThinkingDelta,
    Tombstone,
    ToolInputDelta,
    Usage,
)
from agent.loop.server_calls import ServerCalls
from agent.loop.stream_reader import StreamReader
from agent.messages import Message, ToolUse, new_uid, text_block
from agent.model.client import (
    BlockDelta,
    BlockStart,
    MessageStart,
    ModelClient,
    ModelError,
    ModelEvent,
    ModelRequest,
)
from agent.model.message_builder import MessageBuilder
from agent.recovery.breaker import Breaker, Breakers, BreakerState
from agent.recovery.classify import Failure, FailureKind, classify
from agent.recovery.escalation import (
    Degrade,
    Fail,
    RetryAfter,
    RetryState,
    SwitchModel,
    next_action,
)
from agent.recovery.overflow import AnswerRoom
from agent.recovery.retry import RetryPolicy, heartbeat_chunks
from agent.stream import TurnEvents


class Recovery(Struct):
    """How the requests of one agent recover; shared by its turns."""

    policy: RetryPolicy
    endpoint: str
    room: AnswerRoom
    breakers: Breakers = field(default_factory=Breakers)
    fallback_models: tuple[str, ...] = ()
    """Models that take over for the rest of a prompt, in this order."""
    refresh: Callable[[], Awaitable[bool]] | None = None
    """Reads the credentials again; returns whether they changed."""
    without: dict[str, frozenset[str]] = field(default_factory=dict)
    """Features that endpoints rejected, by provider."""
    learn_limits: Callable[[str, int | None, int | None], None] = lambda *_: None
    """Receives a model, and its window and output limit if an error named them, in tokens."""
    fallen_back_to: str | None = None
    """The model that took over for the rest of the prompt."""
    rng: random.Random = field(default_factory=random.Random)
    monotonic: Callable[[], float] = time.monotonic
    wall_clock: Callable[[], float] = time.time


class Answered(Struct, frozen=True):
    """The model's response is complete."""

    message: Message
    tool_uses: tuple[ToolUse, ...]
    stop_reason: str | None
    stop_detail: str
    """For users: the endpoint's reason for a refusal; empty without one."""
    usage: Usage
    asides: tuple[tuple[str, Usage], ...] = ()
    """Other models that the endpoint used, with their usage."""
    type: Literal["answered"] = "answered"

    @property
    def has_calls(self) -> bool:
        """Whether there are calls to run."""
        return bool(self.tool_uses)

    @property
    def has_content(self) -> bool:
        """Whether it has content for the history."""
        return bool(self.message.content)


class Interrupted(Struct, frozen=True):
    """The abort signal fired; `message` has the complete blocks, None if there are none."""

    message: Message | None
    tool_uses: tuple[ToolUse, ...]
    usage: Usage
    type: Literal["interrupted"] = "interrupted"


class Failed(Struct, frozen=True):
    """There is no response, and no retries are left or would help."""

    fail: Fail
    error: ModelError
    message: Message | None
    """The complete blocks of the last attempt; None if there are none."""
    type: Literal["failed"] = "failed"

    @property
    def failure(self) -> Failure:
        """Why the last attempt failed."""
        return self.fail.failure


TurnResult = Answered | Interrupted | Failed


class ModelTurn:
    """One model response. Await `run`."""

    def __init__(
        self,
        client: ModelClient,
        recovery: Recovery,
        request: ModelRequest,
        events: TurnEvents,
        *,
        step: int,
    ) -> None:
        """`step` counts the model requests of the prompt, from 1."""
        self._client = client
        self._recovery = recovery
        self._request = request
        self._events = events
        self._step = step
        self._policy = recovery.policy
        self._uid = new_uid()
        self._api_id: str | None = None
        self._calls: dict[int, tuple[str, str]] = {}
        self._has_deltas = False

    async def run(self, abort: AbortSignal) -> TurnResult:
        """Emit the events of this response, including retries, and return the outcome."""
        state = RetryState()
        recovery = self._recovery
        start_s = recovery.monotonic()
        if recovery.fallen_back_to is not None:
            self._request = replace(self._request, model=recovery.fallen_back_to)
        self._request = recovery.room.fit(self._request)
        refusal = await self._pass_breaker(abort)
        if refusal is not None:
            return refusal
        while True:
            if abort.aborted:
                return Interrupted(None, (), Usage())
            fold = MessageBuilder(self._uid)
            error = await self._attempt(fold, state.attempts + 1, abort)
            if has_fired(abort) and not fold.complete:
                message, uses = _partial_answer(fold)
                return Interrupted(message, uses, fold.usage)
            if error is None:
                recovery.breakers.record_success(*self._server, recovery.monotonic())
                return _to_answered(fold)
            failure = classify(error, now=recovery.wall_clock())
            self._learn_limits(failure)
            state, action = next_action(
                state,
                failure,
                policy=self._policy,
                rng=recovery.rng,
                elapsed_s=recovery.monotonic() - start_s,
                fallback_model=self._fallback(),
                may_refresh=recovery.refresh is not None,
                without=self._without,
            )
            if isinstance(action, Fail | SwitchModel):
                recovery.breakers.record_failure(*self._server, failure, recovery.monotonic())
                self._policy = recovery.policy
            if isinstance(action, Fail):
                return Failed(action, error, _partial_answer(fold)[0])
            await self._withdraw(str(failure.kind))
            await self._carry_out(action, abort)

    async def _attempt(
        self, fold: MessageBuilder, attempt: int, abort: AbortSignal
    ) -> ModelError | None:
        """Stream one response into `fold`; return the error if it failed, or None."""
        request = replace(self._request, without=self._without)
        await self._emit(
            RequestStart(
                self._events.turn_id,
                self._step,
                request.model,
                attempt,
                agent_id=self._events.agent_id,
            )
        )
        self._calls.clear()
        self._has_deltas = False
        reader = StreamReader(self._client, request, abort)
        server = ServerCalls(self._events)
        try:
            while (item := await reader.next()) is not None:
                fold.feed(item)
                for event in server.on_event(item, fold):
                    await self._events.emit(event)
                delta = self._delta(item)
                if delta is not None:
                    self._has_deltas = True
                    await self._emit(delta)
        except ModelError as error:
            return error
        finally:
            await reader.aclose()
            for event in server.close():
                await self._events.emit(event)
        if fold.complete:
            return None
        return ModelError("cut", "The answer ended before it was whole.", phase="stream")

    def _learn_limits(self, failure: Failure) -> None:
        """Report limits that an error named, so that later requests respect them too."""
        window = failure.overflow.limit_tokens if failure.overflow is not None else None
        if window is not None or failure.output_limit is not None:
            self._recovery.learn_limits(self._request.model, window, failure.output_limit)

    async def _withdraw(self, reason: str) -> None:
        """Withdraw what a failed attempt has shown."""
        if self._has_deltas:
            agent_id = self._events.agent_id
            await self._emit(Tombstone(self._events.turn_id, self._uid, reason, agent_id=agent_id))
            self._uid = new_uid()

    async def _carry_out(
        self, action: RetryAfter | SwitchModel | Degrade, abort: AbortSignal
    ) -> None:
        """Carry out a recovery action; every wait is reported and can be ended by an abort."""
        match action:
            case RetryAfter():
                if action.max_tokens is not None:
                    self._request = replace(self._request, max_tokens=action.max_tokens)
                    if action.failure is not None and action.failure.overflow is not None:
                        self._recovery.room.note(self._request)
                if action.refresh_credentials and self._recovery.refresh is not None:
                    with contextlib.suppress(Aborted):
                        await abort.race(self._recovery.refresh())
                await self._sleep(action, abort)
            case SwitchModel():
                await self._emit(
                    ModelFallback(
                        self._events.turn_id,
                        self._request.model,
                        action.model,
                        action.reason,
                        agent_id=self._events.agent_id,
                    )
                )
                self._request = replace(self._request, model=action.model)
                self._recovery.fallen_back_to = action.model
            case Degrade():
                disabled_features = self._recovery.without.get(self._provider, frozenset())
                self._recovery.without[self._provider] = disabled_features | {action.feature}
                # Inputs are always checked here, so users lose nothing without strict tools.
                if action.feature != "strict":
                    await self._events.notice(
                        "info", f"{action.reason} It is left out from now on."
                    )
            case _:
                assert_never(action)

    async def _sleep(self, wait: RetryAfter, abort: AbortSignal) -> None:
        policy, failure = self._recovery.policy, wait.failure
        kind = failure.kind if failure is not None else FailureKind.UNKNOWN
        remaining_s = wait.delay_s
        for chunk in heartbeat_chunks(remaining_s) if remaining_s > 0 else ():
            await self._emit(
                RetryScheduled(
                    self._events.turn_id,
                    wait.attempt,
                    None if policy.persistent else policy.retries(kind) + 1,
                    remaining_s,
                    wait.reason,
                    kind,
                    failure.status if failure is not None else None,
                    agent_id=self._events.agent_id,
                )
            )
            if await abort.sleep(chunk):
                return
            remaining_s -= chunk

    async def _pass_breaker(self, abort: AbortSignal) -> Failed | None:
        """Switch to another model if this one is known to be down, or return the failure at once.

        Only an unattended run waits here. A request that a half-open breaker admits is not retried.
        """
        recovery = self._recovery
        breakers = recovery.breakers
        while not abort.aborted and not breakers.admit(*self._server, recovery.monotonic()):
            breaker = breakers.get(*self._server)
            model = self._fallback()
            if model is not None:
                await self._carry_out(SwitchModel(model, _failure_text(breaker)), abort)
            elif recovery.policy.persistent:
                wait_s = breaker.retry_at - recovery.monotonic()
                reason, failure = _failure_text(breaker), breaker.last_failure
                await self._sleep(RetryAfter(max(0.1, wait_s), 1, reason, failure=failure), abort)
            elif recovery.policy.probes_at_once:
                breakers.probe(*self._server, recovery.monotonic())
                break
            else:
                return _refusal(breaker)
        if breakers.get(*self._server).state is BreakerState.HALF_OPEN:
            self._policy = replace(recovery.policy, max_retries=0)
        return None

    @property
    def _server(self) -> tuple[str, str]:
        """Key of the breaker: endpoint and model."""
        return self._recovery.endpoint, self._request.model

    @property
    def _provider(self) -> str:
        """The part of the model's name before the slash; empty without a slash."""
        head, slash, _ = self._request.model.partition("/")
        return head if slash else ""

    @property
    def _without(self) -> frozenset[str]:
        """The features that the request must not use."""
        disabled_features = self._recovery.without.get(self._provider, frozenset())
        return self._request.without | disabled_features

    async def _emit(self, event: AgentEvent) -> None:
        await self._events.emit(event)

    def _fallback(self) -> str | None:
        """Return the next fallback model; None at the end of the list."""
        models, current = self._recovery.fallback_models, self._recovery.fallen_back_to
        rest = models[models.index(current) + 1 :] if current in models else models
        return next((model for model in rest if model != self._request.model), None)

    def _delta(self, event: ModelEvent) -> AgentEvent | None:
        """Return the agent event for an event of the stream; None if there is none."""
        match event:
            case MessageStart():
                self._api_id = event.api_id
                return None
            case BlockStart(index, {"type": "tool_use", **block}):
                self._calls[index] = (str(block.get("id", "")), str(block.get("name", "")))
                return self._tool_delta(index, "")
            case BlockStart(index, {"type": "text", "text": text}) if text:
                return self._text_delta(index, str(text))
            case BlockDelta(index, {"type": "text_delta", "text": text}) if text:
                return self._text_delta(index, str(text))
            case BlockDelta(index, {"type": "thinking_delta", "thinking": text}) if text:
                events = self._events
                return ThinkingDelta(
                    events.turn_id,
                    self._uid,
                    index,
                    str(text),
                    agent_id=events.agent_id,
                    api_id=self._api_id,
                )
            case BlockDelta(index, {"type": "input_json_delta", "partial_json": text}) if (
                text and index in self._calls
            ):
                return self._tool_delta(index, str(text))
            case _:
                return None

    def _text_delta(self, index: int, text: str) -> TextDelta:
        events = self._events
        return TextDelta(
            events.turn_id,
            self._uid,
            index,
            text,
            agent_id=events.agent_id,
            api_id=self._api_id,
        )

    def _tool_delta(self, index: int, partial_json: str) -> ToolInputDelta:
        tool_use_id, name = self._calls[index]
        return ToolInputDelta(
            self._events.turn_id,
            self._uid,
            tool_use_id,
            name,
            partial_json,
            agent_id=self._events.agent_id,
            api_id=self._api_id,
        )


def _failure_text(breaker: Breaker) -> str:
    last = f" ({breaker.last_failure.message})" if breaker.last_failure is not None else ""
    return f"The last requests failed{last}"


def _refusal(breaker: Breaker) -> Failed:
    kind = FailureKind.UNKNOWN if breaker.last_failure is None else breaker.last_failure.kind
    message = f"Not sent. {_failure_text(breaker)}"
    failure = Failure(kind, retryable=True, message=message)
    return Failed(Fail(failure, 0, message), ModelError("unavailable", message), None)


def _to_answered(fold: MessageBuilder) -> Answered:
    details = fold.stop_details or {}
    detail = ": ".join(str(details[key]) for key in ("category", "explanation") if details.get(key))
    uses = fold.tool_uses()
    return Answered(fold.message(), uses, fold.stop_reason, detail, fold.usage, fold.asides)


def _partial_answer(fold: MessageBuilder) -> tuple[Message | None, tuple[ToolUse, ...]]:
    """Return the usable parts of a partial answer: complete blocks, and the text so far."""
    message = fold.message()
    if fold.partial_text.strip():
        text = text_block(fold.partial_text)
        message = replace(message, content=(*message.content, text))
    return (message if message.content else None), fold.tool_uses()
