"""A model's description by llama.cpp, vLLM, LM Studio, Ollama or LiteLLM."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from msgspec import Struct


class ModelReport(Struct, frozen=True):
    """What a server reports; None for a value that it omits."""

    window: int | None = None
    """Context window: tokens of prompt and answer together."""
    output: int | None = None
    thinks: bool | None = None
    """Whether it accepts `thinking`."""
    caches: bool | None = None
    thinks_adaptively: bool | None = None
    """Whether `thinking` is adaptive, without a budget."""
    is_of_gateway: bool = False
    """Whether the server is a gateway, which may report more at `/model/info`."""


def read_list(record: Mapping[str, object] | None, model: str) -> ModelReport | None:
    """Return a model list's entry: `meta.n_ctx` of llama.cpp, `max_model_len` of vLLM,
    `max_input_tokens` of gateways, `loaded_context_length` of LM Studio."""
    entries = list(_entries(record, "data"))
    # llama.cpp serves one model, whatever name a request has.
    is_only = len(entries) == 1 and entries[0].get("owned_by") == "llamacpp"
    for entry in entries:
        if not is_only and model not in (entry.get("id"), entry.get("name")):
            continue
        meta = entry.get("meta")
        running = meta.get("n_ctx") if isinstance(meta, Mapping) else None
        window_names = (
            "max_model_len",
            "loaded_context_length",
            "max_input_tokens",
            "context_length",
        )
        windows = (running, *(entry.get(name) for name in window_names))
        return ModelReport(
            next(filter(None, map(_size, windows)), None),
            _size(entry.get("max_output_tokens")) or _size(entry.get("max_tokens")),
            is_of_gateway="max_input_tokens" in entry,
        )
    return None


def read_gateway(record: Mapping[str, object] | None, model: str) -> ModelReport | None:
    """Return a model's entry in LiteLLM's `/model/info`; None if it has none."""
    for entry in _entries(record, "data"):
        info = entry.get("model_info")
        if entry.get("model_name") == model and isinstance(info, Mapping):
            return ModelReport(
                _size(info.get("max_input_tokens")),
                _size(info.get("max_output_tokens")),
                _flag(info.get("supports_reasoning")),
                _flag(info.get("supports_prompt_caching")),
                _flag(info.get("supports_adaptive_thinking")),
            )
    return None


def read_ollama(
    running: Mapping[str, object], model_page: Mapping[str, object] | None, model: str
) -> ModelReport:
    """Return Ollama's report: the window of the loaded model, else `num_ctx`, else the maximum.

    `running` is the response of `/api/ps`, `model_page` that of `/api/show`.
    """
    model_page = model_page or {}
    info = model_page.get("model_info")
    fields = info.items() if isinstance(info, Mapping) else ()
    largest = next((_size(v) for k, v in fields if str(k).endswith(".context_length")), None)
    chosen = re.search(r"^num_ctx\s+(\d+)", str(model_page.get("parameters", "")), re.MULTILINE)
    running_window = next(
        (
            _size(entry.get("context_length"))
            for entry in _entries(running, "models")
            if model in (entry.get("name"), entry.get("model"))
        ),
        None,
    )
    can = model_page.get("capabilities")
    return ModelReport(
        running_window or (int(chosen[1]) if chosen else None) or largest,
        thinks="thinking" in can if isinstance(can, list) else None,
    )


def _entries(record: Mapping[str, object] | None, key: str) -> Iterator[Mapping[str, object]]:
    entries = record.get(key) if record is not None else None
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, Mapping):
            yield entry


def _size(value: object) -> int | None:
    is_count = isinstance(value, int) and not isinstance(value, bool)
    return value if is_count and isinstance(value, int) and value > 0 else None


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None
