"""How the user is reached, as an entry point passes it in."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from agent.events import HookFinished, HookStarted
from agent.tools.services import AskPerson
from permissions.resolve.contender import Contender


class PersonPorts(Struct, frozen=True, kw_only=True):
    """How the user is reached; all None in a headless run."""

    dialog: Contender | None = None
    ask: AskPerson | None = None
    notice: Callable[[str, str], None] | None = None
    """Shows a line outside of a turn; takes the text and its level, `info` or `warning`."""
    live: Callable[[HookStarted | HookFinished], None] | None = None
    """Shows at once that a hook is being waited for, and that it no longer is."""
    terminal: Callable[[str], None] | None = None
    """Writes a sequence that a hook asks for, of the few it may, to the terminal."""

    def tell(self, text: str, level: str) -> None:
        """Show a line, where there is somebody to see it."""
        if self.notice is not None:
            self.notice(text, level)
