"""The prompt of the command line, sent before the screen is there.

A request depends on nothing of the screen, whose library takes longer to load than all that a
request needs: it leaves first, and the library loads while the model answers. What has to come
before the request still does, since the conversation is made and run in the usual way: the
questions about trust and the model, which call for the screen at once, and the hooks. Events wait
in the bounded buffer of the turn until the screen reads them.
Next: `tui.conversation.late_screen`, `tui.startup.run`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
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

    def __init__(self, options: RunOptions, launch_dir: Path, env: Mapping[str, str]) -> None:
        """Begin to make the conversation, and to run the prompt on it."""
        self.prompt = Prompt(options.prompt or "")
        self.maker = ConversationMaker(options, launch_dir, env, screen := LateScreen())
        self._screen = screen
        self._is_interrupted = False
        self._events: AsyncGenerator[AgentEvent, None] | None = None
        self._first: list[AgentEvent] = []
        self._is_decided = asyncio.Event()
        """Set once it is certain whether the prompt is sent."""
        self._making = asyncio.ensure_future(self._make())
        self._sending = asyncio.ensure_future(self._send())

    async def screen_is_due(self) -> None:
        """Return once the request leaves, or the user is to see something before that."""
        needed = asyncio.ensure_future(self._screen.is_needed.wait())
        await asyncio.wait({needed, self._sending}, return_when=asyncio.FIRST_COMPLETED)
        needed.cancel()

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
        conversation = self.maker.assembled.conversation if self.maker.assembled else None
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
        await self._sending
        for event in self._first:
            yield event
        if self._events is not None:
            async for event in self._events:
                yield event

    async def _make(self) -> Conversation:
        return await self.maker.make(self._screen.ports)

    async def _send(self) -> None:
        """Run the turn until its first request leaves."""
        await asyncio.wait({self._making})
        if self._is_interrupted or self._making.cancelled() or self._making.exception() is not None:
            self._is_decided.set()
            return
        self._events = self._making.result().run(self.prompt)
        self._is_decided.set()
        async for event in self._events:
            self._first.append(event)
            if event.type == "request_start":
                # Loaded by the request itself: it should not share the interpreter.
                await import_aside("httpx2")
                return


if TYPE_CHECKING:

    def _proof(first: FirstTurn) -> BegunPrompt:
        return first
