"""Converts traces of runs to spans of the program, with the program's exporters."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from agent.library.tracing.run_spans import RunTrace, TraceSpan
from agent.observe.span_file import SpanFile
from agent.observe.spans import FinishedSpan, Span, SpanKind, Tracer

_KINDS: Final[dict[str, SpanKind]] = {"generation": "llm_request", "function": "tool"}
"""Type of span to the kind of the program's span; other spans are replaced by their children."""


class SpanBridge:
    """A processor for `add_trace_processor`."""

    def __init__(self, exporter: Callable[[FinishedSpan], None]) -> None:
        """`exporter` receives each span that has ended."""
        self._tracer = Tracer()
        self._tracer.export_to(exporter)
        self._roots: dict[str, Span] = {}
        self._open: dict[str, Span] = {}
        """Span id to its span, or to its parent's if it is omitted."""

    def on_trace_start(self, trace: RunTrace) -> None:
        """Start the root span of a trace."""
        self._roots[trace.trace_id] = self._tracer.start("interaction", trace.name)

    def on_trace_end(self, trace: RunTrace) -> None:
        """End the root span of a trace."""
        root = self._roots.pop(trace.trace_id, None)
        if root is not None:
            root.end()

    def on_span_start(self, span: TraceSpan) -> None:
        """Start a span, or remember the parent of one that is omitted."""
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
        """Do nothing, as nothing is buffered."""

    def force_flush(self) -> None:
        """Do nothing, as nothing is buffered."""


def span_file(path: Path) -> SpanBridge:
    """Return a processor that appends the spans of runs to a file, one JSON object per line."""
    return SpanBridge(SpanFile(path))
