"""What one conversation leaves behind for looking at later: spans always, a log on request.

Takes every event of the conversation; files are written in threads of their own. Neither holds any
text of users, models or files, unless the user wants it in the spans.
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
"""Set to anything but nothing and 0, spans hold prompts, and what tools got and gave."""
_LOG: Final = logging.getLogger(__name__)


def spans_path(session_directory: Path) -> Path:
    """Return the path of a session's spans."""
    return session_directory / SPANS_NAME


def wants_content(env: Mapping[str, str]) -> bool:
    """Return whether the user wants texts in the spans of this run."""
    return env.get(CONTENT_VARIABLE, "") not in {"", "0"}


class Observer:
    """Give it every event, in order; close it at the end."""

    def __init__(
        self,
        session_directory: Path,
        *,
        env: Mapping[str, str],
        redact: Callable[[str], str],
        debug: DebugLog | None = None,
    ) -> None:
        """Start looking on.

        Args:
            session_folder: the session's own.
            env: may ask for an export of spans, and for texts in them.
            redact: takes secrets out of those texts.
            debug: the log for users, on request.
        """
        self._env = env
        self._redact = redact
        self.tracer = Tracer(records_content=wants_content(env))
        self.log = EventLog(None if debug is None else debug.event)
        self.debug = debug
        self._export: Callable[[FinishedSpan], None] | None = None
        self._is_export_looked_for = False
        self._file = SpanFile(spans_path(session_directory))
        self._spans: SinkThread[FinishedSpan] = SinkThread(self._take, name="spans")
        self.tracer.export_to(self._spans)
        self._recorder = EventRecorder(self.tracer, self.log)
        self._sweeping: asyncio.TimerHandle | None = None
        self._is_broken = False

    def record(self, event: AgentEvent) -> None:
        """Take the next event. Never raises: an observer must not break what is looked at."""
        if self._is_broken:
            return
        try:
            self._recorder.record(event)
        except Exception:  # noqa: BLE001 - isolation boundary: a defect here costs the record alone
            self._is_broken = True
            _LOG.exception("spans are not recorded any longer")
        if self._sweeping is None and self.tracer.open_spans:
            self._sweep_later()

    def close(self) -> None:
        """Write what is left."""
        if self._sweeping is not None:
            self._sweeping.cancel()
            self._sweeping = None
        self._spans.close()
        if self.debug is not None:
            self.debug.close()

    def _take(self, span: FinishedSpan) -> None:
        if span.content:
            content = {name: self._redact(text) for name, text in span.content.items()}
            span = replace(span, content=content)
        self._file(span)
        if not self._is_export_looked_for:
            # Its packages take long to import: in this thread, and only with a first span.
            self._is_export_looked_for = True
            self._export = otel_exporter(self._env)
        if self._export is not None:
            self._export(span)

    def _sweep_later(self) -> None:
        # Only while something is open: an idle program has no reason to wake up.
        loop = asyncio.get_running_loop()
        self._sweeping = loop.call_later(SWEEP_INTERVAL_S, self._sweep)

    def _sweep(self) -> None:
        self._sweeping = None
        self.tracer.sweep()
        if self.tracer.open_spans:
            self._sweep_later()
