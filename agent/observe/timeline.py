"""A span tree as text: one line per span, with a bar that shows when it ran."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from agent.observe.spans import FinishedSpan

LABEL_CELLS: Final = 34
TIME_CELLS: Final = 9
MIN_BAR_CELLS: Final = 10


def render_timeline(spans: Iterable[FinishedSpan], *, width_cells: int = 100) -> Iterator[str]:
    """Yield the lines of every interaction, oldest first, children below their parents.

    A span whose parent is missing is shown as a root of its own.
    """
    spans_by_start = sorted(spans, key=lambda span: (span.started_at, span.id))
    ids = {span.id for span in spans_by_start}
    roots = [span for span in spans_by_start if span.parent_id not in ids]
    bar_cells = width_cells - LABEL_CELLS - TIME_CELLS - 2
    for root in roots:
        yield from _lines(root, spans_by_start, root, 0, max(MIN_BAR_CELLS, bar_cells))


def _lines(
    span: FinishedSpan,
    spans: Sequence[FinishedSpan],
    root: FinishedSpan,
    depth: int,
    bar_cells: int,
) -> Iterator[str]:
    name = span.kind if span.name in ("", span.kind) else f"{span.kind} {span.name}"
    mark = "" if span.status == "ok" else f" [{span.status}]"
    label = f"{'  ' * depth}{name}{mark}"
    if len(label) > LABEL_CELLS:
        label = label[: LABEL_CELLS - 1] + "…"
    bar = _bar(span, root, bar_cells)
    yield f"{label:<{LABEL_CELLS}} {_time(span.duration_s):>{TIME_CELLS}} {bar}".rstrip()
    for child in spans:
        if child.parent_id == span.id and child.id != span.id:
            yield from _lines(child, spans, root, depth + 1, bar_cells)


def _bar(span: FinishedSpan, root: FinishedSpan, cells: int) -> str:
    whole_s = max(root.duration_s, 1e-9)
    # If the clock was set back meanwhile, the bar must not begin left of the root.
    start = min(max((span.started_at - root.started_at) / whole_s, 0.0), 1.0)
    indent = min(int(start * cells), cells - 1)
    length = max(1, min(round(span.duration_s / whole_s * cells), cells - indent))
    return " " * indent + ("░" if span.kind == "blocked_on_user" else "█") * length


def _time(seconds: float) -> str:
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} m {rest:02d} s"
