"""The history of a run in progress, and the events that announce its changes.

It is always valid except between an answer with calls and their results. Next: `agent.history`.
"""

from __future__ import annotations

from agent.events import Compacted, MessageCommitted, Terminal, TerminalReason
from agent.history import INTERRUPTED_NOTE, interruption, synthetic_results
from agent.loop.loop_state import LoopState
from agent.messages import Message, tool_results_message
from agent.stream import TurnEvents


class LiveHistory:
    """Messages of one agent's run."""

    def __init__(self, events: TurnEvents) -> None:
        """Start empty; changes are emitted to `events`."""
        self._events = events
        self.messages: tuple[Message, ...] = ()

    async def commit(self, message: Message) -> None:
        """Append a message."""
        self.append(message)
        events = self._events
        await events.emit(MessageCommitted(events.turn_id, message, agent_id=events.agent_id))

    def append(self, message: Message) -> None:
        """Append a message without an event; after a cancelled run the caller records it."""
        self.messages = (*self.messages, message)

    async def replace(self, messages: tuple[Message, ...], event: Compacted | None) -> None:
        """Continue with another history; `event` reports a compaction, if there was one."""
        self.messages = messages
        if event is not None:
            await self._events.emit(event)

    def close_open_calls(self, text: str) -> None:
        """Append error results for the calls of a last answer without results; emit nothing."""
        last = self.messages[-1] if self.messages else None
        if last is not None and last.role == "assistant" and last.tool_uses():
            self.append(tool_results_message(synthetic_results(last.tool_uses(), text)))

    async def record_interruption(
        self,
        reason: TerminalReason,
        state: LoopState,
        *,
        turns: int | None = None,
        note: str = INTERRUPTED_NOTE,
    ) -> Terminal:
        """Commit a note on the interruption and return the end of the run."""
        await self.commit(interruption(note))
        return self.terminal(reason, state, turns=turns)

    def terminal(
        self,
        reason: TerminalReason,
        state: LoopState,
        detail: str = "",
        *,
        turns: int | None = None,
    ) -> Terminal:
        """Return the run's last event; `turns` None uses the state's count."""
        return Terminal(
            self._events.turn_id,
            reason,
            detail,
            turns=state.turn_count if turns is None else turns,
            agent_id=self._events.agent_id,
        )
