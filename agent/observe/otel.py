"""Export finished spans to OpenTelemetry, if its own variables request it."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from agent.observe.spans import FinishedSpan

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer as OtelTracer

MAX_TRACES: Final = 64
"""Most traces with an open root; the oldest are dropped beyond that."""
MAX_PARENTS: Final = 256
"""Most calls whose agents may still be running; the oldest are dropped beyond that."""


class OtelExporter:
    """Exports each span tree once its root has ended, with the original times.

    Children end before their parents, but OpenTelemetry needs a parent first, so a tree waits until
    it is complete. A background agent may end after the tree that contains its call.
    """

    def __init__(self, tracer: OtelTracer) -> None:
        """`tracer` comes from a provider that is already configured."""
        self._tracer = tracer
        self._waiting: dict[int, list[FinishedSpan]] = {}
        self._parents: dict[int, object] = {}
        """Contexts of exported calls, by span id."""

    def __call__(self, span: FinishedSpan) -> None:
        """Accept a finished span; export its tree if it is complete."""
        tree = self._waiting.setdefault(span.trace_id, [])
        tree.append(span)
        if span.parent_id is None or span.parent_id in self._parents:
            above = self._parents.get(span.parent_id or 0)
            self._export(span, self._waiting.pop(span.trace_id), above)
        elif len(self._waiting) > MAX_TRACES:
            self._waiting.pop(next(iter(self._waiting)))

    def _export(self, span: FinishedSpan, tree: list[FinishedSpan], context: object) -> None:
        from opentelemetry import trace  # only if telemetry is on
        from opentelemetry.context import Context

        above = context if isinstance(context, Context) else Context()
        otel_span = self._tracer.start_span(
            span.name if span.kind == "interaction" else f"{span.kind} {span.name}",
            context=above,
            start_time=_nanoseconds(span.started_at),
            attributes={**span.attributes, **span.content, "agent.span.kind": span.kind},
        )
        if span.status == "error":
            otel_span.set_status(trace.StatusCode.ERROR)
        elif span.status != "ok":
            otel_span.set_attribute("agent.span.status", span.status)
        inside = trace.set_span_in_context(otel_span, above)
        if span.kind == "tool" and span.name == "Agent":
            self._parents[span.id] = inside
            if len(self._parents) > MAX_PARENTS:
                self._parents.pop(next(iter(self._parents)))
        for child in tree:
            if child.parent_id == span.id:
                self._export(child, tree, inside)
        otel_span.end(end_time=_nanoseconds(span.started_at + span.duration_s))


def is_asked_for(env: Mapping[str, str]) -> bool:
    """Whether variables of OpenTelemetry request an export of spans.

    These are `OTEL_EXPORTER_OTLP_ENDPOINT` and `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`; its packages
    read these and all other `OTEL_*` variables themselves.
    """
    variables = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
    return env.get("OTEL_SDK_DISABLED", "").lower() != "true" and any(map(env.get, variables))


def missing_packages(env: Mapping[str, str]) -> str:
    """Return what to install if an export is requested but impossible; empty otherwise."""
    if not is_asked_for(env):
        return ""
    packages = ("opentelemetry", "opentelemetry.sdk", "opentelemetry.exporter")
    try:
        are_installed = all(importlib.util.find_spec(name) is not None for name in packages)
    except ImportError:
        are_installed = False
    return (
        ""
        if are_installed
        else (
            "OTEL_EXPORTER_OTLP_ENDPOINT is set, but nothing is sent: "
            "pip install 'agent-tui[otel]' installs the packages."
        )
    )


def otel_exporter(env: Mapping[str, str]) -> OtelExporter | None:
    """Return an OTLP exporter; None if it is not requested, or its packages are missing."""
    if not is_asked_for(env):
        return None
    try:
        sdk = importlib.import_module("opentelemetry.sdk.trace")
        batch = importlib.import_module("opentelemetry.sdk.trace.export")
        otlp = importlib.import_module("opentelemetry.exporter.otlp.proto.http.trace_exporter")
    except ImportError:
        return None
    provider = sdk.TracerProvider()
    provider.add_span_processor(batch.BatchSpanProcessor(otlp.OTLPSpanExporter()))
    return OtelExporter(provider.get_tracer("agent-tui"))


def _nanoseconds(seconds: float) -> int:
    return int(seconds * 1_000_000_000)
