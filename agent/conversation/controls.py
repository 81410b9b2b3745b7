"""What a user can do with a conversation besides prompts: interrupt it, change model or mode."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Protocol

from agent.conversation.conversation_ports import ConversationParts
from agent.conversation.conversation_view import ConversationState
from agent.errors import SwitchRefused
from agent.events import AgentEvent
from agent.history import HistoryPart
from agent.model.client import Effort
from agent.model.endpoint import expand_alias
from permissions.mode import Mode


class CompactHistory(Protocol):
    """Summarizes the history."""

    def __call__(
        self, focus: str = "", part: HistoryPart | None = None
    ) -> AsyncGenerator[AgentEvent, None]:
        """Summarize the history, or a part of it; yield the events."""
        ...


class ConversationControls:
    """Interrupts and changes one conversation for the user."""

    def __init__(
        self, parts: ConversationParts, state: ConversationState, compact: CompactHistory
    ) -> None:
        """Made by `agent.conversation.conversation.Conversation`."""
        self._parts = parts
        self._state = state
        self.compact = compact

    def interrupt(self, reason: str = "Interrupted by user") -> bool:
        """Interrupt the running turn without losing work; return whether anything was running.

        While the conversation closes, end the hooks that it waits for.
        """
        if self._state.closing is not None:
            self._state.closing.abort(reason)
        if self._state.abort is None:
            reporting = (self._parts.agents.reports, self._parts.workflows)
            gave_up = [each.give_up() for each in reporting]
            return any(gave_up)
        self._state.abort.abort(reason)
        return True

    def cycle_mode(self) -> Mode:
        """Switch to the next permission mode and return it."""
        return self._parts.gate.cycle_mode()

    async def set_model(self, model: str) -> str:
        """Use another model from the next request on; short names such as `opus` are known.

        Returns a sentence about parts of the history that it cannot read; empty if there are none.

        Raises:
            SwitchRefused: a hook refuses; the model does not change.
        """
        parts = self._parts
        old_model, new_model = parts.model(), expand_alias(model)
        refusal = await parts.hooks.may_switch_model(old_model, new_model, model)
        if refusal is not None:
            raise SwitchRefused(f"The model stays {old_model}: {refusal}")
        await parts.switch.set_model(model)
        await parts.hooks.model_switched(old_model, parts.model(), model)
        return parts.switch.left_out(self._state.messages)

    async def propose_title(self, description: str, *, is_stored: bool) -> str:
        """Return a title for a description, empty if the model returns none; with `is_stored`,
        name the session with it. Raises ModelError."""
        return await self._parts.titles.propose(description, is_stored=is_stored)

    def set_effort(self, effort: Effort | None) -> None:
        """Ask for another effort from the next request on."""
        self._parts.switch.set_effort(effort)

    def set_thinking(self, is_on: bool) -> bool:
        """Switch thinking on or off from the next prompt on.

        Returns False if the model does not support this.
        """
        return self._parts.switch.set_thinking(is_on)

    def move_to(self, directory: Path) -> bool:
        """Change the current directory; return False, unchanged, if it is outside the scope."""
        return self._parts.move(directory)

    def send_to_background(self) -> bool:
        """Let the commands and agents that the turn waits for continue in the background.

        Returns False if there are none.
        """
        shells = self._parts.shells.send_to_background()
        return self._parts.agents.to_background() or shells

    async def rename(self, title: str) -> None:
        """Give the session a name."""
        await self._parts.recorder.title(title.strip())
