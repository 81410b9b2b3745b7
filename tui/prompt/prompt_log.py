"""Stores prompts for the next start, and loads those of earlier sessions."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tui.prompt.prompt_history import PromptHistory

if TYPE_CHECKING:
    # For annotations only: the log imports a database, which the first frame does not need.
    from agent.session.prompt_log import PromptLog

RECENT: Final = 500
EVERYWHERE: Final = 2_000


class TypedPromptLog:
    """The log of typed prompts behind a `PromptHistory`; prompts wait until it is open."""

    def __init__(
        self,
        history: PromptHistory,
        start_worker: Callable[[Awaitable[None]], None],
        warn: Callable[[str], None],
    ) -> None:
        """`history` receives earlier prompts; nothing is read before `open`."""
        self._history = history
        self._start_worker = start_worker
        self._warn = warn
        self._log: PromptLog | None = None
        self._early: list[str] = []
        self._has_warned = False

    async def open(self, agent_home: Path, project_root: Path, session_id: str) -> None:
        """Read the prompts of this project, and store those sent before the log was open."""
        from agent.session.prompt_log import PromptLog  # after the first frame

        log = self._log = PromptLog(agent_home, project_root)
        early, self._early = self._early, []
        recent = await asyncio.to_thread(log.recent, RECENT)
        for text in early:
            await self._write(log, text, session_id)
        self._history.extend_older([prompt.text for prompt in recent])

    def add(self, text: str, session_id: str | None) -> None:
        """Store a sent prompt; `session_id` is None until there is a session."""
        if self._log is None:
            self._early.append(text)
        elif session_id is not None:
            self._start_worker(self._write(self._log, text, session_id))

    def load_everywhere(self, then: Callable[[], None]) -> None:
        """Start to read the prompts of all projects; `then` is called once they are loaded."""
        if self._log is not None:
            self._start_worker(self._read_everywhere(self._log, then))

    async def _write(self, log: PromptLog, text: str, session_id: str) -> None:
        from agent.session.prompt_log import TypedPrompt  # imported with the log

        try:
            await asyncio.to_thread(log.add, TypedPrompt(text, session_id, time.time()))
        except OSError as error:
            # Not an error: the session contains the prompts, too.
            if not self._has_warned:
                self._has_warned = True
                self._warn(f"The prompt history cannot be saved: {error.strerror}.")

    async def _read_everywhere(self, log: PromptLog, then: Callable[[], None]) -> None:
        def read() -> list[str]:
            return [prompt.text for prompt in log.recent(EVERYWHERE, scope="everywhere")]

        self._history.set_everywhere(await asyncio.to_thread(read))
        then()
