"""Write finished spans to a file, one JSON object per line, and read them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

from msgspec.structs import asdict

from agent.observe.spans import FinishedSpan, SpanKind, SpanStatus


class SpanFile:
    """Appends spans; if the file cannot be written, recording stops without an error."""

    def __init__(self, path: Path) -> None:
        """The directory must exist; the file is created with mode 0600."""
        self._path = path
        self.failure: OSError | None = None

    def __call__(self, span: FinishedSpan) -> None:
        """Append one line."""
        if self.failure is not None:
            return
        try:
            self._path.touch(mode=0o600)
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(span)) + "\n")
        except OSError as error:
            self.failure = error


def read_spans(path: Path) -> Iterator[FinishedSpan]:
    """Yield the spans of a file in the order in which they ended; unreadable lines are skipped.

    Raises:
        OSError: the file cannot be read.
    """
    with path.open(encoding="utf-8", errors="replace") as file:
        for line in file:
            try:
                span = _span(json.loads(line))
            except (ValueError, TypeError, KeyError, RecursionError):
                continue
            yield span


def _span(record: dict[str, Any]) -> FinishedSpan:
    kind, status = record["kind"], record["status"]
    if kind not in get_args(SpanKind) or status not in get_args(SpanStatus):
        raise ValueError(kind)
    parent = record["parent_id"]
    return FinishedSpan(
        id=int(record["id"]),
        parent_id=None if parent is None else int(parent),
        trace_id=int(record["trace_id"]),
        kind=kind,
        name=str(record["name"]),
        started_at=float(record["started_at"]),
        duration_s=float(record["duration_s"]),
        status=status,
        attributes=dict(record["attributes"]),
        content=dict(record["content"]),
    )
