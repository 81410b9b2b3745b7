"""Capabilities of other providers' models, for endpoints that report none. As of November 2026.

The first match wins; an unknown name gets a conservative guess, which `modelCapabilities` in the
user's settings overrides.
"""

from __future__ import annotations

import re
from typing import Final

from msgspec.structs import replace

from agent.model.capabilities import known_capabilities
from agent.model.client import Effort, ModelCapabilities
from agent.model.dialects.provider import Provider

GUESSED_WINDOW: Final = 128_000
GUESSED_OUTPUT: Final = 16_000

_LEVELS: Final[tuple[Effort, ...]] = ("low", "medium", "high")
_MORE: Final[tuple[Effort, ...]] = (*_LEVELS, "xhigh")

_ROWS: Final[tuple[tuple[str, int, int, tuple[Effort, ...]], ...]] = (
    (r"gpt-(5\.[2-9]|[6-9])", 400_000, 128_000, _MORE),
    (r"gpt-5(\.\d)?(-\w+)?-chat", 128_000, 16_384, ()),
    (r"gpt-5", 400_000, 128_000, _LEVELS),
    (r"\bo[134](-|$)", 200_000, 100_000, _LEVELS),
    (r"gpt-4\.1", 1_047_576, 32_768, ()),
    (r"gpt-4o", 128_000, 16_384, ()),
    (r"gpt-oss", 131_072, 32_768, _LEVELS),
    (r"gemini-2\.0", 1_048_576, 8_192, ()),
    (r"gemini-", 1_048_576, 65_536, _LEVELS),
    (r"deepseek-(reasoner|v3|chat)", 128_000, 32_000, ()),
    (r"(mistral|codestral|devstral|magistral)-", 128_000, 32_000, ()),
    (r"grok-4", 256_000, 64_000, ()),
)


def foreign_capabilities(provider: Provider, model: str) -> ModelCapabilities:
    """Return the table's row for a model of another provider, or a guess."""
    if provider.dialect == "messages":
        return known_capabilities(model)
    for pattern, window, output, efforts in _ROWS:
        if re.search(pattern, model):
            thinks = bool(efforts) and provider.speaks != "chat"
            return _capabilities(model, window, output, efforts, thinks=thinks)
    guess = _capabilities(model, GUESSED_WINDOW, GUESSED_OUTPUT, (), thinks=False)
    return replace(guess, source="guess")


def _capabilities(
    model: str, window: int, output: int, efforts: tuple[Effort, ...], *, thinks: bool
) -> ModelCapabilities:
    return ModelCapabilities(
        model=model,
        context_window=window,
        max_output_tokens=output,
        adaptive_thinking=thinks,
        can_disable_thinking=bool(re.search(r"gemini-2\.5-flash", model)),
        efforts=efforts,
        mid_conversation_system=False,
        prompt_caching=False,
        count_tokens=False,
    )
