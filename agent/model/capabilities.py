"""Model capabilities for endpoints that report none: a table by model id, else a safe guess.

The table is as of November 2026.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from agent.model.client import Effort, ModelCapabilities

CLEARING: Final = "clear_tool_uses_20250919"
"""The endpoint's name for removing old tool results."""
THINKING_EDIT: Final = "clear_thinking_20251015"
"""Its name for removing the thinking of earlier answers, which it does unless asked not to."""

ALL_EFFORTS: Final[tuple[Effort, ...]] = ("low", "medium", "high", "xhigh", "max")


class Override(Struct, frozen=True):
    """The user's settings for a model; None keeps the value of the endpoint or the table."""

    context_window: int | None = None
    max_output_tokens: int | None = None
    thinking: Literal["adaptive", "budget", "none"] | None = None
    prompt_caching: bool | None = None

    def apply_to(self, base: ModelCapabilities) -> ModelCapabilities:
        """Return `base` with the values that are set here."""
        adaptive, budget = base.adaptive_thinking, base.budget_thinking
        if self.thinking is not None:
            adaptive, budget = self.thinking == "adaptive", self.thinking == "budget"
        window = self.context_window or base.context_window
        caching = base.prompt_caching if self.prompt_caching is None else self.prompt_caching
        return replace(
            base,
            context_window=window,
            max_output_tokens=min(self.max_output_tokens or base.max_output_tokens, window),
            adaptive_thinking=adaptive,
            budget_thinking=budget,
            efforts=ALL_EFFORTS if adaptive else (),
            prompt_caching=caching,
            source="settings",
        )


def apply_overrides(
    base: ModelCapabilities, overrides: Mapping[str, Override]
) -> ModelCapabilities:
    """Return `base` with the user's override for its model, if there is one."""
    override = overrides.get(base.model)
    return base if override is None else override.apply_to(base)


def known_capabilities(model: str) -> ModelCapabilities:
    """Return the table's row for the model id, or a guess that any endpoint accepts."""
    for pattern, row in _ROWS:
        if re.search(pattern, model):
            window, output, thinking, can_disable, system = row
            adaptive = thinking == "adaptive"
            return ModelCapabilities(
                model=model,
                context_window=window,
                max_output_tokens=output,
                adaptive_thinking=adaptive,
                budget_thinking=thinking == "budget",
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
        source="guess",
    )


def read_capabilities(model: str, record: Mapping[str, object]) -> ModelCapabilities:
    """Return what the endpoint's model record reports; missing values come from the table."""
    base = known_capabilities(model)
    capabilities = _mapping(record.get("capabilities"))
    if not capabilities:
        window = _size(record.get("max_input_tokens"), base.context_window)
        output = _size(record.get("max_tokens"), base.max_output_tokens)
        return replace(base, context_window=window, max_output_tokens=min(output, window))
    types = _mapping(_mapping(capabilities.get("thinking")).get("types"))
    efforts = _mapping(capabilities.get("effort"))
    compaction = _mapping(capabilities.get("compaction"))
    editing = _mapping(capabilities.get("context_management"))
    servers = _mapping(capabilities.get("server_tools"))
    adaptive = _read_support(types.get("adaptive"), base.adaptive_thinking)
    return replace(
        base,
        context_window=_size(record.get("max_input_tokens"), base.context_window),
        max_output_tokens=_size(record.get("max_tokens"), base.max_output_tokens),
        adaptive_thinking=adaptive,
        budget_thinking=not adaptive and _read_support(types.get("enabled"), base.budget_thinking),
        can_disable_thinking=_read_support(types.get("disabled"), base.can_disable_thinking),
        efforts=tuple(
            effort for effort in ALL_EFFORTS if _read_support(efforts.get(effort), False)
        ),
        signed_compaction=_read_support(compaction.get("summarize"), False),
        clears_tool_results=_read_support(editing.get(CLEARING), False),
        clears_thinking=_read_support(editing.get(THINKING_EDIT), False),
        structured_outputs=_read_support(capabilities.get("structured_outputs"), False),
        advises=_read_support(servers.get("advisor"), False),
        served_tools=tuple(sorted(name for name in servers if _read_support(servers[name], False))),
        source="endpoint",
    )


_Thinking = Literal["adaptive", "budget", "none"]
_Row = tuple[int, int, _Thinking, bool, bool]
"""Context window, output limit, thinking mode, can disable thinking, accepts system messages."""

_M: Final = 1_000_000

# From the vendor's documentation. The first match wins.
_ROWS: Final[tuple[tuple[str, _Row], ...]] = (
    (r"claude-(fable|mythos)-", (_M, 128_000, "adaptive", False, True)),
    (r"claude-opus-5-5", (_M, 128_000, "adaptive", False, True)),
    (r"claude-opus-5", (_M, 128_000, "adaptive", True, True)),
    (r"claude-opus-4-8", (_M, 128_000, "adaptive", True, True)),
    (r"claude-opus-4-[67]", (200_000, 64_000, "adaptive", True, False)),
    (r"claude-sonnet-5", (_M, 128_000, "adaptive", True, True)),
    (r"claude-sonnet-4-6", (200_000, 64_000, "adaptive", True, False)),
    (r"claude-haiku-5", (_M, 128_000, "adaptive", True, True)),
    (r"claude-(opus|sonnet|haiku)-4-5", (200_000, 64_000, "budget", True, False)),
    (r"claude-", (200_000, 32_000, "none", False, False)),
)


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _read_support(value: object, default: bool) -> bool:
    support = _mapping(value).get("supported")
    return support if isinstance(support, bool) else default


def _size(value: object, default: int) -> int:
    return value if isinstance(value, int) and value > 0 else default
