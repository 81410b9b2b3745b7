"""The gate of a sub-agent: the parent's current rules, with the agent's own limits."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from permissions.agent_limits import AgentLimits
from permissions.context import PermissionContext
from permissions.decision import Behavior, Decision
from permissions.evaluate.cascade import Evaluation
from permissions.gate import PermissionGate
from permissions.request import PermissionRequest
from permissions.resolve.handlers import Handler, denied_without_user
from permissions.resolve.race import Abort


class SubagentGate(PermissionGate):
    """Decides the calls of one sub-agent.

    Rules, directories and mode are the parent's, also if they change while the agent runs. The
    parent stores the user's answers. History and audit log are shared.
    """

    def __init__(
        self, parent: PermissionGate, limits: AgentLimits, handler: Handler | None = None
    ) -> None:
        """`limits` only remove permissions; if `handler` is None, the parent's resolves asks."""
        super().__init__(
            parent.context,
            handler or parent._handler,
            audit=parent._audit,
            grants=parent._grants,
            notify=parent._notify,
            auto_available=parent.auto_available,
        )
        self._parent = parent
        self._limits = limits
        self._history = parent._history
        self._refresh_settings = parent._refresh_settings
        self._parent_context = parent.context
        self._limited_context = limits.apply_to(self._parent_context)
        parent._dependents.add(self)

    @property
    def context(self) -> PermissionContext:
        """The input of decisions: the parent's current context, with the limits."""
        now = self._parent.context
        if now is not self._parent_context:
            self._parent_context, self._limited_context = now, self._limits.apply_to(now)
        return self._limited_context

    def evaluation(self, request: PermissionRequest, *, cwd: Path | None = None) -> Evaluation:
        """Evaluate a call now; a call outside the limits is denied."""
        evaluation = super().evaluation(request, cwd=cwd)
        decision = evaluation.decision
        if decision.behavior is Behavior.DENY:
            return evaluation
        refusal = self._refusal(request, evaluation, cwd)
        is_ask = refusal is None and decision.behavior is Behavior.ASK
        if is_ask and self._limits.denies_asks(self._parent.mode):
            refusal = denied_without_user(decision)
        return evaluation if refusal is None else replace(evaluation, decision=refusal)

    def _refusal(
        self, request: PermissionRequest, evaluation: Evaluation, cwd: Path | None
    ) -> Decision | None:
        try:
            return self._limits.refusal(request, evaluation, cwd)
        except Exception as error:  # noqa: BLE001 - fail closed: no exception may become an allow
            message = f"The check of the agent's limits failed ({type(error).__name__}: {error})."
            return replace(evaluation.decision, behavior=Behavior.DENY, message=message)

    async def resolve(
        self,
        request: PermissionRequest,
        pending: Decision,
        abort: Abort,
        *,
        cwd: Path | None = None,
        evaluation: Evaluation | None = None,
    ) -> Decision:
        """Resolve an ask; contenders use this agent's gate for it."""
        root = self._root()
        root._asking[request.request_id] = self, cwd
        try:
            return await super().resolve(request, pending, abort, cwd=cwd, evaluation=evaluation)
        finally:
            root._asking.pop(request.request_id, None)

    def add_directories(self, directories: Sequence[str]) -> None:
        """Add directories to the scope of the whole session."""
        self._parent.add_directories(directories)

    def _root(self) -> PermissionGate:
        gate: PermissionGate = self
        while isinstance(gate, SubagentGate):
            gate = gate._parent
        return gate
