"""Timed operations in a tree.

    interaction            one prompt, to its end
    ├── llm_request        one attempt at a model response
    ├── tool               one call
    │   └── blocked_on_user
    └── hook

A span is ended by the code that started it, with the span in hand: with several requests under
way, "the newest one" would be the wrong one. What was not ended is found by `sweep`.
"""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable, Mapping
from random import Random
from typing import Final, Literal

from msgspec import Struct

SPAN_TTL_S: Final = 30 * 60.0
"""After this long an open span counts as abandoned."""

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
    """An operation under way."""

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
        """Started by `Tracer.start` alone."""
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
        """None while it is open."""

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
    """Starts spans and hands finished ones to exporters."""

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
            clock: seconds that never go back.
            wall_clock: Unix time.
            records_content: an explicit choice of the user, for one session.
            rng: gives identifiers.
        """
        self.clock = clock
        self.wall_clock = wall_clock
        self.records_content = records_content
        self._exporters: list[Callable[[FinishedSpan], None]] = []
        # Not a count: the spans of a session may come from several runs of the program.
        self._rng = rng or Random()
        # Weak, so that a span whose owner is gone does not live on in here.
        self._open: dict[int, weakref.ref[Span]] = {}

    def export_to(self, exporter: Callable[[FinishedSpan], None]) -> None:
        """Give finished spans to the exporter too; several can be active."""
        self._exporters.append(exporter)

    @property
    def open_spans(self) -> int:
        """How many spans are under way."""
        return sum(reference() is not None for reference in self._open.values())

    def start(self, kind: SpanKind, name: str = "", *, parent: Span | None = None) -> Span:
        """Start a span below `parent`, which is still open; the caller ends it."""
        span = Span(self, kind, name or kind, parent, self._rng.getrandbits(53))
        self._open[span.id] = weakref.ref(span)
        return span

    def sweep(self) -> int:
        """End spans that are open for too long, forget those that are gone; return how many ended.

        To be called every `SWEEP_INTERVAL_S`.
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
