"""What the user has prepared for later: queued prompts, notes, the draft."""

from __future__ import annotations

from collections.abc import Callable

from agent.session.session_recorder import SessionRecorder
from agent.user_prompt import Prompt
from permissions.base.process.background_tasks import BackgroundTasks


class PromptQueue:
    """The queue of one conversation; each prompt stays recorded until the transcript has it."""

    def __init__(
        self,
        prompts: list[Prompt],
        recorder: SessionRecorder,
        background: BackgroundTasks,
        add_note: Callable[[str], None],
    ) -> None:
        """`prompts` is shared with the loop, which takes prompts that join a running turn.

        `add_note` adds a text for the model to the next prompt.
        """
        self._prompts = prompts
        self._recorder = recorder
        self._background = background
        self.add_note = add_note
        self._texts_by_uid: dict[str, str] = {}
        """Texts by uid, until the transcript contains them."""

    @property
    def prompts(self) -> tuple[Prompt, ...]:
        """Queued prompts, oldest first."""
        return tuple(self._prompts)

    def add(self, prompt: Prompt) -> None:
        """Queue a prompt."""
        self._prompts.append(prompt)
        self._texts_by_uid[prompt.uid] = prompt.text
        self.save()

    def take_back(self) -> list[Prompt]:
        """Return all prompts to the user and empty the queue."""
        prompts = list(self._prompts)
        self._prompts.clear()
        self._texts_by_uid.clear()
        self.save()
        return prompts

    def take_next(self) -> Prompt | None:
        """Remove and return the oldest prompt; None if there is none."""
        return self._prompts.pop(0) if self._prompts else None

    def save(self) -> None:
        """Record the queue, in the background."""
        self._background.start(self._recorder.queue(list(self._texts_by_uid.values())))

    def save_draft(self, text: str) -> None:
        """Record the unsent prompt, so that a crash does not lose it."""
        self._background.start(self._recorder.draft(text))

    async def on_recorded(self, uid: str) -> None:
        """Remove a prompt from the recorded queue, now that the transcript contains it."""
        if self._texts_by_uid.pop(uid, None) is not None:
            await self._recorder.queue(list(self._texts_by_uid.values()))
