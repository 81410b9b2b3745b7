"""Completions of MCP servers for arguments of their prompts, requested as the user types."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from tui.prompt.word_completion import Candidate, Completion

if TYPE_CHECKING:
    from agent.commands.service import CommandService

PREFIX = "/mcp__"
"""Prefix of commands that are prompts of servers."""


class _Place(Struct, frozen=True):
    command: str
    words: tuple[str, ...]
    """The arguments before this one."""
    value: str
    """The part of the argument before the cursor."""


class ArgumentCompletion:
    """Sends one request at a time; text typed during a request is completed by the next one."""

    def __init__(
        self,
        command_service: Callable[[], CommandService | None],
        start: Callable[[Awaitable[None]], None],
        on_found: Callable[[], None],
    ) -> None:
        """`on_found` is called when there are new completions."""
        self._command_service = command_service
        self._start = start
        self._on_found = on_found
        self._place: _Place | None = None
        self._proposals: Sequence[str] = ()
        self._is_asking = False

    def complete(self, text: str, cursor: int) -> Completion | None:
        """Return the completions received so far for the argument before the cursor, or None."""
        command, space, arguments = text[1:cursor].partition(" ")
        if not text.startswith(PREFIX) or not space or '"' in arguments:
            # Quoted arguments may contain spaces and are not completed.
            return None
        *words, value = arguments.split(" ")
        place = _Place(command, tuple(word for word in words if word), value)
        if place != self._place:
            self._place, self._proposals = place, ()
            if not self._is_asking:
                self._is_asking = True
                self._start(self._ask())
        others = [one for one in self._proposals if one != value]
        candidates = tuple(Candidate(f'"{one}"' if " " in one else one) for one in others)
        if not candidates:
            return None
        return Completion(cursor - len(value), cursor, candidates, "argument")

    async def _ask(self) -> None:
        last_place = None
        try:
            while (place := self._place) != last_place and place is not None:
                last_place = place
                command_service = self._command_service()
                live = command_service.context.servers() if command_service is not None else None
                if live is None:
                    return
                proposals = await live.proposals(place.command, place.words, place.value)
                if proposals and place == self._place:
                    self._proposals = proposals
                    self._on_found()
        finally:
            self._is_asking = False
