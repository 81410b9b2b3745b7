"""Unsent text: the draft, and the stashed drafts."""

from __future__ import annotations

from tui.app.session.bang_commands import BangCommands
from tui.editing.draft import Draft
from tui.prompt.composer import Composer


class UnsentText:
    """Text that a crash must not lose."""

    def __init__(self, composer: Composer, bang_commands: BangCommands) -> None:
        """`composer` has the draft, `bang_commands` the running shell commands."""
        self._composer = composer
        self._bang_commands = bang_commands
        self.stash: list[Draft] = []
        """The stashed drafts, oldest first."""

    @property
    def text(self) -> str:
        """All drafts; without any, the user's running shell command; or ""."""
        drafts = (
            *(draft.expanded_text for draft in self.stash),
            self._composer.buffer.draft.expanded_text,
        )
        unsent = "\n\n".join(draft for draft in drafts if draft)
        return unsent or self._bang_commands.latest
