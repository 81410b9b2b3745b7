"""Prompts that wait for the end of the current tool calls, or of the current prompt."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from agent.user_prompt import Prompt
from permissions.base.process.background_tasks import BackgroundTasks

SaveQueue = Callable[[Sequence[str]], Awaitable[None]]
"""Records the texts that wait."""


class PromptQueue:
    """The queue of one conversation, on disk until the transcript has each prompt for itself."""

    def __init__(self, prompts: list[Prompt], save: SaveQueue, background: BackgroundTasks) -> None:
        """`prompts` is shared with what lets them join a running turn."""
        self._prompts = prompts
        self._save = save
        self._background = background
        self._unrecorded: dict[str, str] = {}
        """Texts by uid, until the transcript has them for themselves."""

    @property
    def prompts(self) -> tuple[Prompt, ...]:
        """Prompts that wait, oldest first."""
        return tuple(self._prompts)

    def add(self, prompt: Prompt) -> None:
        """Queue a prompt."""
        self._prompts.append(prompt)
        self._unrecorded[prompt.uid] = prompt.text
        self.save()

    def take_back(self) -> list[Prompt]:
        """Return all prompts to the user and empty the queue."""
        prompts = list(self._prompts)
        self._prompts.clear()
        self._unrecorded.clear()
        self.save()
        return prompts

    def take_next(self) -> Prompt | None:
        """Take the oldest prompt, or None."""
        return self._prompts.pop(0) if self._prompts else None

    def save(self) -> None:
        """Record what waits, in the background."""
        self._background.start(self._save(list(self._unrecorded.values())))

    async def on_recorded(self, uid: str) -> None:
        """Take a prompt off the record: it is part of the transcript now, and no sooner."""
        if self._unrecorded.pop(uid, None) is not None:
            await self._save(list(self._unrecorded.values()))
