"""Received messages for a member's model, until a request takes them; the loop's mail port."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

from agent.messages import Message
from agent.teams.agent_text import as_message, first_that_fit
from agent.teams.team_message import TeamMessage


class Inbox:
    """Messages in the order of their arrival."""

    def __init__(self, messages: Iterable[TeamMessage] = ()) -> None:
        """Start with `messages`, which an earlier process received and did not deliver."""
        self._waiting = list(messages)
        self._notes: list[Message] = []
        self.change = asyncio.Event()
        """Set with each arrival; cleared by the reader that waits for it."""
        self._listener: Callable[[], None] = lambda: None

    def add(self, message: TeamMessage) -> None:
        """Add a message."""
        self._waiting.append(message)
        self._announce()

    def add_note(self, message: Message) -> None:
        """Add a message of the program itself."""
        self._notes.append(message)
        self.change.set()

    def listen(self, listener: Callable[[], None]) -> None:
        """Set the function that is called when a message arrives."""
        self._listener = listener

    def waits(self) -> bool:
        """Return whether messages are waiting."""
        return bool(self._waiting or self._notes)

    def take(self) -> list[Message]:
        """Remove and return the next messages."""
        count = first_that_fit(self._waiting)
        messages, self._waiting = self._waiting[:count], self._waiting[count:]
        notes, self._notes = self._notes, []
        return [*map(as_message, messages), *notes]

    def _announce(self) -> None:
        self.change.set()
        self._listener()
