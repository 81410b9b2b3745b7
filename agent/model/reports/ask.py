"""Queries another vendor's server for a model's limits: its model list, then its own endpoints."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Final
from urllib.parse import quote

from msgspec.structs import replace

from agent.model.capabilities import ALL_EFFORTS
from agent.model.client import ModelCapabilities
from agent.model.reports.report import ModelReport, read_gateway, read_list, read_ollama

Ask = Callable[[str, Mapping[str, object] | None], Awaitable[Mapping[str, object] | None]]
"""Returns the JSON object at a path; sends POST if there is a body; None for any failure."""

LARGEST_ANSWER: Final = 0.25
"""Share of the context window for an answer, if the server reports no output limit."""


async def ask_server(ask: Ask, model: str, base: ModelCapabilities) -> ModelCapabilities | None:
    """Return `base` with the reported values; None if the server reports nothing."""
    report = await _report(ask, model)
    if report is None:
        return None
    window = report.window or base.context_window
    output = report.output or min(base.max_output_tokens, int(window * LARGEST_ANSWER))
    thinks = base.can_think if report.thinks is None else report.thinks
    adaptively = report.thinks_adaptively
    adaptive = thinks and (base.adaptive_thinking if adaptively is None else adaptively)
    return replace(
        base,
        context_window=window,
        max_output_tokens=min(output, window),
        adaptive_thinking=adaptive,
        budget_thinking=thinks and not adaptive,
        efforts=ALL_EFFORTS if adaptive else (),
        prompt_caching=base.prompt_caching if report.caches is None else report.caches,
        source="server",
    )


async def _report(ask: Ask, model: str) -> ModelReport | None:
    """Return the most specific report; a gateway's own endpoint takes precedence over its list."""
    entry = read_list(await ask("/v1/models", None), model)
    is_of_gateway = entry is not None and entry.is_of_gateway
    if entry is not None and entry.window is not None and not is_of_gateway:
        return entry
    running = await ask("/api/ps", None) if not is_of_gateway else None
    if running is not None:
        return read_ollama(running, await ask("/api/show", {"model": model}), model)
    return read_gateway(await ask(f"/model/info?model={quote(model)}", None), model) or entry
