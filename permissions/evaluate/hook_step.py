"""Step 4 of a decision: PreToolUse hooks change the answer of rules, scope and mode. Pure."""

from __future__ import annotations

from msgspec.structs import replace

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
    """Return the decision after PreToolUse hooks (step 4): they may tighten it, or lift an ask of
    the mode."""
    who = hook_name or "a PreToolUse hook"
    source = f"{who} asks: {reason}" if reason and hook in ("ask", "defer") else who
    entry = TraceEntry(TraceStep.HOOK, hook, source=source)
    if decision.behavior is Behavior.DENY or hook == "none":
        return decision
    hook_decision = _by_hook(decision, hook, reason, who)
    if hook_decision is not None:
        # The caller determines the confinement.
        return replace(hook_decision, trace=(*decision.trace, entry), confinement=None)
    message = decision.message
    if reason and hook in ("ask", "defer"):
        # It asks anyway, but the user should see the hook's reason, too.
        message = f"{message.rstrip('.')}; {source}"
    return replace(decision, message=message, trace=(*decision.trace, entry))


def _by_hook(decision: Decision, hook: str, reason: str, who: str) -> Decision | None:
    """Return the decision changed by the hook; None if its answer changes nothing."""
    match hook:
        case "deny" | "block":
            ground = reason or "no reason given"
            behavior, message = Behavior.DENY, ground if who in ground else f"{who}: {ground}"
        case "allow" if decision.is_mode_default_ask:
            behavior, message = Behavior.ALLOW, f"{who}: {reason or 'allowed'}"
        case "ask" | "defer" if decision.behavior is Behavior.ALLOW or decision.is_mode_default_ask:
            # The mode's own question may be answered by a classifier, this one may not.
            behavior, message = Behavior.ASK, f"{who} asks: {reason or 'confirm this'}"
        case _:
            return None
    return replace(
        decision,
        behavior=behavior,
        message=message,
        source=DecisionSource.HOOK,
        reason_type=ReasonType.HOOK,
        reason=Reason.HOOK,
    )


def after_rewrite(decision: Decision, hook_name: str) -> Decision:
    """Return the decision about an input that a hook has rewritten."""
    who = hook_name or "a hook"
    entry = TraceEntry(TraceStep.HOOK, "none", source=f"{who}: changed the input")
    message = decision.message
    if decision.behavior is Behavior.ASK:
        message = f"{message.rstrip('.')}; {who} changed the input"
    return replace(decision, message=message, trace=(*decision.trace, entry))
