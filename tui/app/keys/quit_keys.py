"""Ctrl+C, Ctrl+D and Esc: interrupt, clear the prompt, quit on the second press."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tui.app.session.bang_commands import BangCommands
from tui.app.session.prompt_runner import PromptRunner
from tui.dialogs.host import DialogHost
from tui.input.event import RoutedEvent
from tui.prompt.composer import Composer, leave_shell
from tui.prompt.prompt_history import PromptHistory
from tui.transcript.transcript_widget import TranscriptWidget

LEAVE_S: Final = 2.0
"""How long after the first Ctrl+C or Ctrl+D on an empty prompt a second one quits."""


class QuitKeys:
    """Handles the three keys; each performs only the first of its steps that applies."""

    def __init__(
        self,
        composer: Composer,
        transcript: TranscriptWidget,
        dialogs: DialogHost,
        history: PromptHistory,
        runner: PromptRunner,
        bang_commands: BangCommands,
        hint: Callable[[str], None],
        close_mode: Callable[[], bool],
        clock: Callable[[], float],
        copy: Callable[[str], None],
        leave: Callable[[], None],
        count_in_background: Callable[[], int],
    ) -> None:
        """`close_mode` closes the open keyboard mode; `leave` ends the program."""
        self._composer = composer
        self._transcript = transcript
        self._dialogs = dialogs
        self._history = history
        self._runner = runner
        self._bang_commands = bang_commands
        self._hint = hint
        self._close_mode = close_mode
        self._clock = clock
        self._copy = copy
        self._leave = leave
        self._count_in_background = count_in_background
        self._key = ""
        self._until_s = 0.0

    def on_ctrl_c(self, event: RoutedEvent) -> None:
        """Close a mode, copy, interrupt or clear the prompt; quit on the second press."""
        event.claim()
        if self._close_mode():
            return
        if text := self._marked_text:
            self._copy(text)
            self._transcript.marker.clear()
            self._composer.marker.drop()
            self._hint("copied")
        elif self._is_armed("ctrl+c"):
            self._leave()
        elif self._bang_commands.kill_latest():
            pass
        elif self._runner.interrupt():
            self._expect_second_press("ctrl+c")
        elif not self._composer.buffer.is_empty and not self._dialogs.open_count:
            self._history.add(self._composer.take())
            self._expect_second_press("ctrl+c")
        else:
            self._expect_second_press("ctrl+c")

    def disarm(self) -> None:
        """Require two presses again, because the user has typed."""
        if self._key:
            self._key = ""
            self._hint("")

    @property
    def _marked_text(self) -> str:
        in_prompt = "" if self._dialogs.open_count else self._composer.marked_text
        return in_prompt or self._transcript.marked_text

    def on_ctrl_d(self, event: RoutedEvent) -> None:
        """Delete the next character of a draft; on an empty prompt quit on the second press."""
        event.claim()
        if not self._composer.buffer.is_empty and not self._dialogs.open_count:
            self._composer.edit(lambda buffer: buffer.delete())
        elif self._is_armed("ctrl+d"):
            self._leave()
        else:
            self._expect_second_press("ctrl+d")

    def cancel(self) -> None:
        """Handle Esc: clear a selection, or else interrupt, or else leave shell mode."""
        if self._marked_text:
            self._composer.marker.drop()
            self._transcript.marker.clear()
        elif self._bang_commands.kill_latest() or self._runner.interrupt():
            pass
        elif self._composer.prefix == "!":
            self._composer.edit(leave_shell)

    def _is_armed(self, key: str) -> bool:
        return self._key == key and self._clock() < self._until_s

    def _expect_second_press(self, key: str) -> None:
        self._key = key
        self._until_s = self._clock() + LEAVE_S
        count = self._count_in_background()
        ends = f"; {count} command{'s end' if count != 1 else ' ends'}" if count else ""
        self._hint(f"press {key} again to quit{ends}")
