"""Typing latency while agents or a workflow run, compared with an idle program."""

from __future__ import annotations

import time
from collections.abc import Iterator

from benchmarks.figures import TOKENS_PER_S, Figure, Variant, measure_typing, send
from benchmarks.model import Model, agents_prompt, workflow_prompt

AGENTS = 10
AGENTS_OF_WORKFLOW = 200
_ENTER = b"\r"
_WORDS = 900
"""Words of each of ten agents; this takes about 18 s, longer than typing the keys."""
_WORDS_OF_WORKFLOW = 50
"""Words of each of 200 agents; one takes a second, and ten run at once."""


def measure_agents(variant: Variant, model: Model) -> Iterator[Figure]:
    """Yield the latency of keys, and how much slower they are with agents.

    Raises:
        NoEchoError: no typed key appeared on the screen.
    """
    prompt = agents_prompt(AGENTS, _WORDS, TOKENS_PER_S)
    yield from _measure(variant, model, prompt, f"{AGENTS} agents")
    prompt = workflow_prompt(AGENTS_OF_WORKFLOW, _WORDS_OF_WORKFLOW, TOKENS_PER_S)
    label = f"a workflow of {AGENTS_OF_WORKFLOW}"
    yield from _measure(variant, model, prompt, label)


def _measure(variant: Variant, model: Model, prompt: str, label: str) -> Iterator[Figure]:
    with variant.ready() as program:
        idle = measure_typing(program, when=f"before {label}")
        old_count = _streams(model)
        send(program, prompt)
        program.listen(2.0)
        if program.wait_until(lambda screen: "Run this workflow?" in screen.text(), timeout_s=1):
            program.type(_ENTER)
            program.listen(2.0)
        cpu_s, begun_s = program.cpu_s(), time.monotonic()
        busy = measure_typing(program, when=f"with {label}")
        share = (program.cpu_s() - cpu_s) / (time.monotonic() - begun_s)
        yield from (*idle, *busy)
        yield Figure(f"processor with {label}", 100 * share, "%")
        yield Figure(f"requests meanwhile, with {label}", float(_streams(model) - old_count), "")
        for one, other in zip(idle[:2], busy[:2], strict=True):
            ratio = other.value / one.value if one.value and other.value else None
            yield Figure(f"{other.name}, to idle", ratio, "x")


def _streams(model: Model) -> int:
    return sum("bench stream" in request.prompt for request in model.update())
