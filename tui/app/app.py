"""The Textual application of the interactive program.

Next: `tui.app.parts` (the parts of the screen).
"""

from __future__ import annotations

import os
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

from textual import events
from textual.app import ComposeResult

from permissions.base.text.count_text import count_text
from tui.app.parts import ScreenParts
from tui.app.session.conversation_start import JudgeCall, SuggestGrants
from tui.app.session.session_control import ExitReport
from tui.input.event import Phase
from tui.input.event_kind import EventKind
from tui.input.routed_app import RoutedApp
from tui.input.terminal_reply import TerminalReply
from tui.ports.app_options import AppOptions
from tui.ports.conversation import MakeConversation, Release
from tui.screen.direct_rows import DirectRows
from tui.terminal.bell import REPORTS_FOCUS
from tui.theme.theme_palette import Palette
from tui.transcript.transcript_widget import TranscriptWidget


def _without_secrets(text: str) -> str:
    from permissions.base.text.redactor import Redactor, secrets_of  # with a crash alone

    return Redactor(secrets_of(os.environ)).text(text)


class AgentApp(DirectRows[ExitReport], RoutedApp[ExitReport], inherit_bindings=False):
    """Passes Textual's messages to the parts, and gives them access to Textual.

    Textual's default keys are not inherited: Ctrl+Q would exit without confirmation.
    """

    CSS = """
    Screen { overflow: hidden; }
    """
    ENABLE_COMMAND_PALETTE = False
    ALLOW_SELECT = False
    INLINE_PADDING = 0

    without_secrets = staticmethod(_without_secrets)

    def __init__(
        self,
        make_conversation: MakeConversation,
        options: AppOptions,
        *,
        suggest_grants: SuggestGrants = lambda _request, _decision: (),
        judge_call: JudgeCall = lambda _request: None,
        clock: Callable[[], float] = time.monotonic,
        edit_text: Callable[[str, str], str] | None = None,
        edit_path: Callable[[Path], None] | None = None,
        release: Release | None = None,
    ) -> None:
        """`make_conversation` is called after the first frame; `release` ends a conversation.

        `edit_text` and `edit_path` open the user's editor; None if there is none.
        """
        is_plain = options.no_color or options.theme.uses_terminal_palette or options.is_inline
        super().__init__(ansi_color=True if is_plain else None)
        self.parts = ScreenParts(
            self,
            self,
            options,
            make_conversation,
            suggest_grants=suggest_grants,
            judge_call=judge_call,
            clock=clock,
            edit_text=edit_text,
            edit_path=edit_path,
            release=release,
        )

    def compose(self) -> ComposeResult:
        """Yield the widgets from top to bottom."""
        yield from self.parts.main_screen.widgets()

    def on_mount(self) -> None:
        """Show the first frame from `AppOptions`; start the conversation once it is shown."""
        parts = self.parts
        self.router.reserve("ctrl+c", parts.keyboard.quit_keys.on_ctrl_c)
        self.router.reserve("ctrl+d", parts.keyboard.quit_keys.on_ctrl_d)
        listen = partial(self.router.listen, self)
        listen(Phase.CAPTURE, parts.keyboard.modes.on_key, (EventKind.KEY,))
        listen(
            Phase.CAPTURE,
            lambda event: parts.bell.set_focus(event.kind is EventKind.FOCUS),
            (EventKind.FOCUS, EventKind.BLUR),
        )
        listen(Phase.BUBBLE, parts.transcript.on_wheel, (EventKind.SCROLL,))
        self.shows_caret = True
        parts.terminal.start(parts.terminal_title)
        parts.workspace.show_header()
        for notice in parts.options.notices:
            parts.document.add_notice("warning", notice)
        parts.composer.focus()
        parts.runner.show_begun(parts.presenter.fold)
        parts.presenter.show()
        self.call_after_refresh(lambda: self.start_worker(parts.start.begin()))

    async def on_unmount(self) -> None:
        """Release the resources of the parts."""
        self.parts.presenter.stop()
        self.parts.executor.shutdown(wait=False, cancel_futures=True)
        await self.parts.keyboard.files.aclose()

    def on_resize(self, event: events.Resize) -> None:
        """Update what depends on the size of the screen."""
        self.parts.composer.rows_changed()
        self.call_after_refresh(self.parts.user_status.schedule_if_changed)

    async def on_event(self, event: events.Event) -> None:
        """Handle an event; a key also postpones the idle notification."""
        if isinstance(event, events.Key):
            self.parts.idle_notification.postpone()
        await super().on_event(event)

    def on_transcript_widget_copied(self, message: TranscriptWidget.Copied) -> None:
        """Show a hint that selected text was copied."""
        self.parts.notices.hint(f"copied {count_text(len(message.text), 'character')}")

    def on_terminal_reply(self, message: TerminalReply) -> None:
        """Handle a reply of the terminal."""
        parts = self.parts
        if message.text in REPORTS_FOCUS:
            parts.bell.reports_focus()
            return
        parts.terminal.on_reply(message.text, parts.appearance.themes, self._lay_out_again)

    def _lay_out_again(self) -> None:
        """Measure all text again, and redraw the whole screen."""
        self.parts.transcript.code_changed()
        self.parts.composer.rows_changed()
        self.invalidate_screen()

    def copy_to_clipboard(self, text: str) -> None:
        """Copy text to the clipboard, through the terminal and by clipboard programs."""
        super().copy_to_clipboard(text)
        self.start_worker(self.parts.terminal.copy(text, self.parts.notices.hint))

    # The protocol `ScreenRuntime`, for parts and widgets

    @property
    def palette(self) -> Palette:
        """The palette of the current theme."""
        return self.parts.appearance.palette

    @property
    def is_live(self) -> bool:
        """Whether the screen exists: False before the first frame and while the app closes."""
        return bool(self.screen_stack) and self.parts.status_line.is_attached

    def start_worker(self, work: Awaitable[None]) -> None:
        """Run work that is cancelled when the screen closes; an exception ends the program."""
        self.run_worker(work, exit_on_error=True)
