"""Actions on the prompt: send, newline, history, stash, undo."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tui.app.session.prompt_runner import PromptRunner
from tui.commands import normalize_exit
from tui.editing.draft import Draft
from tui.editing.text_buffer import TextBuffer
from tui.prompt.composer import Composer
from tui.prompt.edit_externally import Editing
from tui.prompt.prompt_history import PromptHistory


class PromptKeys:
    """One method per action; those that return False leave the key to others."""

    def __init__(
        self,
        composer: Composer,
        history: PromptHistory,
        runner: PromptRunner,
        submit: Callable[[str], None],
        on_sent: Callable[[str], None],
        on_taken_back: Callable[[], None],
        stash_key: Callable[[], str],
        show_keys: Callable[[], None],
        editing: Editing,
        stash: list[Draft],
        send_later: Callable[[Callable[[], None]], bool],
    ) -> None:
        """`submit` sends a text; `on_sent` receives it before that, as typed.

        `send_later` returns whether images are still being copied, and if so sends the draft then.
        """
        self._composer = composer
        self._history = history
        self._runner = runner
        self._submit = submit
        self._on_sent = on_sent
        self._on_taken_back = on_taken_back
        self._stash_key = stash_key
        self._show_keys = show_keys
        self._editing = editing
        self._stash = stash
        self._send_later = send_later

    def actions(self) -> Mapping[str, Callable[[], object]]:
        """Return the methods by action id."""
        return {
            "chat:submit": self.send,
            "chat:newline": self.newline,
            "chat:rewind": self.clear_draft,
            "chat:undo": self.undo,
            "chat:redo": self.redo,
            "chat:externalEditor": self.edit_externally,
            "chat:stash": self.swap_stash,
            "chat:expandPastes": self.expand_pastes,
            "chat:help": self.help_when_empty,
            "history:previous": self.previous,
            "history:next": self.next,
        }

    def send(self) -> None:
        """Send the prompt; a backslash before the cursor makes Enter a newline."""
        buffer = self._composer.buffer
        text = buffer.text
        if text[: buffer.cursor].endswith("\\"):
            self._composer.edit(lambda b: b.backspace())
            self.newline()
            return
        if self._send_later(self.send) or not text.strip():
            return
        draft = self._composer.take()
        self._history.add(draft)
        text = normalize_exit(draft.expanded_text.strip("\n"))
        self._on_sent(text)
        self._submit(text)

    def newline(self) -> None:
        """Insert a line break."""
        self._composer.insert("\n")

    def undo(self) -> None:
        """Undo the last edit."""
        self._composer.edit(TextBuffer.undo)

    def redo(self) -> None:
        """Redo the last undone edit."""
        self._composer.edit(TextBuffer.redo)

    def expand_pastes(self) -> None:
        """Replace the chips of pasted texts with the texts."""
        self._composer.edit(TextBuffer.expand_chips)

    def edit_externally(self) -> None:
        """Edit the draft in the user's editor."""
        text = self._editing.text(self._composer.buffer.draft.expanded_text)
        if text is not None:
            self._composer.edit(lambda buffer: buffer.set_text(text.rstrip("\n")))

    def clear_draft(self) -> None:
        """Clear the draft and add it to the history; without a draft, run `/rewind`."""
        if not self._composer.buffer.is_empty:
            self._history.add(self._composer.take())
        elif not self._runner.is_running:
            self._submit("/rewind")

    def previous(self) -> None:
        """Move up one row; from the first row, take back queued prompts or recall the last."""
        if self._composer.move_row(-1):
            return
        if self._runner.waiting_prompts:
            prompts = self._runner.take_back()
            is_draft_empty = self._composer.buffer.is_empty
            self._composer.edit(TextBuffer.start)
            self._composer.insert("\n".join(prompt.text for prompt in prompts))
            if not is_draft_empty:
                # The draft follows the queued prompts, after which it would have been sent.
                self.newline()
                self._composer.edit(TextBuffer.end)
            self._on_taken_back()
            return
        draft = self._history.previous(self._composer.buffer.draft)
        if draft is not None:
            self._composer.load(draft)

    def next(self) -> None:
        """Move down one row; from the last row recall the next prompt."""
        if not self._composer.move_row(1):
            draft = self._history.next()
            if draft is not None:
                self._composer.load(draft)

    def swap_stash(self) -> None:
        """Stash the draft; with an empty prompt restore the last stashed one."""
        if not self._composer.buffer.is_empty:
            self._stash.append(self._composer.take())
        elif self._stash:
            self._composer.load(self._stash.pop())
        count = len(self._stash)
        drafts = f"{count} drafts" if count > 1 else "a draft"
        self._composer.set_note(f" {drafts} stashed: {self._stash_key()} " if count else "")

    def help_when_empty(self) -> bool:
        """Open the overview of keys if the prompt is empty; otherwise return False."""
        if not self._composer.buffer.is_empty:
            return False
        self._show_keys()
        return True
