"""The trace spans of a run's agents: one at a time, from the turn in which an agent takes over."""

from __future__ import annotations

from agent.library.agents.agent_definition import Agent
from agent.library.agents.agent_output import output_schema_of
from agent.library.base.raw_items import RawItem
from agent.library.rounds.model_calls import TurnTools
from agent.library.tracing.run_spans import TraceSpan, agent_span


class AgentSpans:
    """Manages the open span, if any."""

    def __init__(self, *, is_disabled: bool) -> None:
        """`is_disabled`: nothing is traced."""
        self._is_disabled = is_disabled
        self._span: TraceSpan | None = None
        self._agent: Agent | None = None

    def enter(self, agent: Agent) -> None:
        """Start the span of an agent that took over, and end the previous one."""
        if self._span is not None and self._agent is agent:
            return
        self.leave()
        schema = output_schema_of(agent.output_type)
        self._agent = agent
        self._span = agent_span(
            agent.name,
            disabled=self._is_disabled,
            handoffs=[],
            tools=[],
            output_type=schema.name() if schema is not None else "str",
        )
        self._span.start(mark_as_current=True)

    def leave(self) -> None:
        """End the open span."""
        if self._span is not None:
            self._span.finish(reset_current=True)
            self._span = None

    def describe(self, tools: TurnTools) -> None:
        """Add the agent's tools and handoffs to the span."""
        if self._span is not None:
            data = vars(self._span.span_data)
            data["tools"] = [each.name for each in tools.tools]
            data["handoffs"] = [each.agent_name for each in tools.handoffs]

    def fail(self, message: str, data: dict[str, RawItem]) -> None:
        """Add an error to the span."""
        if self._span is not None:
            self._span.set_error({"message": message, "data": data})
