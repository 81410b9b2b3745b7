"""One run: the program's loop over the run's items, between its start and end hooks."""

from __future__ import annotations

from collections.abc import Callable

from agent.library.base.raw_items import RawItem
from agent.library.base.run_exceptions import AgentsException, RunErrorDetails
from agent.library.rounds.agent_spans import AgentSpans
from agent.library.rounds.item_rounds import ItemRounds
from agent.library.rounds.run_hook_events import RunHookEvents
from agent.library.state.run_scope import RunScope
from agent.loop.turn_machine import TurnMachine
from agent.model.client import ModelError


class RunEngine:
    """One run. Await `run`; its outcome is in the state."""

    def __init__(
        self,
        scope: RunScope,
        *,
        is_stopping: Callable[[], bool] = lambda: False,
        after_turn: Callable[[], RawItem] | None = None,
    ) -> None:
        """`is_stopping` is called before each turn; `after_turn` is awaited after each."""
        self._scope = scope
        self._spans = AgentSpans(is_disabled=scope.config.tracing_disabled)
        self._events = RunHookEvents(scope)
        self._rounds = ItemRounds(
            scope, self._events, self._spans, is_stopping=is_stopping, after_turn=after_turn
        )

    async def run(self) -> None:
        """Run until there is a final output or a call waits for approval.

        Raises:
            AgentsException: the run failed; `run_data` has the details.
            ModelError: a request failed and cannot be recovered.
        """
        try:
            await self._events.open()
            await self._events.begin()
            await TurnMachine(self._rounds).run(await self._rounds.begin())
        except AgentsException as error:
            error.run_data = self._error_details()
            raise
        except ModelError as error:
            await self._events.fire_stop_failure(error)
            raise
        finally:
            self._spans.leave()
            await self._events.close()

    def _error_details(self) -> RunErrorDetails:
        state = self._scope.state
        return RunErrorDetails(
            input=state.original_input,
            new_items=list(state.session_items),
            raw_responses=list(state.model_responses),
            last_agent=state.current_agent,
            context_wrapper=self._scope.context,
            input_guardrail_results=list(state.input_guardrail_results),
            output_guardrail_results=list(state.output_guardrail_results),
            tool_input_guardrail_results=list(state.tool_input_guardrail_results),
            tool_output_guardrail_results=list(state.tool_output_guardrail_results),
        )
