"""When to compact: thresholds of the window, and a breaker that stops futile attempts."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

RESPONSE_HEADROOM: Final = 15_000
"""Room reserved for the answer, unless the model's own limit is smaller."""
ANSWER_SHARE: Final = 0.25
"""Largest share of a window that is reserved for the answer."""
TRIGGER: Final = 0.85
CRITICAL: Final = 0.95
TARGET: Final = 0.5
"""The share that compaction aims at, so that the window is not full again at once."""
MAX_FAILURES: Final = 3


class Pressure(StrEnum):
    """How full the window is."""

    NONE = "none"
    COMPACT = "compact"
    """There is still enough room to ask the model for a summary."""
    CRITICAL = "critical"
    """There is no room for a summary: only steps without a model help."""


class ContextBudget(Struct, frozen=True):
    """The window of a model, in tokens."""

    window: int
    max_output: int
    wanted_tokens: int | None = None
    """Part of the window that the user wants used; None means all of it."""

    @property
    def effective(self) -> int:
        """Largest history that leaves room for the answer."""
        return self._without_headroom(self.window)

    @property
    def trigger(self) -> int:
        """Size of a history at which compaction starts."""
        return int(self._used_window * TRIGGER)

    @property
    def target(self) -> int:
        """Largest history after a good compaction."""
        return int(self._used_window * TARGET)

    @property
    def _used_window(self) -> int:
        return self._without_headroom(min(self.window, self.wanted_tokens or self.window))

    def _without_headroom(self, window: int) -> int:
        most = int(window * ANSWER_SHARE)
        return max(1, window - min(RESPONSE_HEADROOM, self.max_output, most))

    def pressure(self, tokens: int) -> Pressure:
        """Return how full the window is with a history of that size."""
        if tokens >= self.effective * CRITICAL:
            return Pressure.CRITICAL
        return Pressure.COMPACT if tokens >= self.trigger else Pressure.NONE


def too_small(prefix_tokens: int, budget: ContextBudget) -> str | None:
    """Return a message for users if system prompt and tools do not fit the window; else None."""
    if prefix_tokens < budget.trigger:
        return None
    return (
        f"The system prompt and the tools take about {prefix_tokens:,} tokens; the model's window "
        f"is {budget.window:,}. Start the server with a larger one: llama.cpp with -c 32768, "
        "Ollama with OLLAMA_CONTEXT_LENGTH=32768, vLLM with --max-model-len 32768."
    )


class CompactionState(Struct, frozen=True):
    """The results of earlier attempts in this session."""

    consecutive_failures: int = 0
    reactive_used: bool = False
    """The only compaction after a rejected prompt was used; never reset within a session."""

    @property
    def is_open(self) -> bool:
        """Whether the breaker has stopped automatic attempts."""
        return self.consecutive_failures >= MAX_FAILURES

    def after_success(self) -> CompactionState:
        """Return the state after a success."""
        return replace(self, consecutive_failures=0)

    def after_failure(self) -> CompactionState:
        """Return the state after a failure, or after a compaction without effect."""
        return replace(self, consecutive_failures=self.consecutive_failures + 1)

    def reactive(self) -> CompactionState:
        """Return the state with the reactive attempt used."""
        return replace(self, reactive_used=True)
