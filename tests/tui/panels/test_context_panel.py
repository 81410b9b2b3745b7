"""`/context`: the figures are there however narrow the window is."""

from __future__ import annotations

import pytest

from agent.memory.context_breakdown import ContextBreakdown, Slice
from themes.registry import available_themes, load_theme
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


@pytest.mark.parametrize("theme", available_themes())
def test_no_two_parts_look_alike_in_any_theme(theme: str) -> None:
    names = "Tools System Calls Results Answers Notes Messages Thinking".split()
    parts = tuple(Slice(name, 1_000) for name in names)
    rows = context_rows(ContextBreakdown(200_000, 8_000, parts, True), 80)
    colors = load_theme(theme)[0].roles
    runs = [line.runs[0] for line in rows if any(name in line.text for name in names)]
    assert len({(fill, colors[ink.role]) for fill, ink in runs if ink.role}) == len(names)
