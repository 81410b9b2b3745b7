"""Ctrl+R: searches the prompt history while the user types; the match is shown in the prompt."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

from tui.editing.draft import Draft
from tui.input.actions import Context
from tui.input.event import RoutedEvent
from tui.input.keymap import ChordReader, Match
from tui.prompt.composer import Composer
from tui.prompt.prompt_history import SCOPES, HistoryScope, PromptHistory

_STEPS: Final = {"up": 1, "down": -1}
"""Keys that go to another match; up goes to older ones."""

SearchStep = Literal["goes_on", "over", "send"]


class HistorySearch:
    """The state of the search; open between `open` and `close`."""

    def __init__(
        self,
        history: PromptHistory,
        composer: Composer,
        chords: ChordReader,
        *,
        load_everywhere: Callable[[Callable[[], None]], None] = lambda _then: None,
    ) -> None:
        """`composer` shows the match.

        `load_everywhere` starts to read the prompts of other projects, and calls its argument once
        they are loaded.
        """
        self._history = history
        self._composer = composer
        self._chords = chords
        self._query: str | None = None
        self._skip = 0
        self._scope: HistoryScope = "project"
        self._draft = Draft()
        self._load_everywhere = load_everywhere

    @property
    def is_open(self) -> bool:
        """Whether the search receives the keys."""
        return self._query is not None

    def open(self) -> None:
        """Start with an empty query."""
        self._draft = self._composer.buffer.draft
        self._query, self._skip, self._scope = "", 0, "project"
        self._show()

    def refresh(self) -> None:
        """Search again, because more prompts were loaded."""
        if self.is_open:
            self._show()

    def close(self) -> None:
        """End the search and keep the match in the prompt."""
        self._query = None
        self._composer.set_note("")

    def cancel(self) -> None:
        """End the search and restore the draft."""
        self.close()
        self._composer.load(self._draft)

    def press(self, event: RoutedEvent) -> SearchStep:
        """Handle a key; return whether the search continues, ends, or sends the match."""
        query = self._query or ""
        match self._chords.press(event.key, (Context.HISTORY_SEARCH,)):
            case Match(action_id="historySearch:next"):
                self._skip += 1
            case _ if event.key in _STEPS:
                self._skip += _STEPS[event.key]
            case Match(action_id="historySearch:cycleScope"):
                self._cycle_scope()
            case Match(action_id="historySearch:accept"):
                self.close()
                return "over"
            case Match(action_id="historySearch:cancel"):
                self.cancel()
                return "over"
            case Match(action_id="historySearch:execute"):
                self.close()
                return "send"
            case _ if event.key == "backspace":
                self._query, self._skip = query[:-1], 0
            case _ if event.text:
                self._query, self._skip = query + event.text, 0
            case _:
                self.close()
                return "over"
        self._show()
        return "goes_on"

    def _cycle_scope(self) -> None:
        self._scope = SCOPES[(SCOPES.index(self._scope) + 1) % len(SCOPES)]
        self._skip = 0
        if self._scope == "everywhere" and not self._history.knows_everywhere:
            self._load_everywhere(self.refresh)

    def _show(self) -> None:
        query = self._query or ""
        count = self._history.count(query, self._scope) if query else 0
        if count:
            # After the oldest match start again with the newest one.
            self._skip %= count
        hit = self._history.search(query, self._skip, self._scope) if count else None
        self._composer.load(hit or self._draft)
        state = self._state(count)
        scope = self._chords.keymap.display("historySearch:cycleScope")
        more = f" · {scope} scope" if scope else ""
        where = "everywhere" if self._scope == "everywhere" else f"in this {self._scope}"
        self._composer.set_note(f" search history {where}: {query}▏{state}{more} ")

    def _state(self, count: int) -> str:
        if self._query and not count:
            return " · nothing found"
        return f" · {self._skip + 1} of {count}" if count > 1 else ""
