"""One model response: stream it, retry it while that makes sense, and say how it ended.

A failed attempt is withdrawn with a `Tombstone`, so that screen and history never show half an
answer twice. Next: `agent.model.message_builder`, `agent.recovery.classify`,
`agent.recovery.retry`.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Literal, assert_never

from msgspec import Struct, field
from msgspec.structs import replace

from agent.abort import Aborted, AbortSignal, has_fired
from agent.events import (
    AgentEvent,
    ModelFallback,
    Notice,
    RequestStart,
    RetryScheduled,
    TextDelta,
    ThinkingDelta,
    Tombstone,
    ToolInputDelta,
    Usage,
)
from agent.messages import Message, ToolUse, new_uid, text_block
from agent.model.client import (
    BlockDelta,
    BlockStart,
    ModelClient,
    ModelError,
    ModelEvent,
    ModelRequest,
)
from agent.model.message_builder import MessageBuilder
from agent.recovery.breaker import Breakers
from agent.recovery.classify import Failure, classify
from agent.recovery.escalation import Degrade, Fail, RetryAfter, RetryState, SwitchModel, climb
from agent.recovery.retry import RetryPolicy, heartbeat_chunks


class Recovery(Struct):
    """How the requests of one agent recover; shared by its turns, so that lessons are kept."""

    policy: RetryPolicy
    endpoint: str
    breakers: Breakers = field(default_factory=Breakers)
    fallback_models: tuple[str, ...] = ()
    """Take over for the rest of a prompt, the next one where one fails as well."""
    refresh: Callable[[], Awaitable[bool]] | None = None
    """Read the credentials anew; returns whether they changed."""
    without: frozenset[str] = frozenset()
    """Features the endpoint does not take, learnt from its answers."""
    fallen_back_to: str | None = None
    """The model that took over for the rest of the prompt."""
    rng: random.Random = field(default_factory=random.Random)
    monotonic: Callable[[], float] = time.monotonic
    wall_clock: Callable[[], float] = time.time


class Answered(Struct, frozen=True):
    """The model's response is whole."""

    message: Message
    tool_uses: tuple[ToolUse, ...]
    stop_reason: str | None
    stop_detail: str
    """For users: why it was refused, where the endpoint says; else empty."""
    usage: Usage
    type: Literal["answered"] = "answered"


class Interrupted(Struct, frozen=True):
    """The abort signal fired; `message` holds what was complete, None when nothing was."""

    message: Message | None
    tool_uses: tuple[ToolUse, ...]
    usage: Usage
    type: Literal["interrupted"] = "interrupted"


class Failed(Struct, frozen=True):
    """No response could be had; retries, where they made sense, are used up."""

    fail: Fail
    error: ModelError
    message: Message | None
    """What of the last attempt was complete."""
    type: Literal["failed"] = "failed"

    @property
    def failure(self) -> Failure:
        """Why the last attempt failed."""
        return self.fail.failure


TurnResult = Answered | Interrupted | Failed


class ModelTurn:
    """One model response. Iterate `run`, then read `result`."""

    def __init__(
        self,
        client: ModelClient,
        recovery: Recovery,
        request: ModelRequest,
        *,
        turn_id: str,
        step: int,
        agent_id: str | None,
    ) -> None:
        """`step` counts the model requests of the prompt, from 1."""
        self._client = client
        self._recovery = recovery
        self._request = request
        self._turn_id = turn_id
        self._step = step
        self._agent_id = agent_id
        self._uid = new_uid()
        self._calls: dict[int, tuple[str, str]] = {}
        self.result: TurnResult | None = None
        """Set when `run` has ended."""

    async def run(self, abort: AbortSignal) -> AsyncIterator[AgentEvent]:
        """Yield the events of this response, retries included."""
        state = RetryState()
        started = self._recovery.monotonic()
        if self._recovery.fallen_back_to is not None:
            self._request = replace(self._request, model=self._recovery.fallen_back_to)
        async for event in self._wait_for_breaker(abort):
            yield event
        while True:
            if abort.aborted:
                self.result = Interrupted(None, (), Usage())
                return
            request = replace(self._request, without=self._request.without | self._recovery.without)
            yield RequestStart(
                self._turn_id,
                self._step,
                request.model,
                state.attempts + 1,
                agent_id=self._agent_id,
            )
            fold = MessageBuilder(self._uid)
            self._calls.clear()
            error: ModelError | None = None
            shown = False
            reader = _Reader(self._client, request, abort)
            try:
                async for item in reader:
                    fold.feed(item)
                    for delta in self._deltas(item):
                        shown = True
                        yield delta
            except ModelError as failed:
                error = failed
            finally:
                await reader.aclose()
            if has_fired(abort) and not fold.complete:
                message, uses = self._partial(fold)
                self.result = Interrupted(message, uses, fold.usage)
                return
            if error is None and not fold.complete:
                error = ModelError("cut", "The answer ended before it was whole.", phase="stream")
            if error is None:
                self._recovery.breakers.succeeded(self._recovery.endpoint)
                self.result = self._answered(fold)
                return
            failure = classify(error, now=self._recovery.wall_clock())
            state, rung = climb(
                state,
                failure,
                policy=self._recovery.policy,
                rng=self._recovery.rng,
                elapsed_s=self._recovery.monotonic() - started,
                fallback_model=self._fallback(),
                may_refresh=self._recovery.refresh is not None,
            )
            if isinstance(rung, Fail):
                self._recovery.breakers.failed(
                    self._recovery.endpoint, failure, self._recovery.monotonic()
                )
                message, _ = self._partial(fold)
                self.result = Failed(rung, error, message)
                return
            if shown:
                yield Tombstone(
                    self._turn_id, self._uid, str(failure.kind), agent_id=self._agent_id
                )
                self._uid = new_uid()
            async for event in self._act(rung, abort):
                yield event

    async def _act(
        self, rung: RetryAfter | SwitchModel | Degrade, abort: AbortSignal
    ) -> AsyncIterator[AgentEvent]:
        """Do what the ladder says before the next attempt; every wait is visible and ends at
        Esc."""
        match rung:
            case RetryAfter():
                if rung.max_tokens is not None:
                    self._request = replace(self._request, max_tokens=rung.max_tokens)
                if rung.refresh_credentials and self._recovery.refresh is not None:
                    with contextlib.suppress(Aborted):
                        await abort.race(self._recovery.refresh())
                async for event in self._sleep(rung.delay_s, rung.attempt, rung.reason, abort):
                    yield event
            case SwitchModel():
                yield ModelFallback(
                    self._turn_id,
                    self._request.model,
                    rung.model,
                    rung.reason,
                    agent_id=self._agent_id,
                )
                self._request = replace(self._request, model=rung.model)
                self._recovery.fallen_back_to = rung.model
            case Degrade():
                self._recovery.without |= {rung.feature}
                yield Notice(
                    self._turn_id,
                    "info",
                    f"{rung.reason} It is left out from now on.",
                    agent_id=self._agent_id,
                )
            case _:
                assert_never(rung)

    async def _sleep(
        self, delay_s: float, attempt: int, reason: str, abort: AbortSignal
    ) -> AsyncIterator[AgentEvent]:
        left = delay_s
        for chunk in heartbeat_chunks(delay_s) if delay_s > 0 else ():
            yield RetryScheduled(
                self._turn_id,
                attempt,
                None if self._recovery.policy.persistent else self._recovery.policy.max_retries + 1,
                left,
                reason,
                agent_id=self._agent_id,
            )
            if await abort.sleep(chunk):
                return
            left -= chunk

    async def _wait_for_breaker(self, abort: AbortSignal) -> AsyncIterator[AgentEvent]:
        recovery = self._recovery
        while not recovery.breakers.admit(recovery.endpoint, recovery.monotonic()):
            wait_s = recovery.breakers.get(recovery.endpoint).retry_at - recovery.monotonic()
            reason = "The endpoint failed several times in a row; giving it a moment."
            async for event in self._sleep(max(0.1, wait_s), 1, reason, abort):
                yield event
            if abort.aborted:
                return

    def _fallback(self) -> str | None:
        """Return the next model of the list; None at its end."""
        models, current = self._recovery.fallback_models, self._recovery.fallen_back_to
        rest = models[models.index(current) + 1 :] if current in models else models
        return next((model for model in rest if model != self._request.model), None)

    def _deltas(self, event: ModelEvent) -> tuple[AgentEvent, ...]:
        if isinstance(event, BlockStart):
            if event.block.get("type") == "tool_use":
                self._calls[event.index] = (
                    str(event.block.get("id", "")),
                    str(event.block.get("name", "")),
                )
                return (self._tool_delta(event.index, ""),)
            text = event.block.get("text")
            if event.block.get("type") == "text" and text:
                return (self._text_delta(event.index, str(text)),)
            return ()
        if not isinstance(event, BlockDelta):
            return ()
        delta = event.delta
        match delta.get("type"):
            case "text_delta" if delta.get("text"):
                return (self._text_delta(event.index, str(delta["text"])),)
            case "thinking_delta" if delta.get("thinking"):
                return (
                    ThinkingDelta(
                        self._turn_id,
                        self._uid,
                        event.index,
                        str(delta["thinking"]),
                        agent_id=self._agent_id,
                    ),
                )
            case "input_json_delta" if delta.get("partial_json") and event.index in self._calls:
                return (self._tool_delta(event.index, str(delta["partial_json"])),)
            case _:
                return ()

    def _text_delta(self, index: int, text: str) -> TextDelta:
        return TextDelta(self._turn_id, self._uid, index, text, agent_id=self._agent_id)

    def _tool_delta(self, index: int, partial_json: str) -> ToolInputDelta:
        tool_use_id, name = self._calls[index]
        return ToolInputDelta(
            self._turn_id,
            self._uid,
            tool_use_id,
            name,
            partial_json,
            agent_id=self._agent_id,
        )

    def _answered(self, fold: MessageBuilder) -> Answered:
        details = fold.stop_details or {}
        detail = ": ".join(
            str(details[key]) for key in ("category", "explanation") if details.get(key)
        )
        return Answered(fold.message(), fold.tool_uses(), fold.stop_reason, detail, fold.usage)

    def _partial(self, fold: MessageBuilder) -> tuple[Message | None, tuple[ToolUse, ...]]:
        """Return what of an unfinished answer may stay: whole blocks, and the text so far."""
        message = fold.message()
        if fold.partial_text.strip():
            text = text_block(fold.partial_text)
            message = replace(message, content=(*message.content, text))
        return (message if message.content else None), fold.tool_uses()


_END = object()


class _Reader:
    """Reads the stream in a task of its own, so that an abort ends a silent connection at once."""

    def __init__(self, client: ModelClient, request: ModelRequest, abort: AbortSignal) -> None:
        self._queue: asyncio.Queue[object] = asyncio.Queue(maxsize=32)
        self._abort = abort
        self._reading = asyncio.ensure_future(self._read(client, request))
        self._watching = asyncio.ensure_future(self._watch())

    async def _read(self, client: ModelClient, request: ModelRequest) -> None:
        try:
            async for event in client.stream(request):
                await self._queue.put(event)
        except ModelError as error:
            await self._queue.put(error)
        else:
            await self._queue.put(_END)

    async def _watch(self) -> None:
        """End the reading when the abort fires, or when it broke in a way nobody foresaw."""
        aborted = asyncio.ensure_future(self._abort.wait())
        try:
            await asyncio.wait({aborted, self._reading}, return_when=asyncio.FIRST_COMPLETED)
            if not self._reading.done():
                self._reading.cancel()
                await asyncio.wait({self._reading})
            if self._reading.cancelled():
                await self._queue.put(_END)
                return
            error = self._reading.exception()
            if error is not None:
                await self._queue.put(
                    ModelError("malformed", f"{type(error).__name__}: {error}", phase="stream")
                )
        finally:
            aborted.cancel()

    async def __aiter__(self) -> AsyncIterator[ModelEvent]:
        while True:
            item = await self._queue.get()
            if item is _END:
                return
            if isinstance(item, ModelError):
                raise item
            yield item  # type: ignore[misc]  # the queue holds events, errors and the end mark

    async def aclose(self) -> None:
        for task in (self._reading, self._watching):
            task.cancel()
        await asyncio.wait({self._reading, self._watching})
