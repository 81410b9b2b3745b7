"""The front door: one object per conversation that decides calls, resolves asks and keeps the
grants.

Next: `permissions.cascade` (steps 1 to 3, pure) and `permissions.handlers` (who resolves an ask).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Literal, Protocol

from permissions.cascade import decide
from permissions.context import PermissionContext
from permissions.decision import (
    Behavior,
    Decision,
    DecisionSource,
    DecisionWarning,
    GrantChoice,
    Reason,
    ReasonType,
    TraceEntry,
    TraceStep,
    WarningType,
)
from permissions.denials import DenialState
from permissions.handlers import Handler
from permissions.mode import Mode, next_mode
from permissions.race import Abort
from permissions.request import PermissionRequest

HookBehavior = Literal["allow", "deny", "ask", "defer", "block", "none"]


class GrantStore(Protocol):
    """Where "don't ask again" goes."""

    def store(self, grant: GrantChoice) -> tuple[str, ...]:
        """Store the rules and return those that now count. Raises OSError when a file cannot be
        written."""
        ...


class DecisionLog(Protocol):
    """Keeps every final decision."""

    def write(self, decision: Decision, request: PermissionRequest) -> None:
        """Append one line. Must not raise for a full or read-only disk."""
        ...


class PermissionGate:
    """Decides every tool call of one agent. Sub-agents get gates of their own with the same
    handler."""

    def __init__(
        self,
        context: PermissionContext,
        handler: Handler,
        *,
        audit: DecisionLog | None = None,
        grants: GrantStore | None = None,
        auto_available: bool = False,
    ) -> None:
        """`grants` None: answers count for their one call only."""
        self._context = context
        self._handler = handler
        self._audit = audit
        self._grants = grants
        self._auto_available = auto_available
        self._denials = DenialState()
        self._mode_listeners: list[Callable[[Mode], None]] = []
        self._mode_before_plan: Mode | None = None

    @property
    def context(self) -> PermissionContext:
        """What decisions are made from; replaced, never changed."""
        return self._context

    @property
    def mode(self) -> Mode:
        """The mode in force."""
        return self._context.mode

    @property
    def denials(self) -> DenialState:
        """Classifier denials so far, for the status line and the trace."""
        return self._denials

    def replace_context(self, context: PermissionContext) -> None:
        """Take over new rules or directories; the mode stays what it is."""
        self._context = replace(context, mode=self._context.mode)

    def on_mode_change(self, listener: Callable[[Mode], None]) -> None:
        """Call the listener with every new mode."""
        self._mode_listeners.append(listener)

    def set_mode(self, mode: Mode) -> tuple[DecisionWarning, ...]:
        """Switch the mode by the person's own wish; a closed gate leaves it as it is and says
        so."""
        if mode is Mode.BYPASS and not self._context.bypass_available:
            return (_warning("bypass_unavailable", "bypassPermissions was not opened at start"),)
        if mode is Mode.AUTO and not self._auto_available:
            return (_warning("mode_ignored", "auto needs the model classifier, which is off"),)
        self._switch(mode)
        return ()

    def cycle_mode(self) -> Mode:
        """Go to the next mode of the cycle and return it."""
        self._switch(
            next_mode(
                self.mode,
                bypass_available=self._context.bypass_available,
                auto_available=self._auto_available,
            )
        )
        return self.mode

    def enter_plan_mode(self) -> None:
        """Tighten to plan mode, remembering where to return to."""
        if self.mode is not Mode.PLAN:
            self._mode_before_plan = self.mode
            self._switch(Mode.PLAN)

    def leave_plan_mode(self, mode: Mode | None = None) -> None:
        """Continue in the mode the person chose, else in the one before plan mode."""
        target = mode or self._mode_before_plan or Mode.DEFAULT
        self._mode_before_plan = None
        self._switch(target)

    def _switch(self, mode: Mode) -> None:
        if mode is self.mode:
            return
        self._context = replace(self._context, mode=mode)
        for listener in tuple(self._mode_listeners):
            listener(mode)

    def evaluate(self, request: PermissionRequest, *, cwd: Path | None = None) -> Decision:
        """Return the answer of steps 1 to 3. Pure; a check that breaks is a deny."""
        try:
            return decide(request, self._context, cwd=cwd)
        except Exception as error:  # noqa: BLE001 - fail closed: no exception may become an allow
            return Decision(
                behavior=Behavior.DENY,
                source=DecisionSource.SCOPE_CHECK,
                reason_type=ReasonType.SAFETY_CHECK,
                reason=Reason.UNPARSABLE,
                message=f"The permission check itself failed ({type(error).__name__}: {error}).",
            )

    def after_pre_tool_use(
        self, decision: Decision, hook: str, reason: str, hook_name: str
    ) -> Decision:
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

    async def resolve(
        self, request: PermissionRequest, pending: Decision, abort: Abort
    ) -> Decision:
        """Resolve an ask for good (steps 5 and 6): store what the winner wants stored, log, count.

        Raises:
            RaceAborted: the agent was interrupted; nothing was stored.
        """
        decision = await self._handler.resolve(request, pending, abort, self._denials)
        self._denials = self._denials.after(decision)
        if decision.behavior is Behavior.ALLOW and decision.grant is not None:
            decision = self._store(decision, decision.grant)
        self.log(decision, request)
        return decision

    def log(self, decision: Decision, request: PermissionRequest) -> None:
        """Write a final decision to the audit log, where there is one."""
        if self._audit is not None:
            self._audit.write(decision, request)

    def _store(self, decision: Decision, grant: GrantChoice) -> Decision:
        if self._grants is None:
            return decision
        try:
            return replace(decision, stored=self._grants.store(grant))
        except OSError as error:
            warning = _warning(
                "mode_ignored",
                f"the rule could not be stored: {error}; this call alone was allowed",
            )
            return replace(decision, warnings=(*decision.warnings, warning))


def _warning(kind: str, message: str) -> DecisionWarning:
    return DecisionWarning(WarningType(kind), None, None, message)
