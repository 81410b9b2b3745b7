"""Sends the command line's prompt before the screen exists.

The screen's library takes longer to load than everything that a request needs. Therefore the
request is sent first, and the library is loaded while the model answers. The conversation is made
and run as usual, so trust and model questions (which need the screen at once) and hooks still
precede the request. Events wait in a bounded buffer until the screen reads them; until then the
early prompt shows the answer's text.
Next: `tui.conversation.late_screen`, `tui.startup.run`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from agent.options import RunOptions
from agent.user_prompt import Prompt
from permissions.base.process.worker_threads import import_aside
from tui.conversation.factory import ConversationMaker
from tui.conversation.late_screen import LateScreen

if TYPE_CHECKING:
    from agent.conversation.conversation import Conversation
    from agent.events import AgentEvent
    from agent.stream import Subscription
    from tui.app.session.prompt_runner import BegunPrompt
    from tui.conversation.factory import Front
    from tui.ports.conversation import ScreenPorts


def is_sent_first(options: RunOptions) -> bool:
    """Return whether the prompt can be sent before the screen exists.

    Commands need the screen; a resumed session is shown first, and the demo has questions.
    """
    return (
        bool(options.prompt)
        and not (options.prompt or "").startswith(("/", "!"))
        and options.resume is None
        and not options.continue_latest
        and not options.demo
    )


class FirstTurn:
    """A conversation that is being made, and its first prompt. Requires a running event loop."""

    def __init__(
        self,
        options: RunOptions,
        launch_dir: Path,
        env: Mapping[str, str],
        show_text: Callable[[str], object],
    ) -> None:
        """Start tasks that make the conversation and run the prompt.

        `show_text` gets each piece of the answer's text until `join`.
        """
        self.prompt = Prompt(options.prompt or "")
        self.maker = ConversationMaker(options, launch_dir, env, screen := LateScreen())
        self._screen = screen
        self._show_text = show_text
        self._is_interrupted = False
        self._events: Subscription | None = None
        self._has_left = asyncio.Event()
        """Set once the first request is sent, or will not be."""
        self._is_decided = asyncio.Event()
        """Set once it is certain whether the prompt is sent."""
        self._making = asyncio.ensure_future(self._make())
        self._sending = asyncio.ensure_future(self._send())

    async def screen_is_due(self) -> None:
        """Return once the request is sent, or the user must be shown something before that."""
        waits = {
            asyncio.ensure_future(event.wait())
            for event in (self._screen.is_needed, self._has_left)
        }
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        for wait in waits:
            wait.cancel()
        if self._has_left.is_set():
            # The request imports this itself; wait, so that loading the screen does not slow it.
            await import_aside("httpx2")

    async def join(self, front: Front, ports: ScreenPorts) -> Conversation:
        """Attach the screen and return the conversation; raises the error of making it, if any."""
        self._screen.attach(front, ports)
        conversation = await self._making
        await self._is_decided.wait()
        return conversation

    async def aclose(self) -> None:
        """End the turn and the conversation, with or without a screen."""
        self._is_interrupted = True
        for task in (self._sending, self._making):
            task.cancel()
        await asyncio.wait({self._sending, self._making})
        await self.maker.aclose()

    def interrupt(self) -> bool:
        """End the turn, or prevent it from starting; return whether there was one to end."""
        conversation = self.maker.parts.conversation if self.maker.parts else None
        if conversation is not None and conversation.controls.interrupt():
            return True
        if self._events is not None or self._is_interrupted:
            return False
        self._is_interrupted = True
        self._screen.take_draft(self.prompt.text)
        return True

    @property
    def is_begun(self) -> bool:
        """Whether the turn was started; False if it was interrupted or the conversation failed."""
        return self._events is not None

    async def events(self) -> AsyncIterator[AgentEvent]:
        """Yield the events of the turn, including those from before the screen existed."""
        if self._events is None:
            return
        try:
            while (event := await self._events.next()) is not None:
                yield event
            await self._sending
        finally:
            self._events.leave()

    def take_events(self) -> list[AgentEvent]:
        """Remove and return the buffered events; `events` does not yield them."""
        return self._events.take_buffered() if self._events is not None else []

    async def _make(self) -> Conversation:
        return await self.maker.make(self._screen.ports)

    async def _send(self) -> None:
        """Run the turn; it waits while the buffer of events is full."""
        try:
            await asyncio.wait({self._making})
            if (
                self._is_interrupted
                or self._making.cancelled()
                or self._making.exception() is not None
            ):
                return
            from agent.stream import Subscription  # loaded with the conversation

            events = self._events = Subscription()
        finally:
            self._is_decided.set()
            if self._events is None:
                self._has_left.set()
        try:
            async for event in self._making.result().run(self.prompt):
                if event.type == "request_start":
                    self._has_left.set()
                elif event.type == "text_delta":
                    self._show_text(event.text)
                events.append(event)
                await events.room.wait()
        finally:
            events.end()
            self._has_left.set()


if TYPE_CHECKING:

    def _check_protocol(first: FirstTurn) -> BegunPrompt:
        return first
