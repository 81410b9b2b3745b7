"""Step 4 of a decision: what PreToolUse hooks make of the answer of rules, scope and mode. Pure."""

from __future__ import annotations

from dataclasses import replace

from permissions.decision import (
    Behavior,
    Decision,
    DecisionSource,
    Reason,
    ReasonType,
    TraceEntry,
    TraceStep,
)


def after_hooks(decision: Decision, hook: str, reason: str, hook_name: str) -> Decision:
    """Return the decision after PreToolUse hooks (step 4): they tighten, or lift a mode's
    ask."""
    who = hook_name or "a PreToolUse hook"
    entry = TraceEntry(TraceStep.HOOK, hook, source=who)
    if decision.behavior is Behavior.DENY or hook == "none":
        return decision
    by_hook = replace(
        decision,
        source=DecisionSource.HOOK,
        reason_type=ReasonType.HOOK,
        reason=Reason.HOOK,
        trace=(*decision.trace, entry),
    )
    match hook:
        case "deny" | "block":
            return replace(
                by_hook, behavior=Behavior.DENY, message=f"{who}: {reason or 'no reason given'}"
            )
        case "ask" | "defer" if decision.behavior is Behavior.ALLOW:
            return replace(
                by_hook,
                behavior=Behavior.ASK,
                message=f"{who} asks: {reason or 'confirm this'}",
            )
        case "allow" if decision.is_mode_default_ask:
            return replace(
                by_hook, behavior=Behavior.ALLOW, message=f"{who}: {reason or 'allowed'}"
            )
        case _:
            return replace(decision, trace=(*decision.trace, entry))
