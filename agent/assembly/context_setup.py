"""Build the requests of an agent, and the manager that fits its history into the window."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from agent.assembly.model_setup import ModelParts
from agent.assembly.start_context import StartContext
from agent.assembly.wiring import SharedState
from agent.conversation.accounting import Accounting
from agent.conversation.model_selection import ModelInUse
from agent.events import Usage
from agent.hook_events.hook_dispatch import HookDispatch
from agent.loop.model_turn import Recovery
from agent.memory.budget import ANSWER_SHARE, ContextBudget
from agent.memory.context_manager import ContextManager, ContextManagerPorts
from agent.memory.endpoint_summary import EndpointSummaries
from agent.memory.estimate import prefix_tokens
from agent.memory.summarizer import ModelSummarizer
from agent.messages import Block, Message
from agent.model.client import Effort, ModelCapabilities, ModelClient, ModelRequest
from agent.recovery.retry import RequestSource, RetryPolicy
from agent.stream import Emit
from permissions.tool_names import is_mcp_name

MAX_OUTPUT_TOKENS: Final = 32_000
"""`max_tokens` of a request; less for models with a lower limit."""

BuildRequest = Callable[[tuple[Message, ...]], ModelRequest]


def request_builder(
    model_in_use: ModelInUse,
    system: tuple[Block, ...],
    tools: Sequence[dict[str, object]],
    *,
    late_tools: Callable[[], Sequence[dict[str, object]]] = tuple,
    model: str | None = None,
    effort: Effort | None = None,
) -> BuildRequest:
    """Return a function that builds a request from a history.

    Args:
        model_in_use: the conversation's model and effort.
        system: the same in every request.
        tools: the same in every request.
        late_tools: returns the tools that were loaded later. They come last, so that the prefix
            before them does not change.
        model: used instead of the conversation's.
        effort: used instead of the conversation's.
    """

    thinks = model_in_use.thinks

    def request(messages: tuple[Message, ...]) -> ModelRequest:
        nonlocal thinks
        if not _is_mid_turn(messages):
            # Unchanged within a turn: calls are only accepted together with their thinking.
            thinks = model_in_use.thinks
        return ModelRequest(
            model=model or model_in_use.model,
            system=system,
            tools=(*tools, *late_tools()),
            messages=messages,
            max_tokens=_max_tokens(model_in_use.capabilities),
            effort=effort or model_in_use.effort,
            thinking=thinks,
        )

    return request


def mark_strict(
    tools: Iterable[dict[str, object]], model_in_use: ModelInUse, model: str | None = None
) -> list[dict[str, object]]:
    """Mark our own tools as strict if the endpoint enforces schemas on calls of the model.

    Done once, at the start: a later change would miss the prompt cache. Tools of servers are not
    marked: one schema that does not compile would disable strictness for all tools.
    """
    is_strict = model_in_use.holds_calls(model or model_in_use.model)
    return [
        {**tool, "strict": True} if is_strict and not is_mcp_name(str(tool["name"])) else tool
        for tool in tools
    ]


def _max_tokens(model: ModelCapabilities) -> int:
    # Prompt and answer share the window: the answer must not take most of a small one.
    most = int(model.context_window * ANSWER_SHARE)
    return min(MAX_OUTPUT_TOKENS, model.max_output_tokens, most)


def _is_mid_turn(messages: Sequence[Message]) -> bool:
    """Whether the next request answers calls of the model, which no user interrupted."""
    for message in reversed(messages):
        if message.role == "assistant":
            return bool(message.tool_uses())
        if message.origin == "interruption":
            return False
    return False


def build_managers(start: StartContext, state: SharedState, model: ModelParts) -> ContextSetup:
    """Return the builder of each agent's context manager."""
    return ContextSetup(
        client=model.client,
        model_in_use=model.model_in_use,
        policy=model.policy,
        accounting=model.accounting,
        emit=state.stream.emit,
        is_automatic=lambda: start.settings.values.autoCompactEnabled is not False,
        window=lambda: start.settings.values.autoCompactWindow,
    )


class ContextSetup(Struct, frozen=True, kw_only=True):
    """What the context managers of one conversation's agents share."""

    client: ModelClient
    model_in_use: ModelInUse
    policy: Callable[[RequestSource], RetryPolicy]
    accounting: Accounting
    emit: Emit
    is_automatic: Callable[[], bool]
    window: Callable[[], int | None]
    """The user's limit on the tokens of the window to use; None for no limit."""

    def build(
        self,
        request: BuildRequest,
        recovery: Recovery,
        dispatch: HookDispatch,
        system: tuple[Block, ...],
        tools: Sequence[dict[str, object]],
        *,
        model: str | None = None,
        agent_id: str | None = None,
        notes_on: Callable[[Sequence[Message], int], str | None] = lambda _messages, _end: None,
    ) -> ContextManager:
        """Return the manager that fits one agent's history into the model's window.

        `model` and `agent_id` are for sub-agents, which may use another model. `notes_on` returns
        notes on the first messages of the main conversation, if there are any.
        """
        prefix = prefix_tokens(system, tools)
        own = self.client.known_capabilities(model) if model is not None else None

        async def account(usage: Usage, model: str) -> None:
            turn_id = dispatch.firing.turn_id()
            await self.emit(self.accounting.add_aside(usage, model, turn_id, agent_id))

        def budget() -> ContextBudget:
            can = own or self.model_in_use.capabilities
            return ContextBudget(can.context_window, can.max_output_tokens, self.window())

        return ContextManager(
            ContextManagerPorts(
                budget=budget,
                prefix_tokens=lambda: prefix,
                turn_id=dispatch.firing.turn_id,
                summary=ModelSummarizer(
                    self.client,
                    request,
                    lambda: replace(recovery, policy=self.policy(RequestSource.COMPACTION)),
                    turn_id=dispatch.firing.turn_id,
                    account=account,
                    emit=self.emit,
                ),
                endpoint_summary=EndpointSummaries(
                    self.client,
                    request,
                    lambda: replace(recovery, policy=self.policy(RequestSource.COMPACTION)),
                    has_them=lambda: (
                        own is None and self.model_in_use.capabilities.signed_compaction
                    ),
                    turn_id=dispatch.firing.turn_id,
                    account=account,
                    emit=self.emit,
                ),
                hooks=dispatch,
                notes_on=notes_on,
                is_automatic=self.is_automatic,
            ),
            agent_id=agent_id,
        )
