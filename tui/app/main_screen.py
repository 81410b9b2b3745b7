"""The widgets of the main screen, and the protocol of the running program."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any, Protocol

from msgspec import Struct
from textual.geometry import Size
from textual.screen import Screen
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget

from tui.app.activity_line import ActivityLine
from tui.app.todo_panel import TodoPanel
from tui.dialogs.host import DialogHost
from tui.input.key_handover import KeyHandover
from tui.prompt.completion_menu import CompletionMenu
from tui.prompt.composer import Composer
from tui.status_line.agents_panel import AgentsPanel
from tui.status_line.status_widget import StatusLine
from tui.transcript.inline.inline_transcript import InlineTranscript
from tui.transcript.reading.reading_bar import ReadingBar
from tui.transcript.transcript_widget import TranscriptWidget


class ScreenRuntime(Protocol):
    """The running Textual program, as the parts of the screen use it."""

    @property
    def is_live(self) -> bool: ...
    @property
    def screen_stack(self) -> list[Screen[Any]]: ...
    @property
    def size(self) -> Size: ...
    @property
    def output_is_slow(self) -> bool: ...
    @property
    def handover(self) -> KeyHandover: ...
    def start_worker(self, work: Awaitable[None]) -> None: ...
    def set_timer(self, delay: float, callback: Callable[[], None]) -> Timer: ...
    def set_interval(self, interval: float, callback: Callable[[], None]) -> Timer: ...


class MainScreen(Struct, frozen=True, eq=False):
    """The widgets, from top to bottom."""

    transcript: TranscriptWidget
    dialogs: DialogHost
    activity: ActivityLine
    todo_panel: TodoPanel
    agents_panel: AgentsPanel
    composer: Composer
    transcript_bar: ReadingBar
    menu: CompletionMenu
    status_line: StatusLine

    def widgets(self) -> Iterator[Widget]:
        """Yield the widgets from top to bottom."""
        for name in self.__struct_fields__:
            yield getattr(self, name)

    # The protocol `InlineContent` of an inline frame

    def live_rows(self) -> int:
        """Return how many rows the widgets occupy, as of the last layout."""
        return max((widget.region.bottom for widget in self.widgets() if widget.display), default=0)

    def take_finished(self, width_cells: int) -> Sequence[Strip]:
        """Return finished rows of the transcript, for the terminal's scrollback."""
        return self._inline.take_finished(width_cells)

    def take_rest(self, width_cells: int) -> Sequence[Strip]:
        """Return all remaining rows of the transcript."""
        return self._inline.take_rest(width_cells)

    def show_whole(self, is_wanted: bool) -> None:
        """Show the whole transcript, or only its unfinished blocks."""
        self._inline.show_whole(is_wanted)

    @property
    def _inline(self) -> InlineTranscript:
        assert self.transcript.inline is not None
        return self.transcript.inline
