"""Start-up time with each provider, to the first request and to the first answer shown."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from benchmarks.clouds import CLOUDS, cloud_credentials, cloud_providers
from benchmarks.figures import Figure, Variant
from benchmarks.model import Model
from benchmarks.program import Output, Program

_LIMIT_S: Final = 20.0
_ANSWER: Final = b"done."
MODELS: Final = {
    "Messages": "benchmark",
    "Responses": "openai/benchmark",
    "Chat Completions": "work/benchmark",
    "Gemini": "gemini/benchmark",
    **CLOUDS,
}


def measure_providers(variant: Variant, model: Model, *, starts: int) -> Iterator[Figure]:
    """Time from the start of a headless run; the providers alternate.

    There are no figures for a cloud if the client or signer of its vendor is not installed.
    """
    home = Path(variant.environment["HOME"])
    endpoint = {"baseUrl": model.base_url, "keyVariable": "ANTHROPIC_API_KEY"}
    (home / ".agent").mkdir(exist_ok=True)
    providers = dict.fromkeys(("openai", "work", "gemini"), endpoint) | cloud_providers(
        model.base_url
    )
    (home / ".agent" / "settings.json").write_text(json.dumps({"providers": providers}))
    with cloud_credentials(home) as credentials:
        environment = {**variant.environment, **credentials, "ANTHROPIC_MODEL": ""}
        yield from _measured(replace(variant, environment=environment), model, starts)


def _measured(variant: Variant, model: Model, starts: int) -> Iterator[Figure]:
    request_ms: dict[str, list[float]] = {label: [] for label in MODELS}
    answer_ms: dict[str, list[float]] = {label: [] for label in MODELS}
    for run in range(starts):
        for label, name in MODELS.items():
            prompt = f"provider {label} {run}"
            program = variant.spawn("-p", prompt, "--model", name)
            answered_s = _answered(program)
            request = model.find(prompt, after_s=program.started_s)
            if request is not None and answered_s is not None:
                request_ms[label].append(1000 * (request.at_s - program.started_s))
                answer_ms[label].append(1000 * (answered_s - program.started_s))
            program.close()
    for label in MODELS:
        yield Figure(f"{label}: spawn to first request (-p)", _middle(request_ms[label]), "ms")
        yield Figure(f"{label}: spawn to answer shown (-p)", _middle(answer_ms[label]), "ms")


def _answered(program: Program) -> float | None:
    limit_s = time.monotonic() + _LIMIT_S
    while time.monotonic() < limit_s:
        program.listen(0.02)
        for each in program.events:
            if isinstance(each, Output) and _ANSWER in each.data:
                return each.at_s
        if program.exit_status is not None:
            return None
    return None


def _middle(values: list[float]) -> float | None:
    return statistics.median(values) if values else None
