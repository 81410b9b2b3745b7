"""One conversation in one project: it takes prompts and yields agent events.

It holds the history; it does not know the screen, session files or the network protocol.
Made by `agent.assembly.assemble`. Next: `agent.conversation.prompt_opening`, `agent.loop.loop`
(what one prompt does).
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack
from functools import partial
from typing import Final

from msgspec.structs import replace

from agent.abort import AbortController, AbortSignal
from agent.commands.service import CommandService
from agent.conversation.controls import ConversationControls
from agent.conversation.conversation_ports import ConversationParts
from agent.conversation.conversation_view import ConversationState, ConversationView, StatusView
from agent.conversation.hook_signals import HookSignals
from agent.conversation.prompt_opening import open_prompt, open_wake
from agent.conversation.prompt_queue import PromptQueue
from agent.conversation.rewinding import Rewinding
from agent.events import AgentEvent, ErrorEvent, MessageCommitted, Notice, Terminal
from agent.history import HistoryPart
from agent.loop.loop import AgentLoop
from agent.messages import Message
from agent.stream import StreamRun, TurnEvents
from agent.user_prompt import Prompt
from permissions.base.process.background_tasks import BackgroundTasks

_NO_COMPACTION: Final = "Nothing can be compacted right now."


class Conversation:
    """A conversation in progress. One prompt runs at a time; others queue."""

    def __init__(self, parts: ConversationParts) -> None:
        """Take the parts that `agent.assembly.assemble` built."""
        recorder = parts.recorder
        self._parts = parts
        self._state = ConversationState(
            messages=parts.messages, has_opening=parts.is_resumed and bool(parts.messages)
        )
        self._background = BackgroundTasks()
        self._events: AsyncGenerator[AgentEvent, None] | None = None
        self._loop: AgentLoop | None = None
        self._starting: asyncio.Future[None] | None = None
        self._start_abort = AbortController()
        self._session_started = False
        self.view = ConversationView(parts, self._state)
        self.status = StatusView(parts)
        self.controls = ConversationControls(parts, self._state, self._compact_history)
        self.hook_signals = HookSignals(
            parts.hooks, (parts.agents.reports, parts.workflows), parts.ports.mail
        )
        self.prompt_queue = PromptQueue(
            parts.queue, recorder, self._background, self._state.notes.append
        )
        self.rewinding = Rewinding(self._state, recorder, parts.totals, parts.checkpoints)
        self.identity = parts.identity
        self.gate = parts.gate
        self.hooks = parts.hooks
        self.shells = parts.shells
        self.agents = parts.agents
        self.workflows = parts.workflows
        self.recovery = parts.ports.recovery
        """Recovery of failed requests."""
        parts.gate.on_mode_change(lambda mode: self._background.start(recorder.mode(str(mode))))

    @property
    def commands(self) -> CommandService:
        """The commands that the user can type after `/`."""
        return self._parts.commands()

    def forget_queue(self, unfinished_turn: str | None) -> None:
        """Record an empty queue: the queued prompts of a resumed session went back to the user.

        So did the prompt of a turn that a kill left unfinished, if it was not sent to the model.
        """
        self.prompt_queue.save()
        if unfinished_turn is not None:
            end = Terminal(unfinished_turn, "error", "the program was killed")
            self._background.start(self._parts.recorder.event(end, self._state.messages))

    # -- one prompt -------------------------------------------------------------------------

    async def start(self) -> list[AgentEvent]:
        """Fire SessionStart, once; return the events to show when its hooks have ended."""
        if self._starting is None:
            self._starting = asyncio.ensure_future(self._start())
        await asyncio.shield(self._starting)
        return self.hooks.notices()

    async def _start(self) -> None:
        self._session_started = True
        self.hooks.firing.abort = self._start_abort.signal
        try:
            await self._parts.on_start()
        finally:
            self.hooks.firing.abort = None

    async def _start_events(self, abort: AbortSignal) -> list[AgentEvent]:
        """Return the events of the start; an interruption ends its hooks."""
        starting = asyncio.ensure_future(self.start())
        interrupt = asyncio.ensure_future(abort.wait())
        try:
            await asyncio.wait({starting, interrupt}, return_when=asyncio.FIRST_COMPLETED)
            if not starting.done():
                self._start_abort.abort("interrupted")
            return await starting
        finally:
            for task in (starting, interrupt):
                task.cancel()
            await asyncio.wait({starting, interrupt})

    def run(self, prompt: Prompt | None) -> AsyncGenerator[AgentEvent, None]:
        """Run one prompt and yield its events; `Terminal` is the last.

        None starts a turn without a prompt, with results from background hooks and agents.
        """
        return self._follow(self._prompt_work(prompt))

    def _follow(
        self, begin: Callable[[AbortController], StreamRun], *, busy: str | None = None
    ) -> AsyncGenerator[AgentEvent, None]:
        events = self._yield_events(begin, busy)
        if not self.view.is_running:
            self._events = events
        return events

    async def _yield_events(
        self, begin: Callable[[AbortController], StreamRun], busy: str | None
    ) -> AsyncGenerator[AgentEvent, None]:
        """Yield the events of some work; the only generator between the loop and its listeners."""
        if self.view.is_running:
            if busy is None:
                raise RuntimeError("a prompt is running; queue this one")
            yield Notice(self._state.turn_id, "warning", busy)
            return
        abort = self._state.abort = AbortController()
        run = begin(abort)
        try:
            while (event := await run.next()) is not None:
                yield event
        finally:
            await run.aclose()
            self._state.abort = self.hooks.firing.abort = None

    def _prompt_work(self, prompt: Prompt | None) -> Callable[[AbortController], StreamRun]:
        def begin(abort: AbortController) -> StreamRun:
            parts = self._parts
            turn_id = self._state.turn_id = uuid.uuid4().hex
            # Overloads are temporary, so each prompt begins with the chosen model.
            self.recovery.fallen_back_to = None
            return parts.stream.start(
                lambda: self._work(prompt, TurnEvents(parts.stream.emit, turn_id), abort),
                self._record,
                show=partial(parts.display.replace_event, abort=abort.signal),
                listeners=(parts.observe,),
            )

        return begin

    async def _work(
        self, prompt: Prompt | None, events: TurnEvents, abort: AbortController
    ) -> None:
        parts = self._parts
        try:
            try:
                if prompt is not None:
                    await parts.recorder.prompt(events.turn_id, prompt.text)
                    await self.prompt_queue.on_recorded(prompt.uid)
                end = await self._answer(prompt, events, abort)
            except Exception as error:  # noqa: BLE001 - isolation boundary: the program continues
                text = f"{type(error).__name__}: {error}"
                await events.emit(ErrorEvent(events.turn_id, "internal", text))
                end = Terminal(events.turn_id, "error", text)
            await events.emit(end)
            if end.reason == "completed":
                parts.after_prompt(self._state.messages)
        finally:
            if parts.expander is not None:
                await parts.expander.end_turn()

    async def _answer(
        self, prompt: Prompt | None, events: TurnEvents, abort: AbortController
    ) -> Terminal:
        await events.emit_all(await self._start_events(abort.signal))
        self.hooks.firing.abort = abort.signal
        self.hooks.firing.begin_turn(events.turn_id, prompt.uid if prompt is not None else None)
        if prompt is not None:
            new = await open_prompt(self._parts, self._state, prompt, events, abort.signal)
        else:
            new = await open_wake(self._parts, self._state, events)
        if isinstance(new, Terminal):
            return new
        ports = self._parts.ports
        loop = self._loop = AgentLoop(
            replace(ports, reports=lambda: [*self.rewinding.take_news(), *ports.reports()]),
            events,
            max_turns=self._parts.max_turns,
            token_budget=self._parts.token_budget,
        )
        try:
            return await loop.run(self._state.messages, new, abort)
        finally:
            self._loop = None
            await self._record_synthetic(events.turn_id, loop.history.messages)

    async def _record(self, event: AgentEvent) -> list[AgentEvent]:
        """Record an event before listeners receive it; return notices that precede it."""
        parts, recorder = self._parts, self._parts.recorder
        if self._loop is not None and event.agent_id is None:
            self._state.messages = self._loop.history.messages
        await recorder.event(event, self._state.messages)
        if isinstance(event, MessageCommitted):
            await self.prompt_queue.on_recorded(event.message.uid)
        if event.type == "tool_result" and event.name == "TodoWrite":
            await recorder.todos(self.view.todos)
        if recorder.complaint is None and parts.totals.notice is None:
            return []
        texts = filter(None, (recorder.complaint, parts.totals.notice))
        recorder.complaint = parts.totals.notice = None
        return list(map(partial(Notice, self._state.turn_id, "warning"), texts))

    async def _record_synthetic(self, turn_id: str, messages: tuple[Message, ...]) -> None:
        """Record the messages that the loop appended when it was cancelled."""
        recorded_count = len(self._state.messages)
        if messages[:recorded_count] == self._state.messages:
            for message in messages[recorded_count:]:
                await self._parts.recorder.event(MessageCommitted(turn_id, message), messages)
        self._state.messages = messages or self._state.messages

    # -- the model's window -----------------------------------------------------------------

    def _compact_history(
        self, focus: str = "", part: HistoryPart | None = None
    ) -> AsyncGenerator[AgentEvent, None]:
        """Summarize the history or a part of it, at the user's request."""

        def begin(abort: AbortController) -> StreamRun:
            self.hooks.firing.abort = abort.signal
            events = TurnEvents(self._parts.stream.emit, uuid.uuid4().hex)
            return self._parts.stream.start(
                lambda: self._compact(focus, part, events, abort.signal), self._record
            )

        return self._follow(begin, busy=_NO_COMPACTION)

    async def _compact(
        self, focus: str, part: HistoryPart | None, events: TurnEvents, abort: AbortSignal
    ) -> None:
        context = self._parts.ports.context
        if context is None:
            await events.notice("warning", _NO_COMPACTION)
            return
        if part is None:
            step = await context.compact(self._state.messages, focus, abort)
        else:
            step = await context.compact_range(self._state.messages, part, abort)
        if step is None:
            text = "There is nothing to compact yet."
            if abort.aborted:
                text = "Interrupted: the conversation stays as it is."
            await events.notice("info", text)
            return
        for text in step.notices:
            # Without an event nothing was compacted; the notice says why.
            await events.notice("warning" if step.event is None else "info", text)
        if step.event is not None:
            self._state.messages = step.messages
            self._parts.totals.context_tokens = step.event.tokens_after
            await events.emit(step.event)

    # -- end --------------------------------------------------------------------------------

    async def aclose(self, reason: str = "other") -> None:
        """Interrupt, fire SessionEnd, and close all parts; safe to call twice."""
        if self.controls.interrupt("the program is closing"):
            await self._end_events()
        if self._starting is not None and not self._starting.done():
            self._starting.cancel()
            await asyncio.wait({self._starting})
        await self.hooks.firing.aclose()
        if self._session_started:
            self._session_started = False
            closing = self._state.closing = AbortController()
            await self.hooks.session_end(reason, closing.signal)
            self._state.closing = None
        await self._background.aclose()
        # If one closer fails, commands must still be ended and the session unlocked.
        async with AsyncExitStack() as ends:
            ends.push_async_callback(self._parts.recorder.aclose)
            for close in reversed(self._parts.on_close):
                ends.push_async_callback(close)

    async def _end_events(self) -> None:
        """End a prompt without a listener; its open calls get results, which are recorded."""
        while self._events is not None and self.view.is_running:
            try:
                await self._events.aclose()
            except RuntimeError:
                # A listener is still iterating; the abort will end it.
                await asyncio.sleep(0.01)
            else:
                self._events = None
