"""Traces of runs as spans of the program: in the file or at the collector that its own go to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from agent.library.tracing.run_spans import RunTrace, TraceSpan
from agent.observe.span_file import SpanFile
from agent.observe.spans import FinishedSpan, Span, SpanKind, Tracer

_KINDS: Final[dict[str, SpanKind]] = {"generation": "llm_request", "function": "tool"}
"""Program spans by type of span; others are left out, and what is below them moves up."""


class SpanBridge:
    """A processor for `add_trace_processor`."""

    def __init__(self, exporter: Callable[[FinishedSpan], None]) -> None:
        """`exporter` receives each span that has ended."""
        self._tracer = Tracer()
        self._tracer.export_to(exporter)
        self._roots: dict[str, Span] = {}
        self._open: dict[str, Span] = {}
        """By span: itself, or what it is part of where it is left out."""

    def on_trace_start(self, trace: RunTrace) -> None:
        """Begin a tree."""
        self._roots[trace.trace_id] = self._tracer.start("interaction", trace.name)

    def on_trace_end(self, trace: RunTrace) -> None:
        """End a tree."""
        root = self._roots.pop(trace.trace_id, None)
        if root is not None:
            root.end()

    def on_span_start(self, span: TraceSpan) -> None:
        """Begin a span, or remember what it would have been part of."""
        parent = self._open.get(span.parent_id or "") or self._roots.get(span.trace_id)
        kind = _KINDS.get(span.span_data.type)
        if kind is None:
            if parent is not None:
                self._open[span.span_id] = parent
            return
        data = vars(span.span_data)
        name = str(data.get("name") or data.get("model") or kind)
        self._open[span.span_id] = self._tracer.start(kind, name, parent=parent)

    def on_span_end(self, span: TraceSpan) -> None:
        """End a span."""
        open_span = self._open.pop(span.span_id, None)
        if open_span is not None and span.span_data.type in _KINDS:
            open_span.end("error" if span.error else "ok")

    def shutdown(self) -> None:
        """Nothing is held back."""

    def force_flush(self) -> None:
        """Nothing is held back."""


def span_file(path: Path) -> SpanBridge:
    """Return a processor that appends the spans of runs to a file, one JSON object a line."""
    return SpanBridge(SpanFile(path))
