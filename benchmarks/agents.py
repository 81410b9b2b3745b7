"""Typing while ten agents work at once, against typing while nothing happens."""

from __future__ import annotations

import time
from collections.abc import Iterator

from benchmarks.figures import TOKENS_PER_S, Figure, Variant, measure_typing, send
from benchmarks.model import Model, agents_prompt

AGENTS = 10
_WORDS = 900
"""What each agent says: some 18 s, longer than the keys take."""


def measure_agents(variant: Variant, model: Model) -> Iterator[Figure]:
    """Yield the times of keys, and how much slower they are with agents.

    Raises:
        NoEchoError: no key showed.
    """
    with variant.ready() as program:
        idle = measure_typing(program, when="before the agents")
        prompt = agents_prompt(AGENTS, _WORDS, TOKENS_PER_S)
        send(program, prompt)
        program.listen(2.0)
        cpu_s, begun_s = program.cpu_s(), time.monotonic()
        busy = measure_typing(program, when=f"with {AGENTS} agents")
        share = (program.cpu_s() - cpu_s) / (time.monotonic() - begun_s)
        begun = sum("bench stream" in asked.prompt for asked in model.update())
        yield from (*idle, *busy)
        yield Figure(f"processor with {AGENTS} agents", 100 * share, "%")
        yield Figure("agents that worked meanwhile", float(begun), "")
        for before, after in zip(idle[:2], busy[:2], strict=True):
            ratio = after.value / before.value if before.value and after.value else None
            yield Figure(f"{after.name}, to idle", ratio, "x")
