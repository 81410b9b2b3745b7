"""What the user does with a conversation beside prompts: stop it, set it, move it."""

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
        """Summarize all of it, or a part; yields what happens."""
        ...


class ConversationControls:
    """Changes one conversation at the user's wish."""

    def __init__(
        self, parts: ConversationParts, state: ConversationState, compact: CompactHistory
    ) -> None:
        """Made by `agent.conversation.conversation.Conversation`."""
        self._parts = parts
        self._state = state
        self.compact = compact

    def interrupt(self, reason: str = "Interrupted by user") -> bool:
        """End what is running without loss of work; return whether anything was running."""
        if self._state.abort is None:
            reporting = (self._parts.agents.reports, self._parts.workflows)
            gave_up = [each.give_up() for each in reporting]
            return any(gave_up)
        self._state.abort.abort(reason)
        return True

    def cycle_mode(self) -> Mode:
        """Go to the next permission mode."""
        return self._parts.gate.cycle_mode()

    async def set_model(self, model: str) -> str:
        """Use another model from the next request on; short names such as `opus` are known.

        Returns a sentence on what of the history it cannot read; empty for nothing.

        Raises:
            SwitchRefused: a hook objects; the model stays.
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
        """Return a title for a description, empty where the model has none, and name the session
        so where that is wanted. Raises ModelError."""
        return await self._parts.titles.propose(description, is_stored=is_stored)

    def set_effort(self, effort: Effort | None) -> None:
        """Ask for another effort from the next request on."""
        self._parts.switch.set_effort(effort)

    def set_thinking(self, is_on: bool) -> bool:
        """Have the model think, or not, from the next prompt on.

        Returns False where the model can do only the other.
        """
        return self._parts.switch.set_thinking(is_on)

    def move_to(self, directory: Path) -> bool:
        """Work in another directory from now on; False, and nothing changes, outside the scope."""
        return self._parts.move(directory)

    def send_to_background(self) -> bool:
        """Let commands and agents that are waited for continue in the background.

        False when there are none.
        """
        shells = self._parts.shells.send_to_background()
        return self._parts.agents.to_background() or shells

    async def rename(self, title: str) -> None:
        """Give the session a name."""
        await self._parts.recorder.title(title.strip())
