"""The loop's immutable state, replaced at every transition with a typed reason (pattern "State
Struct")."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

TransitionReason = Literal[
    "next_turn",
    "max_output_tokens_recovery",
    "stop_hook_blocking",
    "reactive_compact_retry",
    "pause_turn",
    "token_budget_continuation",
    "queued_prompt",
    "answer_correction",
    "mail",
]


class Transition(Struct, frozen=True):
    """Why the loop continued with another request."""

    reason: TransitionReason
    detail: str = ""


class LoopState(Struct, frozen=True):
    """What changes between the model requests of one prompt, besides the history."""

    turn_count: int = 0
    """Rounds so far that ended in another request: with tool calls, or continued by a Stop hook."""
    recovery_count: int = 0
    """`max_tokens` continuations in a row."""
    pause_count: int = 0
    """`pause_turn` answers in a row."""
    stop_hook_blocks: int = 0
    """How often a Stop hook continued this prompt."""
    corrections: int = 0
    """How often an answer did not follow its schema."""
    transition: Transition | None = None
    """None only for the first request of a prompt."""

    def advance(self, reason: TransitionReason, *, detail: str = "") -> LoopState:
        """Return the state of the next request."""
        base = replace(self, transition=Transition(reason, detail))
        match reason:
            case "next_turn" | "queued_prompt":
                return replace(
                    base, turn_count=self.turn_count + 1, recovery_count=0, pause_count=0
                )
            case "max_output_tokens_recovery":
                return replace(base, recovery_count=self.recovery_count + 1)
            case "pause_turn":
                return replace(base, pause_count=self.pause_count + 1)
            case "stop_hook_blocking":
                return replace(
                    base,
                    turn_count=self.turn_count + 1,
                    stop_hook_blocks=self.stop_hook_blocks + 1,
                )
            case "answer_correction":
                return replace(base, corrections=self.corrections + 1)
            case "reactive_compact_retry" | "token_budget_continuation" | "mail":
                return base
