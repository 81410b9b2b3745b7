"""Makes room in a model's window with the program's compaction; see `agent.memory`.

Results and sessions keep all items of a run; only the model gets the shorter history. Nothing is
done for models of the caller, whose window is unknown.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from agent.abort import AbortController
from agent.events import Compacted, Usage
from agent.library.base.raw_items import InputItem, RawItem, input_list
from agent.library.base.run_usage import RunUsage, usage_of, usage_to_json
from agent.library.items.run_items import ModelResponse
from agent.library.models.endpoint_model import EndpointModel
from agent.library.models.item_messages import input_items, messages_of, run_usage
from agent.library.program.transcript_session import TranscriptSession
from agent.library.state.run_result import items_as_input
from agent.library.state.run_scope import RunScope
from agent.memory.budget import ContextBudget, Pressure
from agent.memory.context_manager import ContextManager, ContextManagerPorts
from agent.memory.estimate import next_request_tokens, prefix_tokens
from agent.memory.summarizer import ModelSummarizer
from agent.messages import Message
from agent.model.client import ModelRequest
from agent.stream import discard

_LOG: Final = logging.getLogger(__name__)


def model_input(scope: RunScope) -> list[InputItem]:
    """Return a run's items as the model's input, with the compacted part replaced."""
    state = scope.state
    items = [*input_list(state.original_input), *items_as_input(state.generated_items)]
    if state.compaction is None:
        return items
    count, shorter = state.compaction
    return [*shorter, *items[count:]]


class InputCompaction:
    """The compactions of one run."""

    def __init__(self, scope: RunScope, on_compaction: Callable[[], None]) -> None:
        """`on_compaction` is called after each, so that hooks can add context again."""
        self._scope = scope
        self._on_compaction = on_compaction
        self._fitting: _Fitting | None = None
        self._last_measure: tuple[RawItem, int] = (None, 0)

    async def before_call(self, model: EndpointModel, request: ModelRequest) -> bool:
        """Compact if a request would nearly fill the window; return whether that was done."""
        if self._fitting is None or self._fitting.model is not model:
            self._fitting = await _fitting(self._scope, model, request)
        self._fitting.request = request
        agent, tokens = self._last_measure
        tokens = tokens if agent is self._scope.state.current_agent else 0
        return await self._compact(self._fitting, tokens, is_refused=False)

    async def after_refusal(self) -> bool:
        """Compact after the endpoint rejected a request as too long; return whether it was done."""
        return self._fitting is not None and await self._compact(self._fitting, 0, is_refused=True)

    def record_response(self, response: ModelResponse) -> None:
        """Store the endpoint's token count of the current history."""
        usage = response.usage
        tokens = usage.input_tokens + usage.output_tokens if usage.requests == 1 else 0
        self._last_measure = (self._scope.state.current_agent, tokens)

    async def _compact(self, fitting: _Fitting, history_tokens: int, *, is_refused: bool) -> bool:
        # Reserved each time, as whether it runs may depend on the endpoint's reports.
        step = self._scope.steps.reserve("compaction")
        if not is_refused and not fitting.is_nearly_full(history_tokens):
            return False
        scope = self._scope
        messages = messages_of(model_input(scope))

        async def work() -> RawItem:
            items = await fitting.shorter(messages, history_tokens, is_refused=is_refused)
            return {"items": items, "usage": usage_to_json(fitting.take_usage())}

        result = await step.run(work)
        scope.context.usage.add(usage_of(result["usage"]))
        if result["items"] is None:
            return False
        self._last_measure = (None, 0)
        state = scope.state
        whole = [*input_list(state.original_input), *items_as_input(state.generated_items)]
        state.compaction = (len(whole), result["items"])
        self._on_compaction()
        return True


class _Fitting:
    """Fits a history into the window of one model."""

    def __init__(
        self, scope: RunScope, model: EndpointModel, request: ModelRequest, budget: ContextBudget
    ) -> None:
        gate = scope.gate
        assert gate is not None, "a run has a gate"
        self.model = model
        self.request = request
        self._session = scope.session
        self._budget = budget
        self._usage = RunUsage()
        self._manager = ContextManager(
            ContextManagerPorts(
                budget=lambda: budget,
                prefix_tokens=self._prefix_tokens,
                turn_id=gate.dispatch.firing.turn_id,
                summary=ModelSummarizer(
                    model.client,
                    self._summary_request,
                    lambda: model.recovery,
                    turn_id=gate.dispatch.firing.turn_id,
                    account=self._account,
                    emit=discard,
                ),
                hooks=gate.dispatch,
                is_automatic=lambda: gate.settings.values.autoCompactEnabled is not False,
            )
        )

    def is_nearly_full(self, history_tokens: int) -> bool:
        size = next_request_tokens(self.request.messages, history_tokens, self._prefix_tokens())
        return self._budget.pressure(size) is not Pressure.NONE

    async def shorter(
        self, messages: tuple[Message, ...], history_tokens: int, *, is_refused: bool
    ) -> list[InputItem] | None:
        """Return a shorter history; None if compaction does not help."""
        signal = AbortController().signal
        if is_refused:
            step = await self._manager.after_overflow(messages, signal)
        else:
            step = await self._manager.before_request(messages, history_tokens, signal)
        if step is None:
            return None
        for text in step.notices:
            _LOG.warning("%s", text)
        if step.event is None:
            return None
        await self._record(step.messages, step.event)
        return [item for message in step.messages for item in input_items(message)]

    def take_usage(self) -> RunUsage:
        """Return the usage of summaries since the last call of this method."""
        usage, self._usage = self._usage, RunUsage()
        return usage

    async def _record(self, messages: tuple[Message, ...], event: Compacted) -> None:
        """Log a compaction, and record it in a session of the program."""
        _LOG.info("compacted from %d to %d tokens", event.tokens_before, event.tokens_after)
        if isinstance(self._session, TranscriptSession):
            await self._session.record_compaction(messages, event)

    def _prefix_tokens(self) -> int:
        return prefix_tokens(self.request.system, self.request.tools)

    def _summary_request(self, messages: tuple[Message, ...]) -> ModelRequest:
        return replace(self.request, messages=messages, output_schema=None, tool_choice=None)

    async def _account(self, usage: Usage, _model: str) -> None:
        self._usage.add(run_usage(usage))


async def _fitting(scope: RunScope, model: EndpointModel, request: ModelRequest) -> _Fitting:
    capabilities = await model.client.capabilities(model.name)
    gate = scope.gate
    assert gate is not None, "a run has a gate"
    compact_window = gate.settings.values.autoCompactWindow
    budget = ContextBudget(
        capabilities.context_window, capabilities.max_output_tokens, compact_window
    )
    return _Fitting(scope, model, request, budget)
