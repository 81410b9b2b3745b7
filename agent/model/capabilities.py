"""What models can take, for endpoints that report none: a table by model id, and a careful guess.

The table is of November 2026.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from agent.model.client import Effort, ModelCapabilities

CLEARING: Final = "clear_tool_uses_20250919"
"""How the endpoint calls leaving out old tool results."""

ALL_EFFORTS: Final[tuple[Effort, ...]] = ("low", "medium", "high", "xhigh", "max")


def known_capabilities(model: str) -> ModelCapabilities:
    """Return the table's row for the model id, or a guess that any endpoint accepts."""
    for pattern, row in _ROWS:
        if re.search(pattern, model):
            window, output, adaptive, can_disable, system = row
            return ModelCapabilities(
                model=model,
                context_window=window,
                max_output_tokens=output,
                adaptive_thinking=adaptive,
                can_disable_thinking=can_disable,
                efforts=ALL_EFFORTS if adaptive else (),
                mid_conversation_system=system,
                source="table",
            )
    return ModelCapabilities(
        model=model,
        context_window=200_000,
        max_output_tokens=32_000,
        adaptive_thinking=False,
        can_disable_thinking=False,
        efforts=(),
        mid_conversation_system=False,
        # A field that a foreign server does not know may be an error to it.
        prompt_caching=False,
        source="guess",
    )


def read_capabilities(model: str, record: Mapping[str, object]) -> ModelCapabilities:
    """Return what the endpoint's model record reports; what it leaves out comes from the table."""
    base = known_capabilities(model)
    capabilities = _mapping(record.get("capabilities"))
    if not capabilities:
        window = _size(record.get("max_input_tokens"), base.context_window)
        output = _size(record.get("max_tokens"), base.max_output_tokens)
        return ModelCapabilities(
            model=model,
            context_window=window,
            max_output_tokens=min(output, window),
            adaptive_thinking=base.adaptive_thinking,
            can_disable_thinking=base.can_disable_thinking,
            efforts=base.efforts,
            mid_conversation_system=base.mid_conversation_system,
            prompt_caching=base.prompt_caching,
            source=base.source,
        )
    types = _mapping(_mapping(capabilities.get("thinking")).get("types"))
    efforts = _mapping(capabilities.get("effort"))
    compaction = _mapping(capabilities.get("compaction"))
    editing = _mapping(capabilities.get("context_management"))
    adaptive = _supported(types.get("adaptive"), base.adaptive_thinking)
    return ModelCapabilities(
        model=model,
        context_window=_size(record.get("max_input_tokens"), base.context_window),
        max_output_tokens=_size(record.get("max_tokens"), base.max_output_tokens),
        adaptive_thinking=adaptive,
        can_disable_thinking=_supported(types.get("disabled"), base.can_disable_thinking),
        efforts=tuple(effort for effort in ALL_EFFORTS if _supported(efforts.get(effort), False)),
        mid_conversation_system=base.mid_conversation_system,
        prompt_caching=True,
        signed_compaction=_supported(compaction.get("summarize"), False),
        clears_tool_results=_supported(editing.get(CLEARING), False),
        source="endpoint",
    )


_Row = tuple[int, int, bool, bool, bool]
"""Context window, most output, adaptive thinking, whether it can be off, system in messages."""

_M: Final = 1_000_000

# Vendor documentation of the table's date. First match wins.
_ROWS: Final[tuple[tuple[str, _Row], ...]] = (
    (r"claude-(fable|mythos)-", (_M, 128_000, True, False, True)),
    (r"claude-opus-5-5", (_M, 128_000, True, False, True)),
    (r"claude-opus-5", (_M, 128_000, True, True, True)),
    (r"claude-opus-4-8", (_M, 128_000, True, True, True)),
    (r"claude-opus-4-[67]", (200_000, 64_000, True, True, False)),
    (r"claude-sonnet-5", (_M, 128_000, True, True, True)),
    (r"claude-sonnet-4-6", (200_000, 64_000, True, True, False)),
    (r"claude-haiku-5", (_M, 128_000, True, True, True)),
    (r"claude-haiku-4-5", (200_000, 64_000, False, False, False)),
    (r"claude-", (200_000, 32_000, False, False, False)),
)


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _supported(value: object, default: bool) -> bool:
    supported = _mapping(value).get("supported")
    return supported if isinstance(supported, bool) else default


def _size(value: object, default: int) -> int:
    return value if isinstance(value, int) and value > 0 else default
