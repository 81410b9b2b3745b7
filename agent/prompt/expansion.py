"""Expansion of a prompt before it is sent; the interface between conversation and commands."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

from agent.abort import AbortSignal
from agent.events import Notice
from agent.messages import Message
from agent.stream import TurnEvents
from agent.user_prompt import Prompt


class ExpandedPrompt(Struct, frozen=True):
    """The result of an expansion."""

    context: tuple[Message, ...] = ()
    """Messages that precede the prompt: files it mentions, the text of a command."""
    block_reason: str | None = None
    """Why the prompt is not sent; None if it is sent."""


class PromptExpander(Protocol):
    """Expands prompts; `agent.commands.expand` implements it."""

    async def expand(
        self, prompt: Prompt, events: TurnEvents, abort: AbortSignal
    ) -> ExpandedPrompt:
        """Expand a prompt that is about to be sent. Raises nothing."""
        ...

    async def expand_queued(self, prompt: Prompt) -> tuple[Message | Notice, ...] | None:
        """Return the messages before a prompt that joins a running turn, and notices about it.

        Returns None for a command, which must wait for the end of the turn. The notices have no
        turn id; the caller sets it.
        """
        ...

    async def end_turn(self) -> None:
        """Undo what a command changed for its turn: rules, model, effort."""
        ...
