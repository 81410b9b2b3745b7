"""Figures as a table for users and as JSON for comparison."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from benchmarks.figures import Figure


def machine() -> dict[str, Any]:
    """Describe the machine without its name."""
    return {
        "date": datetime.now().astimezone().strftime("%Y-%m-%d"),
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "processors": os.cpu_count(),
        "python": platform.python_version(),
    }


def as_json(results: Mapping[str, Sequence[Figure]], size: tuple[int, int]) -> dict[str, Any]:
    """Return all results with a description of the machine."""
    figures = {
        label: {figure.name: {"value": figure.value, "unit": figure.unit} for figure in entries}
        for label, entries in results.items()
    }
    return {"machine": machine(), "columns": size[0], "rows": size[1], "variants": figures}


def as_table(results: Mapping[str, Sequence[Figure]]) -> str:
    """Return a Markdown table: a row per figure, a column per variant, and ratios to the first."""
    labels = list(results)
    head = ["figure", *labels, *(f"{label} ÷ {labels[0]}" for label in labels[1:])]
    rows = [head, ["---"] + ["--:"] * (len(head) - 1)]
    values = {label: {f.name: f for f in entries} for label, entries in results.items()}
    for name in dict.fromkeys(f.name for entries in results.values() for f in entries):
        cells = [values[label].get(name) for label in labels]
        unit = next(cell.unit for cell in cells if cell is not None)
        row = [f"{name}, {unit}" if unit else name, *map(_text, cells)]
        row += [_ratio(cell, cells[0]) for cell in cells[1:]]
        rows.append(row)
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    return "\n".join(_line(row, widths) for row in rows)


def as_document(results: Mapping[str, Sequence[Figure]], size: tuple[int, int]) -> str:
    """Return the page with the table, the machine and the day of the measurement."""
    taken_on = machine()
    return f"""# Performance

Written by `make bench`: the installed program in a pseudo-terminal of {size[0]}×{size[1]}, a
terminal emulator, and the scripted model at 80 tokens a second. "Stock output" is the same program
with `AGENT_TUI_RENDERER=textual`. Nothing passes or fails on these figures, and figures of two
machines or two days do not compare: ratios within one run do.

Measured on {taken_on["date"]}: {taken_on["system"]}, {taken_on["processor"]},
{taken_on["processors"]} processors, Python {taken_on["python"]}.

{as_table(results)}
"""


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    first, *rest = [
        text.ljust(width) if column == 0 else text.rjust(width)
        for column, (text, width) in enumerate(zip(row, widths, strict=True))
    ]
    return f"| {' | '.join([first, *rest])} |"


def _text(figure: Figure | None) -> str:
    if figure is None:
        return ""
    if figure.value is None:
        return "never"
    decimals = 0 if abs(figure.value) >= 100 else 1 if abs(figure.value) >= 10 else 2
    return f"{figure.value:,.{decimals}f}"


def _ratio(figure: Figure | None, base: Figure | None) -> str:
    if figure is None or base is None or figure.value is None or not base.value:
        return ""
    return f"{figure.value / base.value:.2f}"


def _processor() -> str:
    """Return the processor's marketing name on Linux, else its architecture."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())
