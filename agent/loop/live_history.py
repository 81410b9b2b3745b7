"""The history of a run in progress: what is committed, and the event that tells of each change.

Valid at any moment but between an answer with calls and their results. Next: `agent.history`.
"""

from __future__ import annotations

from typing import Literal

from agent.events import (
    AgentEvent,
    Compacted,
    MessageCommitted,
    Notice,
    Terminal,
    TerminalReason,
)
from agent.history import INTERRUPTED_NOTE, interruption, synthetic_results
from agent.loop.loop_state import LoopState
from agent.messages import Message, tool_results_message


class LiveHistory:
    """Messages and identity of one agent's run; every method returns what there is to tell."""

    def __init__(self, turn_id: str, agent_id: str | None) -> None:
        """Start empty; `agent_id` is None for the user's own agent."""
        self.turn_id = turn_id
        self.agent_id = agent_id
        self.messages: tuple[Message, ...] = ()

    def commit(self, message: Message) -> MessageCommitted:
        """Append a message."""
        self.messages = (*self.messages, message)
        return MessageCommitted(self.turn_id, message, agent_id=self.agent_id)

    def replace(self, messages: tuple[Message, ...], event: Compacted | None) -> list[AgentEvent]:
        """Go on with another history, after a compaction where there is an event."""
        self.messages = messages
        return [event] if event is not None else []

    def close_open_calls(self, text: str) -> None:
        """Give the calls of the last answer a result each, where they have none."""
        last = self.messages[-1] if self.messages else None
        if last is not None and last.role == "assistant" and last.tool_uses():
            self.commit(tool_results_message(synthetic_results(last.tool_uses(), text)))

    def interrupted(
        self,
        reason: TerminalReason,
        state: LoopState,
        *,
        turns: int | None = None,
        note: str = INTERRUPTED_NOTE,
    ) -> list[AgentEvent]:
        """Note the interruption and end the run."""
        return [self.commit(interruption(note)), self.terminal(reason, state, turns=turns)]

    def notice(self, level: Literal["info", "warning"], text: str) -> Notice:
        """Return a line for the user."""
        return Notice(self.turn_id, level, text, agent_id=self.agent_id)

    def terminal(
        self,
        reason: TerminalReason,
        state: LoopState,
        detail: str = "",
        *,
        turns: int | None = None,
    ) -> Terminal:
        """Return the run's last event; `turns` None takes the state's count."""
        return Terminal(
            self.turn_id,
            reason,
            detail,
            turns=state.turn_count if turns is None else turns,
            agent_id=self.agent_id,
        )
