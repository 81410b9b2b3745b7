"""The history of sent prompts: Up and Down recall them, Ctrl+R searches them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final, Literal

from tui.editing.draft import Draft

_MAX_ENTRIES: Final = 1_000

HistoryScope = Literal["session", "project", "everywhere"]
SCOPES: Final[tuple[HistoryScope, ...]] = ("session", "project", "everywhere")


class PromptHistory:
    """Earlier prompts, oldest first, and the user's position among them."""

    def __init__(self, entries: Iterable[str] = ()) -> None:
        """Start after the newest entry."""
        self._entries: list[Draft] = [Draft(text, len(text)) for text in entries]
        self._position: int | None = None
        self._draft = Draft()
        self._session_count = 0
        self._everywhere: list[Draft] | None = None
        self._shell_commands: list[str] | None = None
        """Cache of `shell_commands`; None after the entries have changed."""

    def extend_older(self, texts: Sequence[str]) -> None:
        """Add prompts of earlier runs, given newest first."""
        self._shell_commands = None
        texts_here = {entry.expanded_text for entry in self._entries}
        older = [Draft.of_text(text) for text in reversed(texts) if text not in texts_here]
        self._entries = [*older, *self._entries][-_MAX_ENTRIES:]
        if self._position is not None:
            self._position += len(older)

    @property
    def knows_everywhere(self) -> bool:
        """Whether the prompts of other projects are loaded."""
        return self._everywhere is not None

    def set_everywhere(self, texts: Sequence[str]) -> None:
        """Set the prompts of all projects, given newest first."""
        self._everywhere = [Draft.of_text(text) for text in reversed(texts)]

    def add(self, draft: Draft) -> None:
        """Add a prompt; one that equals the last entry is not added again."""
        self._position = None
        self._shell_commands = None
        if not draft.text.strip():
            return
        if not self._entries or self._entries[-1].expanded_text != draft.expanded_text:
            self._entries.append(Draft(draft.text, len(draft.text), draft.chips))
            self._session_count += 1
            del self._entries[:-_MAX_ENTRIES]

    def previous(self, current: Draft) -> Draft | None:
        """Return the previous entry; None at the oldest. `current` is stored for `next`."""
        if not self._entries:
            return None
        if self._position is None:
            self._draft = current
            self._position = len(self._entries)
        if self._position == 0:
            return None
        self._position -= 1
        return self._entries[self._position]

    def next(self) -> Draft | None:
        """Return the next entry, after the newest the stored draft; None if no entry is shown."""
        if self._position is None:
            return None
        self._position += 1
        if self._position >= len(self._entries):
            self._position = None
            return self._draft
        return self._entries[self._position]

    def leave(self) -> None:
        """Forget the position, because the shown entry was edited and is a draft now."""
        self._position = None

    def shell_commands(self) -> list[str]:
        """Return the commands typed after `!`, newest first, each once."""
        if self._shell_commands is None:
            texts = (entry.expanded_text for entry in reversed(self._entries))
            commands = (text[1:].strip() for text in texts if text.startswith("!"))
            self._shell_commands = list(dict.fromkeys(command for command in commands if command))
        return self._shell_commands

    def search(self, query: str, skip: int = 0, scope: HistoryScope = "project") -> Draft | None:
        """Return the newest entry with the text, after `skip` matches; None without one."""
        return next(islice(self._hits(query, scope), skip, None), None)

    def count(self, query: str, scope: HistoryScope) -> int:
        """Return the number of matches of `search`."""
        return sum(1 for _ in self._hits(query, scope))

    def _hits(self, query: str, scope: HistoryScope) -> Iterator[Draft]:
        """Yield the entries that contain the text, newest first, each text once."""
        needle = query.casefold()
        seen_texts: set[str] = set()
        for entry in reversed(self._entries_in(scope)):
            text = entry.expanded_text
            if needle in text.casefold() and text not in seen_texts:
                seen_texts.add(text)
                yield entry

    def _entries_in(self, scope: HistoryScope) -> Sequence[Draft]:
        match scope:
            case "session":
                return self._entries[max(0, len(self._entries) - self._session_count) :]
            case "project":
                return self._entries
            case "everywhere":
                return [*(self._everywhere or ()), *self._entries]
