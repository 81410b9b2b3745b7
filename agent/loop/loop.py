"""One prompt's run over messages: the machine of the loop with the program's rounds.

Next: `agent.loop.turn_machine` (which answer leads where), `agent.loop.message_rounds` (what the
program does then).
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
        """`max_turns` counts answers with tool calls; `token_budget` output tokens."""
        self._ports = ports
        self._events = events
        self.history = LiveHistory(events)
        self._max_turns = max_turns
        self._token_budget = token_budget

    async def run(
        self, history: tuple[Message, ...], new: Sequence[Message], abort: AbortController
    ) -> Terminal:
        """Work until the end and return it, not emitted yet; `new` is committed before the first
        request."""
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
            # A run may be cancelled anywhere: no call may stay open in the history.
            self.history.close_open_calls(INTERRUPTED_NOTE)
