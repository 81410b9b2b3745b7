"""Traces of runs: trees of spans, passed to processors in this process, never to a server.

`agent.library.tracing.span_bridge` is a processor that converts them to the program's spans.
"""

from __future__ import annotations

import abc
import contextvars
import os
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from types import TracebackType
from typing import Final, Protocol, Self, TypedDict

from agent.library.base.raw_items import RawItem

DISABLE_VARIABLE: Final = "OPENAI_AGENTS_DISABLE_TRACING"


class SpanError(TypedDict):
    """An error in a span."""

    message: str
    data: dict[str, RawItem] | None


class SpanData:
    """The type of a span and its fields, which can be read as attributes."""

    def __init__(self, type: str, fields: Mapping[str, RawItem]) -> None:
        """`type` as the Agents SDK names it: `agent`, `turn`, `generation`, `function`, …"""
        self.type = type
        self.__dict__.update(fields)

    def export(self) -> dict[str, RawItem]:
        """Return type and fields."""
        return dict(vars(self))


class AgentSpanData(SpanData):
    """The work of an agent, until its handoff or end."""


class TurnSpanData(SpanData):
    """One response and its calls."""


class GenerationSpanData(SpanData):
    """One call of a program's model: `model`, `model_config`, `usage`, `input`, `output`."""


class FunctionSpanData(SpanData):
    """One call of a tool."""


class GuardrailSpanData(SpanData):
    """One guardrail."""


class HandoffSpanData(SpanData):
    """One handoff."""


class CustomSpanData(SpanData):
    """A span of the caller."""


_DATA: Final[Mapping[str, type[SpanData]]] = {
    "agent": AgentSpanData,
    "turn": TurnSpanData,
    "generation": GenerationSpanData,
    "function": FunctionSpanData,
    "guardrail": GuardrailSpanData,
    "handoff": HandoffSpanData,
    "custom": CustomSpanData,
}


class TracingProcessor(Protocol):
    """Receives every trace and span."""

    def on_trace_start(self, trace: RawItem) -> None:
        """A trace began."""
        ...

    def on_trace_end(self, trace: RawItem) -> None:
        """A trace ended."""
        ...

    def on_span_start(self, span: RawItem) -> None:
        """A span began."""
        ...

    def on_span_end(self, span: RawItem) -> None:
        """A span ended."""
        ...

    def shutdown(self) -> None:
        """Called at the end of the program."""
        ...

    def force_flush(self) -> None:
        """Export buffered data."""
        ...


class _Tracing:
    """The processors, and whether tracing is off."""

    def __init__(self) -> None:
        self.processors: list[TracingProcessor] = []
        self.is_off: bool | None = None

    def is_disabled(self) -> bool:
        if self.is_off is not None:
            return self.is_off
        return os.environ.get(DISABLE_VARIABLE, "").lower() in ("1", "true")


_TRACING: Final = _Tracing()
_current_trace: contextvars.ContextVar[RunTrace | None] = contextvars.ContextVar(
    "current_trace", default=None
)
_current_span: contextvars.ContextVar[TraceSpan | None] = contextvars.ContextVar(
    "current_span", default=None
)


def add_trace_processor(processor: TracingProcessor) -> None:
    """Add a processor of traces."""
    _TRACING.processors.append(processor)


def set_trace_processors(processors: list[TracingProcessor]) -> None:
    """Replace the processors of traces."""
    _TRACING.processors = list(processors)


def set_tracing_disabled(disabled: bool) -> None:
    """Turn tracing off or on for the process."""
    _TRACING.is_off = disabled


def flush_traces() -> None:
    """Let all processors export their buffered data."""
    for processor in _TRACING.processors:
        processor.force_flush()


def gen_trace_id() -> str:
    """Return a new id for a trace."""
    return f"trace_{uuid.uuid4().hex}"


def gen_span_id() -> str:
    """Return a new id for a span."""
    return f"span_{uuid.uuid4().hex[:24]}"


class _Bracket(abc.ABC):
    """Base of traces and spans, which start and end with a `with` block."""

    @abc.abstractmethod
    def start(self, mark_as_current: bool = False) -> None:
        """Begin."""

    @abc.abstractmethod
    def finish(self, reset_current: bool = False) -> None:
        """End."""

    def __enter__(self) -> Self:
        """Start it as the current one."""
        self.start(mark_as_current=True)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        frames: TracebackType | None,
    ) -> None:
        """End it."""
        self.finish(reset_current=kind is not GeneratorExit)


class RunTrace(_Bracket):
    """One or more runs; `with trace(…)` starts and ends a trace."""

    def __init__(
        self,
        workflow_name: str,
        trace_id: str,
        group_id: str | None,
        metadata: dict[str, RawItem] | None,
        *,
        is_off: bool,
    ) -> None:
        """Create a trace that has not started."""
        self.name = workflow_name
        self.trace_id = trace_id
        self.group_id = group_id
        self.metadata = metadata
        self.is_off = is_off
        self._tokens: list[contextvars.Token[RunTrace | None]] = []

    def start(self, mark_as_current: bool = False) -> None:
        """Start the trace."""
        if mark_as_current:
            self._tokens.append(_current_trace.set(self))
        if not self.is_off:
            for processor in _TRACING.processors:
                processor.on_trace_start(self)

    def finish(self, reset_current: bool = False) -> None:
        """End the trace."""
        if not self.is_off:
            for processor in _TRACING.processors:
                processor.on_trace_end(self)
        if reset_current and self._tokens:
            _current_trace.reset(self._tokens.pop())

    def export(self) -> dict[str, RawItem] | None:
        """Return the trace as JSON values; None while tracing is off."""
        if self.is_off:
            return None
        return {
            "object": "trace",
            "id": self.trace_id,
            "workflow_name": self.name,
            "group_id": self.group_id,
            "metadata": self.metadata,
        }


def trace(
    workflow_name: str,
    trace_id: str | None = None,
    group_id: str | None = None,
    metadata: dict[str, RawItem] | None = None,
    tracing: RawItem = None,
    disabled: bool = False,
) -> RunTrace:
    """Return a trace to start with `with`; runs inside the block are part of it."""
    return RunTrace(
        workflow_name,
        trace_id or gen_trace_id(),
        group_id,
        metadata,
        is_off=disabled or _TRACING.is_disabled(),
    )


class TraceSpan(_Bracket):
    """One step of a run; `with agent_span(…)` starts and ends a span."""

    def __init__(self, data: SpanData, trace: RunTrace | None, parent: TraceSpan | None) -> None:
        """Create a span that has not started; without a trace it is off."""
        self.span_data = data
        self.span_id = gen_span_id()
        self.trace_id = trace.trace_id if trace is not None else "no-op"
        self.trace_metadata = trace.metadata if trace is not None else None
        self.parent_id = parent.span_id if parent is not None and not parent.is_off else None
        self.is_off: bool = trace is None or trace.is_off
        self.started_at: str | None = None
        self.ended_at: str | None = None
        self.error: SpanError | None = None
        self._tokens: list[contextvars.Token[TraceSpan | None]] = []

    def start(self, mark_as_current: bool = False) -> None:
        """Start the span."""
        self.started_at = datetime.now(UTC).isoformat()
        if mark_as_current:
            self._tokens.append(_current_span.set(self))
        if not self.is_off:
            for processor in _TRACING.processors:
                processor.on_span_start(self)

    def finish(self, reset_current: bool = False) -> None:
        """End the span."""
        if self.ended_at is not None:
            return
        self.ended_at = datetime.now(UTC).isoformat()
        if not self.is_off:
            for processor in _TRACING.processors:
                processor.on_span_end(self)
        if reset_current and self._tokens:
            _current_span.reset(self._tokens.pop())

    def set_error(self, error: SpanError) -> None:
        """Store an error."""
        self.error = error

    def export(self) -> dict[str, RawItem] | None:
        """Return the span as JSON values; None if it is off."""
        if self.is_off:
            return None
        return {
            "object": "trace.span",
            "id": self.span_id,
            "trace_id": self.trace_id,
            "parent_id": self.parent_id,
            "started_at": self.started_at,
            "ended_at": self.ended_at,
            "span_data": self.span_data.export(),
            "error": self.error,
        }


def get_current_trace() -> RunTrace | None:
    """Return the current trace; None if there is none."""
    return _current_trace.get()


def get_current_span() -> TraceSpan | None:
    """Return the current span; None if there is none."""
    return _current_span.get()


def run_span(type: str, *, disabled: bool = False, **fields: RawItem) -> TraceSpan:
    """Return a child span of the current one."""
    current = None if disabled else _current_trace.get()
    return TraceSpan(_DATA.get(type, SpanData)(type, fields), current, _current_span.get())


def agent_span(name: str, *, disabled: bool = False, **fields: RawItem) -> TraceSpan:
    """Return the span of an agent."""
    return run_span("agent", disabled=disabled, name=name, **fields)


def function_span(name: str, *, disabled: bool = False, **fields: RawItem) -> TraceSpan:
    """Return the span of a tool call."""
    return run_span("function", disabled=disabled, name=name, **fields)


def generation_span(*, disabled: bool = False, **fields: RawItem) -> TraceSpan:
    """Return the span of a model call."""
    return run_span("generation", disabled=disabled, **fields)


def guardrail_span(name: str, triggered: bool = False, *, disabled: bool = False) -> TraceSpan:
    """Return the span of a guardrail."""
    return run_span("guardrail", disabled=disabled, name=name, triggered=triggered)


def handoff_span(
    from_agent: str | None = None, to_agent: str | None = None, *, disabled: bool = False
) -> TraceSpan:
    """Return the span of a handoff."""
    return run_span("handoff", disabled=disabled, from_agent=from_agent, to_agent=to_agent)


def custom_span(
    name: str, data: dict[str, RawItem] | None = None, *, disabled: bool = False
) -> TraceSpan:
    """Return a custom span of the caller."""
    return run_span("custom", disabled=disabled, name=name, data=data or {})
