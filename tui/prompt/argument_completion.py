"""What a server proposes for the arguments of its prompts: asked for a little after each key."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from tui.prompt.word_completion import Candidate, Completion

if TYPE_CHECKING:
    from agent.commands.service import CommandService

PREFIX = "/mcp__"
"""How commands that are prompts of servers begin."""


class _Place(Struct, frozen=True):
    command: str
    words: tuple[str, ...]
    """The arguments before this one."""
    value: str
    """What is typed of it."""


class ArgumentCompletion:
    """One question to a server at a time; what is typed meanwhile is asked about next."""

    def __init__(
        self,
        center: Callable[[], CommandService | None],
        start: Callable[[Awaitable[None]], None],
        on_found: Callable[[], None],
    ) -> None:
        """`on_found` is called when there is something to offer."""
        self._center = center
        self._start = start
        self._on_found = on_found
        self._wanted: _Place | None = None
        self._found: Sequence[str] = ()
        self._is_asking = False

    def look(self, text: str, cursor: int) -> Completion | None:
        """Return what is known by now for the argument before the cursor."""
        command, space, typed = text[1:cursor].partition(" ")
        if not text.startswith(PREFIX) or not space or '"' in typed:
            # Within quotes a space would not end it.
            return None
        *words, value = typed.split(" ")
        place = _Place(command, tuple(word for word in words if word), value)
        if place != self._wanted:
            self._wanted, self._found = place, ()
            if not self._is_asking:
                self._is_asking = True
                self._start(self._ask())
        others = [one for one in self._found if one != value]
        candidates = tuple(Candidate(f'"{one}"' if " " in one else one) for one in others)
        if not candidates:
            return None
        return Completion(cursor - len(value), cursor, candidates, "argument")

    async def _ask(self) -> None:
        asked = None
        try:
            while (place := self._wanted) != asked and place is not None:
                asked = place
                center = self._center()
                live = center.context.servers() if center is not None else None
                if live is None:
                    return
                found = await live.proposals(place.command, place.words, place.value)
                if found and place == self._wanted:
                    self._found = found
                    self._on_found()
        finally:
            self._is_asking = False
