"""The run of one prompt: the state machine of the loop with the program's own rounds.

Next: `agent.loop.turn_machine` (the transitions), `agent.loop.message_rounds` (the steps).
"""

from __future__ import annotations

from collections.abc import Sequence

from agent.abort import AbortController
from agent.events import Terminal
from agent.history import INTERRUPTED_NOTE
from agent.loop.live_history import LiveHistory
from agent.loop.loop_ports import LoopPorts
from agent.loop.loop_state import LoopState
from agent.loop.message_rounds import MessageRounds
from agent.loop.turn_machine import TurnMachine
from agent.messages import Message
from agent.stream import TurnEvents


class AgentLoop:
    """One prompt's run. Await `run`; `history` is valid afterwards and at any time."""

    def __init__(
        self,
        ports: LoopPorts,
        events: TurnEvents,
        *,
        max_turns: int,
        token_budget: int | None = None,
    ) -> None:
        """`max_turns` limits the rounds with tool calls and those that a Stop hook continues;
        `token_budget` limits the output tokens."""
        self._ports = ports
        self._events = events
        self.history = LiveHistory(events)
        self._max_turns = max_turns
        self._token_budget = token_budget

    async def run(
        self, history: tuple[Message, ...], new: Sequence[Message], abort: AbortController
    ) -> Terminal:
        """Run to the end and return the last event, which is not emitted here. The messages in
        `new` are committed before the first request."""
        self.history.messages = history
        rounds = MessageRounds(
            self._ports,
            self.history,
            self._events,
            abort,
            max_turns=self._max_turns,
            token_budget=self._token_budget,
        )
        try:
            for message in new:
                await self.history.commit(message)
            return await TurnMachine(rounds).run(LoopState())
        finally:
            # A run may be cancelled anywhere, but the history must have no open calls.
            self.history.close_open_calls(INTERRUPTED_NOTE)
