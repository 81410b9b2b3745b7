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


def test_each_part_has_a_color_of_its_own() -> None:
    names = ["Tools", "System prompt", "Tool calls", "Tool results", "Answers", "Notes", "Messages"]
    parts = tuple(Slice(name, 1_000) for name in names)
    rows = context_rows(ContextBreakdown(200_000, 7_000, parts, True), 80)
    marks = [line.runs[0][1] for line in rows if any(name in line.text for name in names)]
    assert len(set(marks)) == len(names)
