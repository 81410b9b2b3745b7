"""What is typed and not sent: the draft, and the drafts that were put aside."""

from __future__ import annotations

from tui.app.session.bang_commands import BangCommands
from tui.editing.draft import Draft
from tui.prompt.composer import Composer


class UnsentText:
    """What a crash must not lose."""

    def __init__(self, composer: Composer, bang_commands: BangCommands) -> None:
        """Take where the user types, and the shell commands that still run."""
        self._composer = composer
        self._bang_commands = bang_commands
        self.stash: list[Draft] = []
        """The drafts that were put aside, oldest first."""

    @property
    def text(self) -> str:
        """All drafts; without any, the user's shell command that still runs."""
        drafts = (
            *(draft.expanded_text for draft in self.stash),
            self._composer.buffer.draft.expanded_text,
        )
        unsent = "\n\n".join(draft for draft in drafts if draft)
        return unsent or self._bang_commands.latest
