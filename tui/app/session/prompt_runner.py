"""Runs prompts on a conversation, one at a time, and passes the events on."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Protocol

from agent.user_prompt import Prompt
from tui.ports.conversation import ConversationPort

if TYPE_CHECKING:
    from agent.events import AgentEvent

TakeEvent = Callable[["AgentEvent"], Awaitable[None]]


class BegunPrompt(Protocol):
    """A prompt that was sent before the screen existed."""

    @property
    def prompt(self) -> Prompt:
        """The prompt."""
        ...

    @property
    def is_begun(self) -> bool:
        """Whether its turn was started; final once the conversation exists."""
        ...

    def events(self) -> AsyncIterator[AgentEvent]:
        """Return the events of its turn."""
        ...

    def take_events(self) -> list[AgentEvent]:
        """Remove and return the buffered events; `events` does not yield them."""
        ...

    def interrupt(self) -> bool:
        """End its turn; return whether there was one to end."""
        ...


class PromptRunner:
    """Runs and queues prompts; accepts them also before the conversation exists."""

    def __init__(
        self,
        take: TakeEvent,
        on_start: Callable[[Prompt], None],
        on_end: Callable[[bool], None],
        start_worker: Callable[[Awaitable[None]], object],
    ) -> None:
        """`take` receives the events of turns, which run in tasks of `start_worker`.

        `on_end` receives whether the user interrupted the turn.
        """
        self._take = take
        self._on_start = on_start
        self._on_end = on_end
        self._start_worker = start_worker
        self._conversation: ConversationPort | None = None
        self._early: list[Prompt] = []
        self.first_turn: BegunPrompt | None = None
        """A turn on the conversation that is attached next; None without one."""
        self._is_begun_shown = False
        self._is_running = False
        self._afterwards: AsyncIterator[AgentEvent] | None = None
        """Events to show before the next prompt runs, such as those of `/compact`."""
        self._is_left_out = False
        """Whether these events were dropped because the turn before them was interrupted."""
        self.is_interrupting = False
        """Whether the user has interrupted the turn, which has not ended yet."""

    @property
    def is_running(self) -> bool:
        """Whether a turn runs, or events such as those of `/compact`."""
        return self._is_running

    @property
    def waiting_prompts(self) -> list[Prompt]:
        """Queued prompts, oldest first."""
        waiting = (
            list(self._conversation.prompt_queue.prompts) if self._conversation is not None else []
        )
        return [*self._early, *waiting]

    def show_begun(self, fold: Callable[[AgentEvent], None]) -> None:
        """Show a prompt that was sent before the first frame, and the answer so far."""
        if self.first_turn is not None and self.first_turn.is_begun:
            self._is_begun_shown = True
            self._on_start(self.first_turn.prompt)
            for event in self.first_turn.take_events():
                fold(event)

    def attach(self, conversation: ConversationPort) -> None:
        """Use this conversation; prompts that were sent before start now."""
        self._conversation = conversation
        conversation.hook_signals.listen_for_wake(self._on_wake)
        first_turn, self.first_turn = self.first_turn, None
        if first_turn is not None and first_turn.is_begun:
            self._is_running = True
            self._start_worker(self._work(conversation, first_turn.prompt, first_turn.events()))
        early, self._early = self._early, []
        for prompt in early:
            self.submit(prompt)

    def detach(self) -> None:
        """Release the conversation; prompts sent from now on wait for the next one."""
        self._conversation = self._afterwards = None
        self._is_left_out = False

    def submit(self, prompt: Prompt) -> None:
        """Run a prompt, or queue it while another one runs."""
        conversation = self._conversation
        if conversation is None:
            self._early.append(prompt)
        elif self._is_running:
            conversation.prompt_queue.add(prompt)
        else:
            self._is_running = True
            self._start_worker(self._work(conversation, prompt))

    def run_events(self, events: AsyncIterator[AgentEvent]) -> bool:
        """Show the events of something that is not a prompt, such as `/compact`.

        Returns False if they must wait until the current turn has ended.
        """
        if self._is_running:
            self._afterwards = events
            return False
        self._is_running = True
        self._start_worker(self._show(events))
        return True

    def take_back(self) -> list[Prompt]:
        """Return all queued prompts and empty the queue."""
        early, self._early = self._early, []
        waiting = (
            self._conversation.prompt_queue.take_back() if self._conversation is not None else []
        )
        return [*early, *waiting]

    def interrupt(self) -> bool:
        """Interrupt the running turn; return whether there was one."""
        if self.first_turn is not None:
            return self.first_turn.interrupt()
        if self._conversation is None or not self._is_running:
            return False
        if not self._conversation.controls.interrupt():
            return False
        self.is_interrupting = True
        if self._afterwards is not None:
            self._afterwards, self._is_left_out = None, True
        return True

    async def _work(
        self,
        conversation: ConversationPort,
        prompt: Prompt | None,
        running_events: AsyncIterator[AgentEvent] | None = None,
    ) -> None:
        """Run a prompt, then the queued ones; `running_events` are those of a started turn."""
        try:
            while prompt is not None or self._must_continue(conversation):
                self.is_interrupting = False
                if prompt is not None and not (running_events is not None and self._is_begun_shown):
                    self._on_start(prompt)
                events = running_events if running_events is not None else conversation.run(prompt)
                running_events = None
                async for event in events:
                    await self._take(event)
                await self._run_deferred()
                prompt = conversation.prompt_queue.take_next()
        finally:
            self._end()

    def _on_wake(self) -> None:
        """Continue the model with the result of a hook, if nothing else is running."""
        if self._conversation is not None and not self._is_running:
            self._is_running = True
            self._start_worker(self._work(self._conversation, None))

    def _must_continue(self, conversation: ConversationPort) -> bool:
        # After an interruption wait for the user.
        return conversation.hook_signals.is_woken and not self.is_interrupting

    async def _run_deferred(self) -> None:
        """Run what was requested during the turn, such as `/compact`."""
        if self._is_left_out:
            from agent.events import Notice  # rare, and not for the first frame

            self._is_left_out = False
            text = "Compaction interrupted. Run /compact to try again."
            await self._take(Notice("", "info", text))
        while (events := self._afterwards) is not None:
            self._afterwards = None
            async for event in events:
                await self._take(event)

    async def _show(self, events: AsyncIterator[AgentEvent]) -> None:
        try:
            async for event in events:
                await self._take(event)
            await self._run_deferred()
            conversation = self._conversation
            is_woken = conversation is not None and self._must_continue(conversation)
        finally:
            self._end()
        if is_woken:
            self._on_wake()

    def _end(self) -> None:
        self._is_running = False
        was_interrupted, self.is_interrupting = self.is_interrupting, False
        self._on_end(was_interrupted)
