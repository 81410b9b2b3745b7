"""What a prompt becomes before the model sees it: the seam between conversation and commands."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

from agent.abort import AbortSignal
from agent.events import Notice
from agent.messages import Message
from agent.stream import TurnEvents
from agent.user_prompt import Prompt


class ExpandedPrompt(Struct, frozen=True):
    """The end of an expansion."""

    context: tuple[Message, ...] = ()
    """What goes in front of the prompt: files it mentions, the text of a command."""
    block_reason: str | None = None
    """Why the prompt is not sent; None when it is."""


class PromptExpander(Protocol):
    """Expands prompts; `agent.commands.expand` implements it."""

    async def expand(
        self, prompt: Prompt, events: TurnEvents, abort: AbortSignal
    ) -> ExpandedPrompt:
        """Expand a prompt that is about to be sent. Raises nothing."""
        ...

    async def expand_queued(self, prompt: Prompt) -> tuple[Message | Notice, ...] | None:
        """Return what goes before a prompt that joins a running turn, and the notices about it.

        None: it is a command, which has to wait for the end of the turn. The caller that takes the
        notices fills in the turn.
        """
        ...

    async def end_turn(self) -> None:
        """Take back what a command changed for its turn: rules, model, effort."""
        ...
