"""How fast panels open, and the cost per frame of searching 100,000 files.

The search is measured without a terminal; panels are measured through the terminal, from the key to
the output that shows their title.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Final

from agent.files.matcher import NameList, Search
from benchmarks.figures import Figure
from benchmarks.program import Output, Program, TerminalEvent
from benchmarks.terminal import Emulator

FILES: Final = 100_000
QUERIES: Final = ("s", "slug", "src/core", "srcmain", "rndr", "xq", "99999", "zzz")
PANELS: Final[Mapping[str, str]] = {
    "config": "── Settings",
    "context": "── Context",
    "diff": "── Changes since",
    "help": "── Help",
    "model": "── Model",
    "theme": "── Theme",
}
"""Titles by command."""
_WORDS: Final = ("src", "lib", "core", "test", "main", "model", "view", "slug", "render", "buffer")


def measure_picker(*, quick: bool) -> Iterator[Figure]:
    """Search a list of files a step at a time, as the `@` picker does per frame."""
    names = NameList(_names(FILES))
    steps: list[float] = []
    for _ in range(1 if quick else 5):
        for query in QUERIES:
            search = Search(names, query, limit=30)
            is_done = False
            while not is_done:
                began_s = time.perf_counter()
                is_done = search.step()
                steps.append((time.perf_counter() - began_s) * 1000)
    yield Figure(f"file search, {FILES:,} files, step p50", median(steps), "ms")
    yield Figure(f"file search, {FILES:,} files, longest step", max(steps), "ms")


def measure_panels(program: Program, *, quick: bool) -> Iterator[Figure]:
    """Open and close each panel; the first opening is not counted, because it imports modules."""
    times: list[float] = []
    for command, title in PANELS.items():
        for lap in range(2 if quick else 4):
            took_s = _opened(program, command, title)
            if lap and took_s is not None:
                times.append(took_s * 1000)
    yield Figure("panel shown, p50", median(times) if times else None, "ms")
    yield Figure("panel shown, longest", max(times, default=None), "ms")


def _opened(program: Program, command: str, title: str) -> float | None:
    program.type(f"/{command}".encode())
    program.wait_for_quiet(0.2)
    sight = _Sight(title)
    began_s = program.type(b"\r")
    program.listen(0.4)
    program.review(sight.observe)
    program.type(b"\x1b")
    program.wait_for_quiet(0.2)
    return None if sight.seen_s is None else sight.seen_s - began_s


@dataclass(slots=True)
class _Sight:
    """Records when a text was first on the screen."""

    text: str
    seen_s: float | None = None

    def observe(self, event: TerminalEvent, screen: Emulator) -> None:
        if self.seen_s is None and isinstance(event, Output) and self.text in screen.text():
            self.seen_s = event.at_s


def _names(count: int) -> list[str]:
    chance = random.Random(count)

    def directory() -> str:
        return f"{chance.choice(_WORDS)}{chance.randrange(40)}"

    return [
        "/".join(directory() for _ in range(chance.randint(1, 6)))
        + f"/{chance.choice(_WORDS)}_{n}.py"
        for n in range(count)
    ]
