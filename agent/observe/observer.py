"""Records of one conversation for later inspection: spans always, a debug log on request.

It receives every event of the conversation; files are written in separate threads. The records
contain no text of users, models or files, unless the user wants it in the spans.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from agent.events import AgentEvent
from agent.observe.debug_log import DebugLog
from agent.observe.event_log import EventLog
from agent.observe.otel import otel_exporter
from agent.observe.recorder import EventRecorder
from agent.observe.sink_thread import SinkThread
from agent.observe.span_file import SpanFile
from agent.observe.spans import SWEEP_INTERVAL_S, FinishedSpan, Tracer

SPANS_NAME: Final = "spans.jsonl"
CONTENT_VARIABLE: Final = "AGENT_TUI_TRACE_CONTENT"
"""If set, and not to 0, spans include prompts, and the inputs and outputs of tools."""
_LOG: Final = logging.getLogger(__name__)


def spans_path(session_directory: Path) -> Path:
    """Return the path of a session's spans."""
    return session_directory / SPANS_NAME


def wants_content(env: Mapping[str, str]) -> bool:
    """Return whether the user wants texts in the spans of this run."""
    return env.get(CONTENT_VARIABLE, "") not in {"", "0"}


class Observer:
    """Records every event it is given, in order; must be closed at the end."""

    def __init__(
        self,
        session_directory: Path,
        *,
        env: Mapping[str, str],
        redact: Callable[[str], str],
        debug: DebugLog | None = None,
    ) -> None:
        """Start recording.

        Args:
            session_directory: the directory of the session.
            env: may request an export of spans, and texts in them.
            redact: redacts secrets in those texts.
            debug: the debug log, if the user wants one.
        """
        self._env = env
        self._redact = redact
        self.tracer = Tracer(records_content=wants_content(env))
        self.log = EventLog(None if debug is None else debug.event)
        self.debug = debug
        self._export: Callable[[FinishedSpan], None] | None = None
        self._is_export_looked_for = False
        self._file = SpanFile(spans_path(session_directory))
        self._spans: SinkThread[FinishedSpan] = SinkThread(self._write_span, name="spans")
        self.tracer.export_to(self._spans)
        self._recorder = EventRecorder(self.tracer, self.log)
        self._sweeping: asyncio.TimerHandle | None = None
        self._is_broken = False

    def record(self, event: AgentEvent) -> None:
        """Record the next event. Never raises, so that observing cannot break a conversation."""
        if self._is_broken:
            return
        try:
            self._recorder.record(event)
        except Exception:  # noqa: BLE001 - isolation boundary: a defect here only ends the recording
            self._is_broken = True
            _LOG.exception("spans are not recorded any longer")
        if self._sweeping is None and self.tracer.open_spans:
            self._sweep_later()

    def close(self) -> None:
        """Write pending records and close the files."""
        if self._sweeping is not None:
            self._sweeping.cancel()
            self._sweeping = None
        self._spans.close()
        if self.debug is not None:
            self.debug.close()

    def _write_span(self, span: FinishedSpan) -> None:
        if span.content:
            content = {name: self._redact(text) for name, text in span.content.items()}
            span = replace(span, content=content)
        self._file(span)
        if not self._is_export_looked_for:
            # Its packages take long to import, so only in this thread and with the first span.
            self._is_export_looked_for = True
            self._export = otel_exporter(self._env)
        if self._export is not None:
            self._export(span)

    def _sweep_later(self) -> None:
        # Only while a span is open: an idle program must not wake up.
        loop = asyncio.get_running_loop()
        self._sweeping = loop.call_later(SWEEP_INTERVAL_S, self._sweep)

    def _sweep(self) -> None:
        self._sweeping = None
        self.tracer.sweep()
        if self.tracer.open_spans:
            self._sweep_later()
