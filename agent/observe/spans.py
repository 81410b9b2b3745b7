"""Timed operations in a tree.

    interaction            one prompt, to its end
    ├── llm_request        one attempt at a model response
    ├── tool               one call
    │   └── blocked_on_user
    └── hook

The code that started a span ends exactly that span: with concurrent requests, "the newest one" may
be the wrong one. `sweep` ends spans that were abandoned.
"""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable, Mapping
from random import Random
from typing import Final, Literal

from msgspec import Struct

SPAN_TTL_S: Final = 30 * 60.0
"""Age at which an open span counts as abandoned."""

SWEEP_INTERVAL_S: Final = 60.0

SpanKind = Literal["interaction", "llm_request", "tool", "blocked_on_user", "hook"]
SpanStatus = Literal["ok", "error", "interrupted", "abandoned"]
Attribute = bool | int | float | str
"""Strings are names of models, tools and events; never texts of users, models or files."""


class FinishedSpan(Struct, frozen=True):
    """A span as it is exported."""

    id: int
    parent_id: int | None
    trace_id: int
    """Id of the root."""
    kind: SpanKind
    name: str
    started_at: float
    """Unix time."""
    duration_s: float
    status: SpanStatus
    attributes: Mapping[str, Attribute]
    content: Mapping[str, str]
    """Prompts, inputs and outputs; empty unless the tracer records content."""


class Span:
    """An operation in progress."""

    __slots__ = (
        "__weakref__",
        "_start_s",
        "_tracer",
        "attributes",
        "content",
        "id",
        "kind",
        "name",
        "parent_id",
        "started_at",
        "status",
        "trace_id",
    )

    def __init__(
        self, tracer: Tracer, kind: SpanKind, name: str, parent: Span | None, identity: int
    ) -> None:
        """Only called by `Tracer.start`."""
        self._tracer = tracer
        self.id = identity
        self.parent_id = parent.id if parent else None
        self.trace_id: int = parent.trace_id if parent else identity
        self.kind: SpanKind = kind
        self.name = name
        self.attributes: dict[str, Attribute] = {}
        self.content: dict[str, str] = {}
        self.started_at = tracer.wall_clock()
        self._start_s = tracer.clock()
        self.status: SpanStatus | None = None
        """The status; None while the span is open."""

    @property
    def age_s(self) -> float:
        """Seconds since the start."""
        return self._tracer.clock() - self._start_s

    def set(self, **attributes: Attribute) -> None:
        """Add attributes."""
        self.attributes.update(attributes)

    def set_content(self, **content: str) -> None:
        """Add texts; dropped unless the tracer records content."""
        if self._tracer.records_content:
            self.content.update(content)

    def end(self, status: SpanStatus = "ok", **attributes: Attribute) -> None:
        """End the span; a second end changes nothing."""
        if self.status is not None:
            return
        self.attributes.update(attributes)
        self.status = status
        self._tracer._finish(self, self.content, self.age_s)


class Tracer:
    """Starts spans and passes finished ones to exporters."""

    def __init__(
        self,
        *,
        clock: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], float] = time.time,
        records_content: bool = False,
        rng: Random | None = None,
    ) -> None:
        """Start without exporters.

        Args:
            clock: monotonic time in seconds.
            wall_clock: Unix time.
            records_content: whether spans include texts; only at the user's request.
            rng: generates span ids.
        """
        self.clock = clock
        self.wall_clock = wall_clock
        self.records_content = records_content
        self._exporters: list[Callable[[FinishedSpan], None]] = []
        # Random ids, because the spans of a session may come from several runs of the program.
        self._rng = rng or Random()
        # Weak references, so that a span is released with its owner.
        self._open: dict[int, weakref.ref[Span]] = {}

    def export_to(self, exporter: Callable[[FinishedSpan], None]) -> None:
        """Also pass finished spans to this exporter; several can be active."""
        self._exporters.append(exporter)

    @property
    def open_spans(self) -> int:
        """Number of open spans."""
        return sum(reference() is not None for reference in self._open.values())

    def start(self, kind: SpanKind, name: str = "", *, parent: Span | None = None) -> Span:
        """Start a span below `parent`, which must be open; the caller must end it."""
        span = Span(self, kind, name or kind, parent, self._rng.getrandbits(53))
        self._open[span.id] = weakref.ref(span)
        return span

    def sweep(self) -> int:
        """End spans that have been open too long; return how many were ended.

        Call it every `SWEEP_INTERVAL_S`. Spans that were garbage-collected are forgotten.
        """
        end_count = 0
        for identity, reference in list(self._open.items()):
            span = reference()
            if span is None:
                del self._open[identity]
            elif span.age_s > SPAN_TTL_S:
                span.end("abandoned")
                end_count += 1
        return end_count

    def _finish(self, span: Span, content: Mapping[str, str], duration_s: float) -> None:
        self._open.pop(span.id, None)
        finished_span = FinishedSpan(
            id=span.id,
            parent_id=span.parent_id,
            trace_id=span.trace_id,
            kind=span.kind,
            name=span.name,
            started_at=span.started_at,
            duration_s=duration_s,
            status=span.status or "ok",
            attributes=dict(span.attributes),
            content=dict(content),
        )
        for exporter in self._exporters:
            exporter(finished_span)
