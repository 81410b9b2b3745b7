"""The user's directory, settings, editor, clipboard and window, as commands use them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final

from permissions.mode import Mode
from tui.app.notices import Notices
from tui.prompt.edit_externally import Editing
from tui.status_line.status_counts import StatusCounts
from tui.terminal.title import TerminalTitle
from tui.text.safe_text import shown_path
from tui.transcript.transcript_widget import TranscriptWidget
from tui.transcript.welcome import RecentSession, welcome_rows

DIRECTORY_CELLS: Final = 30


class ScreenWorkspace:
    """Implements `tui.ports.command_screen.Workspace`."""

    def __init__(
        self,
        directory: Path,
        home: Path,
        agent_home: Path | None,
        version: str,
        *,
        awaits_demo: bool,
        transcript: TranscriptWidget,
        window: TerminalTitle,
        counts: StatusCounts,
        notices: Notices,
        editing: Editing,
        copy: Callable[[str], None],
        output_line: Callable[[], str],
        show_lines: Callable[[], None],
    ) -> None:
        """`directory` is not shown while `awaits_demo`: the demo's copy will replace it."""
        self.directory = directory
        self.home = home
        self.agent_home = agent_home
        self.awaits_demo = awaits_demo
        self._version = version
        self._transcript = transcript
        self._window = window
        self._counts = counts
        self._notices = notices
        self.edit_file = editing.file
        self.copy_to_clipboard = copy
        self.output_line = output_line
        self._show_lines = show_lines
        self._recent: Sequence[RecentSession] = ()
        self._tip = ""
        self._mode = Mode.DEFAULT
        self._is_demo = False

    def display_path(self, path: Path) -> str:
        """Return a path as it is shown to users, with `~` for home."""
        return from_home(path, self.home)

    def use_directory(self, directory: Path) -> None:
        """Use the demo's copy of its project as the working directory."""
        self.directory, self.awaits_demo, self._is_demo = directory, False, True
        self.show_header()
        self._show_lines()

    def use_mode(self, mode: Mode) -> None:
        """Show what the permission mode means in the header."""
        if mode is not self._mode:
            self._mode = mode
            self.show_header()

    def show_header(self) -> None:
        """Show the transcript's header: program, version and directory."""
        if self.awaits_demo:
            self._transcript.set_header(welcome_rows(self._version, "", is_demo=True))
            return
        directory = self.display_path(self.directory)
        self._window.name(self.directory.name or directory)
        self._transcript.set_header(
            welcome_rows(
                self._version,
                directory,
                mode=self._mode,
                is_demo=self._is_demo,
                recent=self._recent,
                tip=self._tip,
            )
        )

    def show_recent(self, recent: Sequence[RecentSession], tip: str) -> None:
        """Add the latest conversations and a tip to the header."""
        self._recent, self._tip = recent, tip
        self.show_header()

    def name_window(self, title: str) -> None:
        """Show a session's name as the window's title."""
        self._window.name(title)
        self._counts.title = title

    async def save_setting(self, key: str, value: object) -> None:
        """Write one of the user's settings."""
        if self.agent_home is None:
            return
        from tui.app.save_setting import save_setting  # with the first setting that is written

        if problem := await save_setting(self.agent_home, key, value):
            self._notices.warn(problem)


@lru_cache(maxsize=16)
def from_home(path: Path, home: Path) -> str:
    """Return the full path, with `~` for the home directory."""
    try:
        inside = path.relative_to(home)
    except ValueError:
        return shown_path(str(path))
    return "~" if not inside.parts else f"~/{shown_path(str(inside))}"


def short_directory(path: Path, home: Path) -> str:
    """Return a path for the status line; of a long one only the last directory."""
    text = from_home(path, home)
    if len(text) <= DIRECTORY_CELLS:
        return text
    return "…/" + text.rsplit("/", 1)[-1]
