"""Offers to undo file changes that the user was not asked about, for some seconds after each."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from agent.display import DiffDisplay
from agent.errors import AgentError
from permissions.base.text.count_text import count_text
from tui.app.notices import Notices
from tui.app.session.conversation_holder import ConversationHolder
from tui.dialogs.host import DialogHost
from tui.status_line.hint import Hint
from tui.text.safe_text import shown_line

if TYPE_CHECKING:
    from agent.events import AgentEvent

OFFERED_S: Final = 5.0
_PEOPLE: Final = frozenset({"user", "bridge", "channel"})


class UndoOffer:
    """The changes that one key undoes; each further change is added and renews the offer."""

    def __init__(
        self,
        conversations: ConversationHolder,
        hint: Hint,
        dialogs: DialogHost,
        notices: Notices,
        key: Callable[[], str],
        start_worker: Callable[[Awaitable[None]], object],
        take_back: Callable[[Iterable[str]], None],
        clock: Callable[[], float],
    ) -> None:
        """`key` returns the key of `chat:undoFiles`; if it is unbound, nothing is offered.

        `take_back` receives the ids of the calls whose changes were undone.
        """
        self._conversations = conversations
        self._hint = hint
        self._dialogs = dialogs
        self._notices = notices
        self._key = key
        self._start_worker = start_worker
        self._take_back = take_back
        self._clock = clock
        self._approved_calls: set[str] = set()
        self._paths: dict[str, str] = {}
        """Changed paths by call id, in the order of the changes."""
        self._until_s = 0.0
        self._text = ""

    def observe(self, event: AgentEvent) -> None:
        """Offer to undo a change that the user did not approve."""
        if event.type == "permission_resolved" and event.decision.source in _PEOPLE:
            self._approved_calls.add(event.tool_use_id)
        elif event.type == "tool_result" and event.agent_id is None:
            was_approved = event.tool_use_id in self._approved_calls
            self._approved_calls.discard(event.tool_use_id)
            if event.outcome != "ok" or was_approved or not isinstance(event.display, DiffDisplay):
                return
            if key := self._key():
                self._offer(event.tool_use_id, event.display.path, key)

    def _offer(self, tool_use_id: str, path: str, key: str) -> None:
        if self._clock() > self._until_s:
            self._paths.clear()
        self._paths[tool_use_id] = path
        self._until_s = self._clock() + OFFERED_S
        paths = set(self._paths.values())
        what = shown_line(PurePath(path).name) if len(paths) == 1 else f"{len(paths)} files"
        self._text = f"{what} changed · {key} to undo"
        if not self._dialogs.open_count:
            self._hint.show(self._text, OFFERED_S)

    def on_dialogs(self) -> None:
        """Hide the offer while a dialog is open, which receives the keys."""
        if self._dialogs.open_count:
            self._hint.hide(self._text)

    def take(self) -> None:
        """Undo the offered changes."""
        conversation = self._conversations.current
        if conversation is None or not self._paths or self._clock() > self._until_s:
            self._notices.hint("no file change to undo; /rewind goes further back")
            return
        edits = dict(self._paths)
        self._paths.clear()
        self._hint.hide(self._text)
        self._start_worker(self._undo(edits))

    async def _undo(self, edits: Mapping[str, str]) -> None:
        from agent.tools.files.paths import display_path  # loaded with the conversation

        conversation = self._conversations.current
        if conversation is None:
            return
        try:
            result = await conversation.rewinding.undo_edits(tuple(edits))
        except AgentError as error:
            self._notices.warn(str(error))
            return
        root = conversation.view.launch_dir
        left_names = {display_path(change.path, root) for change, _ in result.failures}
        self._take_back([use_id for use_id, name in edits.items() if name not in left_names])
        names = [shown_line(change.path.name) for change in result.done_changes]
        if names:
            what = names[0] if len(names) == 1 else count_text(len(names), "file")
            self._notices.notice(f"Undone: {what} · the model is informed · /rewind to redo")
        for change, reason in result.failures:
            self._notices.warn(f"{shown_line(str(change.path))} was not restored: {reason}")
