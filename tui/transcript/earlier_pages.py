"""The earlier part of a resumed session, read from its file page by page.

The end of the session is shown before its conversation is rebuilt; earlier pages are read only as
the user scrolls up. Next: `agent.session.archive.history_pages`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Final, Literal

from msgspec.structs import replace

from agent.display import CommandDisplay, PlanDisplay
from permissions.base.text.sanitize import sanitize
from tui.text.safe_text import shown_display, shown_line
from tui.transcript.block_list import BlockList
from tui.transcript.blocks import Block, CompactionLine, EndLine, NoticeLine, ToolCard, ToolState

if TYPE_CHECKING:
    from pathlib import Path

    from agent.display import Display
    from agent.messages import Message
    from agent.session.archive.history_pages import HistoryPage, SessionPages
    from permissions.decision import Decision
    from tui.transcript.transcript_model import TranscriptModel

_STATES: Final[Mapping[str, ToolState]] = {
    "ok": "ok",
    "failed": "failed",
    "denied": "denied",
    "interrupted": "interrupted",
    "invalid": "invalid",
}


class EarlierPages:
    """Reads the pages of one session at a time."""

    def __init__(
        self,
        document: TranscriptModel,
        start_worker: Callable[[Awaitable[None]], None],
        on_added: Callable[[], None],
    ) -> None:
        """`on_added` is called after a page was added to the document; nothing is read yet."""
        self._document = document
        self._start_worker = start_worker
        self._on_added = on_added
        self._pages: SessionPages | None = None
        self._reading = asyncio.Lock()
        self._is_broken = False

    @property
    def path(self) -> Path | None:
        """The file whose end is shown; None without one."""
        return self._pages.path if self._pages is not None else None

    async def open(self, path: Path) -> None:
        """Show the last page of a session."""
        from agent.session.archive.history_pages import SessionPages  # only a resume needs it

        self._pages = SessionPages(path)
        self._is_broken = False
        await self._read(self._pages)

    def close(self) -> None:
        """Forget the session."""
        self._pages = None

    @property
    def has_more(self) -> bool:
        """Whether there is a page before what is shown."""
        return self._pages is not None and not self._pages.is_at_start and not self._is_broken

    def more(self) -> None:
        """Start to read the previous page, if there is one; called while the user scrolls up."""
        if self._pages is not None and self.has_more and not self._reading.locked():
            self._start_worker(self._read(self._pages))

    async def older(self) -> bool:
        """Read and show the previous page, if there is one; False if it cannot be read."""
        if self._pages is not None and self.has_more:
            await self._read(self._pages)
        return not self._is_broken

    async def _read(self, pages: SessionPages) -> None:
        from agent.errors import SessionError

        async with self._reading:
            if pages is not self._pages or not self.has_more:
                return
            try:
                page, blocks = await asyncio.to_thread(
                    _blocks_before, pages, self._document.directory
                )
            except SessionError:
                # Not reported here: rebuilding the conversation reports the error.
                self._is_broken = True
                return
            if pages is self._pages and page.items:
                self._document.add_past(*blocks)
                self._on_added()


def _blocks_before(
    pages: SessionPages, directory: str
) -> tuple[HistoryPage, tuple[BlockList, str]]:
    page = pages.older()
    return page, past_blocks(page, directory)


def past_blocks(page: HistoryPage, directory: str = "") -> tuple[BlockList, str]:
    """Return the blocks of a page and its last answer, "" without one.

    Paths in `directory` are shown relative to it.
    """
    from agent.messages import Message
    from agent.session.records import CompactionRecord, NoticeRecord
    from tui.transcript.committed_messages import show_answer, show_results

    block_list = BlockList()
    last_answer = ""
    for position, item in enumerate(page.items):
        key = f"past:{page.offset}:{position}"
        match item:
            case Message(origin="model"):
                last_answer = show_answer(block_list, item, 0.0, directory) or last_answer
            case Message(origin="tool"):
                show_results(block_list, item)
            case Message():
                _show_message(block_list, item)
            case CompactionRecord():
                summary = sanitize(item.summary)
                block_list.append(
                    CompactionLine(
                        key,
                        item.trigger,
                        item.tokens_before,
                        item.tokens_after,
                        summary,
                        item.kept,
                        item.means,
                    )
                )
            case NoticeRecord():
                block_list.append(NoticeLine(key, _level(item.level), sanitize(item.text)))
    for place, block in enumerate(block_list.blocks):
        if isinstance(block, ToolCard):
            block_list.put(place, _to_block(block, page))
    return block_list, last_answer


def _show_message(block_list: BlockList, message: Message) -> None:
    from tui.transcript.committed_messages import show_user_message  # with the first page

    if message.origin == "person":
        show_user_message(block_list, message)
    elif message.origin == "interruption":
        block_list.append(EndLine(message.uid, "aborted_streaming", ""))


def _to_block(card: ToolCard, page: HistoryPage) -> Block:
    """Return the final block of a call, as it was shown in the session."""
    call = page.calls.get(card.key)
    if call is None:
        return replace(card, state="interrupted") if card.state == "running" else card
    return replace(
        card,
        identifier=shown_line(call.identifier) or card.identifier,
        state=_STATES.get(call.outcome, card.state),
        elapsed_s=call.elapsed_s,
        display=shown_display(call.display or _display_again(card)),
        decision=_shown_denial(call.denial),
    )


def _display_again(card: ToolCard) -> Display | None:
    """Return a call's display, as far as it can be restored from input and result.

    As during the run, the end of a command's output is shown.
    """
    match card.name:
        case "Bash":
            return CommandDisplay(str(card.input.get("command", "")), card.result)
        case "ExitPlanMode" if plan := card.input.get("plan"):
            return PlanDisplay(str(plan))
        case _:
            return None


def _shown_denial(denial: Decision | None) -> Decision | None:
    if denial is None:
        return None
    feedback = sanitize(denial.feedback) if denial.feedback else None
    return replace(denial, message=sanitize(denial.message), feedback=feedback)


def _level(text: str) -> Literal["info", "warning", "error"]:
    return "warning" if text == "warning" else "error" if text == "error" else "info"
