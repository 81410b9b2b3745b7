"""Rewind a conversation to before a prompt, and files to their content before it.

Nothing is removed from the transcript on disk. Next: `agent.session.rewind`,
`agent.session.checkpoints.checkpoint`.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agent.conversation.accounting import Totals
from agent.conversation.conversation_view import ConversationState
from agent.errors import SessionError
from agent.loop.loop_ports import BackgroundReport
from agent.prompt.shell_command_note import as_typed
from agent.prompt.system import note
from agent.session.rewind import RewindPoint, history_before, rewind_points

if TYPE_CHECKING:
    from agent.session.checkpoints.checkpoint import Checkpoints, Preview, RestoreResult
    from agent.session.session_recorder import SessionRecorder

_BELONG_TO_PROMPT = frozenset({"reminder", "hook", "interruption"})
_BUSY = "A turn is still running. Interrupt it first."


class Rewinding:
    """Rewinds one conversation, but never while a turn is running."""

    def __init__(
        self,
        state: ConversationState,
        recorder: SessionRecorder,
        totals: Totals,
        checkpoints: Checkpoints | None,
    ) -> None:
        """`checkpoints` is None if files are not stored."""
        self._state = state
        self._recorder = recorder
        self._totals = totals
        self.checkpoints = checkpoints

    async def points(self) -> tuple[RewindPoint, ...]:
        """Return the prompts to go back to, oldest first, including those before a compaction.

        Raises:
            SessionError: the session file cannot be read.
        """
        return await asyncio.to_thread(rewind_points, self._recorder.transcript_path)

    async def preview_files(
        self, turn_id: str, paths: Iterable[Path] | None = None
    ) -> Preview | None:
        """Return how rewinding to before a turn would change files; None if it would not."""
        checkpoints = self.checkpoints
        if checkpoints is None:
            return None
        first = await self._first_change(checkpoints, turn_id)
        return await checkpoints.preview(first, paths) if first else None

    async def restore_files(
        self, turn_id: str, paths: Iterable[Path] | None = None
    ) -> RestoreResult | None:
        """Restore files to their state before a turn; `redo_id` of the result undoes this.

        Raises:
            SessionError: a turn is running, or the current state cannot be stored; nothing changed.
        """
        if self._state.abort is not None:
            raise SessionError(_BUSY)
        checkpoints = self.checkpoints
        if checkpoints is None:
            return None
        first = await self._first_change(checkpoints, turn_id)
        if first is None:
            return None
        result = await checkpoints.restore(first, paths, redo_id=uuid.uuid4().hex[:12])
        files = len(result.done_changes)
        self._state.notes.append(
            f"The user put {files} file(s) back to their state before an earlier prompt: "
            + ", ".join(str(change.path) for change in result.done_changes[:20])
            + ". Read them again before you change them."
        )
        return result

    async def undo_edits(self, tool_use_ids: Sequence[str]) -> RestoreResult:
        """Undo the changes of calls to files, even while a turn is running, and notify the model.

        Raises:
            SessionError: the current state cannot be stored; nothing changed.
        """
        checkpoints = self.checkpoints
        if checkpoints is None:
            raise SessionError("No earlier versions of files are stored in this session.")
        result = await checkpoints.undo(tool_use_ids, redo_id=uuid.uuid4().hex[:12])
        if result.done_changes:
            names = ", ".join(str(change.path) for change in result.done_changes)
            self._state.news.append(
                f"The user undid your last change of {names}: it is again as it was before. Do not "
                "make that change again unless the user asks for it, and read the file before you "
                "edit it."
            )
        return result

    def take_news(self) -> list[BackgroundReport]:
        """Remove and return the notes for the model before its next request."""
        news, self._state.news = self._state.news, []
        return [BackgroundReport("", note(text)) for text in news]

    async def rewind(self, prompt_uid: str) -> str:
        """Go back to before one of the user's messages and return its text.

        If the message precedes a compaction, the history before the compaction is restored.

        Raises:
            SessionError: a turn is running, or there is no such message.
        """
        if self._state.abort is not None:
            raise SessionError(_BUSY)
        messages = self._state.messages
        index = next((i for i, m in enumerate(messages) if m.uid == prompt_uid), None)
        if index is None:
            return await self._rewind_past_compaction(prompt_uid)
        text = as_typed(messages[index].text)
        while index and messages[index - 1].origin in _BELONG_TO_PROMPT:
            # Notes before the prompt are removed with it, and added again later.
            index -= 1
        self._state.messages = messages[:index]
        await self._record_rewind()
        return text

    async def _rewind_past_compaction(self, prompt_uid: str) -> str:
        """Go back to before a compaction; the file still has what the model no longer sees."""
        points = {point.message_uid: point for point in await self.points()}
        if prompt_uid not in points:
            raise SessionError("That message is no longer part of the conversation.")
        self._state.messages = await asyncio.to_thread(
            history_before, self._recorder.transcript_path, prompt_uid
        )
        await self._record_rewind()
        return points[prompt_uid].text

    async def _record_rewind(self) -> None:
        messages = self._state.messages
        self._state.has_opening = bool(messages)
        # The size of the context is unknown until the next answer.
        self._totals.context_tokens = 0
        await self._recorder.rewound(messages[-1].uid if messages else None, messages)

    async def _first_change(self, checkpoints: Checkpoints, turn_id: str) -> str | None:
        """Return the first turn from this one on that changed files, or None: a turn without
        changes has no snapshot."""
        turns_with_changes = checkpoints.turns
        if turn_id in turns_with_changes:
            return turn_id
        turns = [point.turn_id for point in await self.points()]
        later = turns[turns.index(turn_id) :] if turn_id in turns else []
        return next((turn for turn in later if turn in turns_with_changes), None)
