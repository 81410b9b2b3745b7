"""`/context`: the figures are there however narrow the window is."""

from __future__ import annotations

import pytest

from agent.memory.context_breakdown import ContextBreakdown, Slice
from tui.panels.context import context_rows
from tui.text.wrap import runs_width

PICTURE = ContextBreakdown(200_000, 30_000, (Slice("Instructions and notes", 30_000),), True)


@pytest.mark.parametrize(
    ("width", "name"), [(100, "Instructions and notes"), (40, "Instructions …")]
)
def test_names_are_cut_rather_than_figures(width: int, name: str) -> None:
    rows = context_rows(PICTURE, width)
    shown = [line for line in rows if "30,000   15.0%" in line.text]
    (part,) = [line for line in shown if name in line.text]
    assert runs_width(part.runs) < width
