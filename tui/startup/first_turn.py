"""The prompt of the command line, sent before the screen is there.

A request depends on nothing of the screen, whose library takes longer to load than all that a
request needs: it leaves first, and the library loads while the model answers. What has to come
before the request still does, since the conversation is made and run in the usual way: the
questions about trust and the model, which call for the screen at once, and the hooks. Events wait
in a bounded buffer until the screen reads them; text of the answer is shown meanwhile.
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
    """Return whether the prompt can leave before the screen is there.

    Commands need the screen; what is resumed is shown first, and the demo has questions.
    """
    return (
        bool(options.prompt)
        and not (options.prompt or "").startswith(("/", "!"))
        and options.resume is None
        and not options.continue_latest
        and not options.demo
    )


class FirstTurn:
    """A conversation that is being made, and its first prompt. Made inside a running loop."""

    def __init__(
        self,
        options: RunOptions,
        launch_dir: Path,
        env: Mapping[str, str],
        show_text: Callable[[str], object],
    ) -> None:
        """Begin to make the conversation, and to run the prompt on it.

        `show_text` gets each piece of the answer's text until `join`.
        """
        self.prompt = Prompt(options.prompt or "")
        self.maker = ConversationMaker(options, launch_dir, env, screen := LateScreen())
        self._screen = screen
        self._show_text = show_text
        self._is_interrupted = False
        self._events: Subscription | None = None
        self._has_left = asyncio.Event()
        """Set once the first request leaves, or will not."""
        self._is_decided = asyncio.Event()
        """Set once it is certain whether the prompt is sent."""
        self._making = asyncio.ensure_future(self._make())
        self._sending = asyncio.ensure_future(self._send())

    async def screen_is_due(self) -> None:
        """Return once the request leaves, or the user is to see something before that."""
        waits = {
            asyncio.ensure_future(event.wait())
            for event in (self._screen.is_needed, self._has_left)
        }
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        for wait in waits:
            wait.cancel()
        if self._has_left.is_set():
            # Loaded by the request itself: it should not share the interpreter.
            await import_aside("httpx2")

    async def join(self, front: Front, ports: ScreenPorts) -> Conversation:
        """Return the conversation, which has a screen from now on. Raises what making it raised."""
        self._screen.attach(front, ports)
        conversation = await self._making
        await self._is_decided.wait()
        return conversation

    async def aclose(self) -> None:
        """End the turn and the conversation, whether there is a screen or not."""
        self._is_interrupted = True
        for task in (self._sending, self._making):
            task.cancel()
        await asyncio.wait({self._sending, self._making})
        await self.maker.aclose()

    def interrupt(self) -> bool:
        """End the turn, or do not begin it; return whether there was one."""
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
        """Whether the prompt was sent, or failed to be: not where it was interrupted before."""
        return self._events is not None

    async def events(self) -> AsyncIterator[AgentEvent]:
        """Yield the events of the turn, those before the screen was there included."""
        if self._events is None:
            return
        try:
            while (event := await self._events.next()) is not None:
                yield event
            await self._sending
        finally:
            self._events.leave()

    def take_events(self) -> list[AgentEvent]:
        """Return the events that arrived, which `events` does not yield any more."""
        return self._events.take_buffered() if self._events is not None else []

    async def _make(self) -> Conversation:
        return await self.maker.make(self._screen.ports)

    async def _send(self) -> None:
        """Run the turn; the screen's listener is slower than the turn at first."""
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

    def _proof(first: FirstTurn) -> BegunPrompt:
        return first
