"""Places the terminal's cursor: in the prompt, in a dialog, or hidden."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from tui.app.idle_notification import IdleNotification
from tui.app.main_screen import MainScreen, ScreenRuntime
from tui.dialogs.dialog import key_handling_of, notification_text_of
from tui.terminal.bell import TerminalBell


class CaretHost(Protocol):
    """The program that shows the terminal's cursor, or hides it."""

    shows_caret: bool

    def call_after_refresh(self, callback: Callable[[], object]) -> bool: ...


class CaretControl:
    """Moves the caret when dialogs or reading mode open and close."""

    def __init__(
        self,
        host: CaretHost,
        runtime: ScreenRuntime,
        screen: MainScreen,
        attention: TerminalBell,
        idle_notification: IdleNotification,
        show_lines: Callable[[], None],
        use_whole_window: Callable[[bool], None],
    ) -> None:
        """`attention` rings for questions; `use_whole_window` leaves or restores inline rows."""
        self._host = host
        self._runtime = runtime
        self._screen = screen
        self._attention = attention
        self._idle_notification = idle_notification
        self._show_lines = show_lines
        self._use_whole_window = use_whole_window

    def on_dialogs(self) -> None:
        """React to a dialog that was opened, changed or closed."""
        self._idle_notification.stop()
        self._attention.clear_question()
        dialog = self._screen.dialogs.current
        if dialog is not None:
            if key_handling_of(dialog).is_guarded:
                self._attention.ask(notification_text_of(dialog))
            self._idle_notification.question_open()
        self._show_lines()
        if self._runtime.is_live:
            self._choose()

    def on_reading(self) -> None:
        """React to the start or end of reading mode."""
        self._show_lines()
        self._choose()

    def _choose(self) -> None:
        screen = self._screen
        dialog = screen.dialogs.current
        # A panel was opened by the user, in contrast to a question of the program.
        is_panel = dialog is not None and not key_handling_of(dialog).is_guarded
        self._use_whole_window(is_panel or screen.transcript_bar.is_open)
        if screen.dialogs.open_count:
            self._host.shows_caret = screen.dialogs.has_caret
            return
        self._host.shows_caret = not screen.transcript_bar.is_open
        if self._host.shows_caret:
            screen.composer.focus()
            self._host.call_after_refresh(screen.composer.refresh_text)
