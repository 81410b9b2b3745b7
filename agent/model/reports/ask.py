"""Asks a server of another make what a model can take: its model list first, then its own pages."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Final
from urllib.parse import quote

from msgspec.structs import replace

from agent.model.client import ModelCapabilities
from agent.model.reports.report import ModelReport, read_gateway, read_list, read_ollama

Ask = Callable[[str, Mapping[str, object] | None], Awaitable[Mapping[str, object] | None]]
"""Return the JSON at a path, sent as POST where there is a body; None for whatever goes wrong."""

LARGEST_ANSWER: Final = 0.25
"""Of a window whose server names no limit for answers."""


async def ask_server(ask: Ask, model: str, base: ModelCapabilities) -> ModelCapabilities | None:
    """Return `base` with what the server reports; None where it reports nothing."""
    report = await _report(ask, model)
    if report is None:
        return None
    window = report.window or base.context_window
    output = report.output or min(base.max_output_tokens, int(window * LARGEST_ANSWER))
    thinks = base.budget_thinking if report.thinks is None else report.thinks
    return replace(
        base,
        context_window=window,
        max_output_tokens=min(output, window),
        budget_thinking=thinks and not base.adaptive_thinking,
        prompt_caching=base.prompt_caching if report.caches is None else report.caches,
        source="server",
    )


async def _report(ask: Ask, model: str) -> ModelReport | None:
    """Return the first report that names a window."""
    entry = read_list(await ask("/v1/models", None), model)
    if entry is not None and entry.window is not None:
        return entry
    running = await ask("/api/ps", None)
    if running is not None:
        return read_ollama(running, await ask("/api/show", {"model": model}), model)
    return read_gateway(await ask(f"/model/info?model={quote(model)}", None), model) or entry
