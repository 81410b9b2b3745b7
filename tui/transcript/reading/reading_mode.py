"""The reading mode of the transcript: unfolds everything, searches, and jumps between prompts.

While it is open, it receives the keys, and its line replaces the prompt.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Final, Protocol

from tui.input.actions import Context
from tui.input.event import RoutedEvent
from tui.input.keymap import ChordReader, Match
from tui.transcript.reading.reading_bar import ReadingBar
from tui.transcript.reading.search_session import OlderPages, SearchSession
from tui.transcript.transcript_widget import TranscriptWidget

CONTEXTS: Final = (Context.TRANSCRIPT, Context.SCROLL)


class TranscriptReader(Protocol):
    """Opens a whole transcript in the editor or on the normal screen."""

    def to_terminal(self, text: str) -> None: ...
    def text(self, text: str, name: str) -> object: ...


class ReadingMode:
    """Active between `open` and `close`."""

    def __init__(
        self,
        transcript: TranscriptWidget,
        bar: ReadingBar,
        chords: ChordReader,
        reader: TranscriptReader,
        on_change: Callable[[], None],
        choose_detail: Callable[[], None],
        past: OlderPages,
        start_worker: Callable[[Awaitable[None]], None],
    ) -> None:
        """`on_change` is called on opening and closing, which hide and show the prompt.

        `choose_detail` lets the user choose the level of detail for each tool's calls.
        """
        self._transcript = transcript
        self._bar = bar
        self._chords = chords
        self._reader = reader
        self._on_change = on_change
        self._choose_detail = choose_detail
        self._query: str | None = None
        self.finder = SearchSession(transcript, past, start_worker, self._show_again)
        self._is_unfolded = True
        self.is_open = False
        self._actions = self._action_table()

    @property
    def action_ids(self) -> frozenset[str]:
        """The ids of its actions."""
        return frozenset(self._actions)

    def open(self) -> None:
        """Unfold everything and receive the keys."""
        self.is_open = True
        self._is_unfolded = True
        self._transcript.set_detailed(True)
        self._show()
        self._on_change()

    def close(self) -> None:
        """Fold everything again, end the search, and show the prompt."""
        self.is_open = False
        self._query = None
        self.finder.find("")
        self._bar.close()
        self._transcript.set_detailed(False)
        self._on_change()

    def press(self, event: RoutedEvent) -> None:
        """Handle a key."""
        if self._query is not None:
            self._press_in_query(event, self._query)
        else:
            key = event.key if len(event.key) > 1 else event.text or event.key
            match self._chords.press(key, CONTEXTS):
                case Match(action_id=action_id):
                    self.finder.cancel_jump()
                    self._actions.get(action_id, lambda: None)()
                case _:
                    return
        if self.is_open:
            self._show()

    def paste(self, text: str) -> bool:
        """Append pasted text to the query; False if none is being typed."""
        if self._query is None:
            return False
        self._set_query(self._query + " ".join(text.split()))
        self._show()
        return True

    # Search

    def _press_in_query(self, event: RoutedEvent, query: str) -> None:
        match event.key:
            case "enter":
                self._query = None
            case "escape":
                self._query = None
                self.finder.find("")
            case "backspace" | "ctrl+h":
                self._set_query(query[:-1])
            case "ctrl+u":
                self._set_query("")
            case "ctrl+w":
                self._set_query(query.rstrip().rpartition(" ")[0])
            case "down" | "ctrl+n":
                self.finder.go(1)
            case "up" | "ctrl+p":
                self.finder.go(-1)
            case _ if event.text and event.text.isprintable():
                self._set_query(query + event.text)
            case _:
                pass

    def _set_query(self, query: str) -> None:
        self._query = query
        self.finder.find(query)

    # Keys

    def _action_table(self) -> Mapping[str, Callable[[], None]]:
        transcript, finder = self._transcript, self.finder
        return {
            "transcript:exit": self.close,
            "app:toggleTranscript": self.close,
            "transcript:toggleShowAll": self._toggle_folding,
            "transcript:search": partial(self._set_query, ""),
            # A search starts at the newest hit, so the next one is above, as after `?` in a pager.
            "transcript:searchNext": partial(finder.go, -1),
            "transcript:searchPrevious": partial(finder.go, 1),
            "transcript:previousPrompt": partial(finder.to_prompt, -1),
            "transcript:nextPrompt": partial(finder.to_prompt, 1),
            "transcript:toolDetail": self._fold_and_choose,
            "transcript:dump": partial(finder.with_all, self._write_to_terminal),
            "transcript:editor": partial(finder.with_all, self._open_editor),
            "transcript:lineUp": partial(transcript.scroll_rows, -1),
            "transcript:lineDown": partial(transcript.scroll_rows, 1),
            "transcript:pageUp": partial(transcript.scroll_pages, -1.0),
            "transcript:pageDown": partial(transcript.scroll_pages, 1.0),
            "transcript:bottom": transcript.to_end,
            **scroll_actions(transcript),
            "transcript:top": finder.to_start,
            "scroll:top": finder.to_start,
        }

    def _key_of(self, action_id: str) -> str:
        """Return the key of an action; letters as they are typed, because n and N differ."""
        key = self._chords.keymap.display(action_id)
        return key.lower() if len(key) == 1 else key

    def _toggle_folding(self) -> None:
        self._is_unfolded = not self._is_unfolded
        self._transcript.set_detailed(self._is_unfolded)

    def _fold_and_choose(self) -> None:
        """Fold everything before choosing the detail, whose levels apply only to folded calls."""
        self._is_unfolded = False
        self._transcript.set_detailed(False)
        self._choose_detail()

    def _write_to_terminal(self) -> None:
        self._reader.to_terminal(self._transcript.whole_text())

    def _open_editor(self) -> None:
        self._reader.text(self._transcript.whole_text(), "transcript.md")

    def _show_again(self) -> None:
        if self.is_open:
            self._show()

    def _show(self) -> None:
        if self._query is not None:
            keys = ["enter keep", "↑↓ hits", "esc close"]
        else:
            fold = "fold" if self._is_unfolded else "unfold"
            keys = [
                f"{key} {name}"
                for action_id, name in (
                    ("transcript:search", "search"),
                    ("transcript:searchNext", "next"),
                    ("transcript:previousPrompt", "prompts"),
                    ("transcript:exit", "back"),
                    ("transcript:toggleShowAll", fold),
                    ("transcript:toolDetail", "detail"),
                    ("transcript:editor", "editor"),
                )
                if (key := self._key_of(action_id))
            ]
        self._bar.show(self._query, self.finder.hit_summary, keys)


def scroll_actions(transcript: TranscriptWidget) -> Mapping[str, Callable[[], None]]:
    """Return the scroll actions by id."""
    return {
        "scroll:lineUp": partial(transcript.scroll_rows, -1),
        "scroll:lineDown": partial(transcript.scroll_rows, 1),
        "scroll:pageUp": partial(transcript.scroll_pages, -1.0),
        "scroll:pageDown": partial(transcript.scroll_pages, 1.0),
        "scroll:fullPageUp": partial(transcript.scroll_pages, -1.0),
        "scroll:fullPageDown": partial(transcript.scroll_pages, 1.0),
        "scroll:halfPageUp": partial(transcript.scroll_pages, -0.5),
        "scroll:halfPageDown": partial(transcript.scroll_pages, 0.5),
        "scroll:top": transcript.to_start,
        "scroll:bottom": transcript.to_end,
    }
