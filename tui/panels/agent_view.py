"""An agent's transcript, followed while it runs: its end first, the rest as the user scrolls up.

Each page of the file is read and laid out once, and only if it is shown.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from agent.errors import SessionError
from agent.session.archive.transcript_pages import TranscriptPage, page_after, page_before
from agent.subagents.running_agent import RunningAgent
from tui.dialogs.dialog import run_alongside
from tui.panels.text_panel import TextPanel, text_rows
from tui.ports.command_screen import CommandScreen
from tui.text.sequence_view import SequenceView
from tui.text.styled_rows import Row
from tui.transcript.agent_rows import activity_of, figures_of

POLL_S: Final = 0.5
"""How often the transcript is checked for more, while the panel is open and the agent runs."""
PAGE_CHARS: Final = 30_000
"""Approximate size of a page of the transcript."""


async def show_agent(screen: CommandScreen, agent: RunningAgent) -> str | None:
    """Show an agent's transcript; return the key that closed the panel.

    `m` requests a message to the agent, `delete` its end; None means Esc.
    """
    view = AgentView(agent)
    await asyncio.to_thread(view.read_new_entries)
    async with run_alongside(view.follow()):
        return await screen.show_dialog(view)


class AgentView(TextPanel):
    """The panel of one agent."""

    def __init__(self, agent: RunningAgent) -> None:
        """Read nothing yet."""
        super().__init__(
            f"{agent.id}  {agent.task.description}",
            self._make_rows,
            follows_end=True,
            keys={"m": "message", "delete": "stop"},
        )
        self._agent = agent
        self._pages: list[TranscriptPage] = []
        """The pages read so far, in the order of the file."""
        self._laid_out: dict[int, Sequence[Row]] = {}
        """Rows by the start of their page, for the width of the last view."""
        self._width = 0
        self._first = 0
        """Number of pages that were added at the front."""

    def read_new_entries(self) -> None:
        """Read what was added to the transcript; the first time, its last page."""
        path = self._agent.transcript
        try:
            page = (
                page_after(path, self._pages[-1].end)
                if self._pages
                else page_before(path, None, chars=PAGE_CHARS)
            )
        except SessionError:
            return  # the agent has not started
        if page.text:
            self._pages.append(page)
        elif self._pages:
            self._pages[-1] = replace(self._pages[-1], end=page.end)

    def load_previous_page(self) -> None:
        """Add the previous page at the front; the host calls this when scrolled to the top."""
        if not self._pages or self._pages[0].start == 0:
            return
        try:
            page = page_before(self._agent.transcript, self._pages[0].start, chars=PAGE_CHARS)
        except SessionError:
            return
        self._pages.insert(0, page)
        self._first += 1

    async def follow(self) -> None:
        """Redraw changes until the agent has ended."""
        last_line = self._last_line()
        is_over = False
        while not is_over:
            await asyncio.sleep(POLL_S)
            is_over = not self._agent.is_running
            page_count = len(self._pages)
            await asyncio.to_thread(self.read_new_entries)
            if (line := self._last_line()) != last_line or len(self._pages) > page_count:
                last_line = line
                self.redraw()

    def _last_line(self) -> str:
        return f"{activity_of(self._agent)} · {figures_of(self._agent)}"

    def _make_rows(self, width: int) -> Sequence[Row]:
        if width != self._width:
            self._width = width
            self._laid_out.clear()
        if not self._pages:
            return text_rows(f"{self._agent.task.prompt.strip()}\n\n{self._last_line()}")(width)
        laid_out = [self._rows_of(page, width) for page in self._pages]
        self.rows_in_front = sum(map(len, laid_out[: self._first]))
        return SequenceView((*laid_out, text_rows(self._last_line())(width)))

    def _rows_of(self, page: TranscriptPage, width: int) -> Sequence[Row]:
        rows = self._laid_out.get(page.start)
        if rows is None:
            text = f"{page.text.strip()}\n" if page.text.strip() else ""
            rows = self._laid_out[page.start] = text_rows(text)(width) if text else ()
        return rows
