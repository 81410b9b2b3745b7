"""The drawn screen as commands and panels use it.

Its protocol is `tui.ports.command_screen.CommandScreen`. Next: `session_control`, `appearance`,
`workspace`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui.app.appearance import Appearance
from tui.app.key_table import KeyTable
from tui.app.keys.between_dialogs import BetweenDialogs
from tui.app.notices import Notices
from tui.app.session.session_control import ScreenSession
from tui.app.workspace import ScreenWorkspace
from tui.dialogs.dialog import AnsweredDialog, AnswerT
from tui.dialogs.host import DialogHost
from tui.ports.command_screen import CommandScreen
from tui.prompt.composer import Composer


class CommandApi:
    """Implements `CommandScreen`."""

    def __init__(
        self,
        session: ScreenSession,
        appearance: Appearance,
        workspace: ScreenWorkspace,
        keys: KeyTable,
        composer: Composer,
        dialogs: DialogHost,
        between_dialogs: BetweenDialogs,
        notices: Notices,
    ) -> None:
        """Store the parts of the screen that commands use."""
        self.session = session
        self.appearance = appearance
        self.workspace = workspace
        self.keys = keys
        self.composer = composer
        self._dialogs = dialogs
        self._between_dialogs = between_dialogs
        self._notices = notices

    def notice(self, text: str, level: str = "info") -> None:
        """Add a message of the program to the transcript."""
        self._notices.notice(text, level)

    def hint(self, text: str) -> None:
        """Show a text in the status line for a moment."""
        self._notices.hint(text)

    async def show_dialog(self, dialog: AnsweredDialog[AnswerT]) -> AnswerT:
        """Show a dialog and return its answer."""
        from tui.dialogs.ports import show  # with the first dialog: it takes 30 ms to import

        self._between_dialogs.note_dialog()
        return await show(self._dialogs, dialog)


if TYPE_CHECKING:

    def _check_protocol(screen: CommandApi) -> CommandScreen:
        return screen
