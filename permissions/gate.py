"""Entry point: one object per conversation that decides calls, resolves asks and stores the grants.

Next: `permissions.evaluate.cascade` (steps 1 to 3, pure) and `permissions.resolve.handlers` (who
resolves an ask).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from weakref import WeakSet

from msgspec.structs import replace

from permissions.base.text.failure_text import error_reason
from permissions.context import PermissionContext
from permissions.decision import (
    Behavior,
    Decision,
    DecisionSource,
    DecisionWarning,
    GrantChoice,
    TraceEntry,
    TraceStep,
    WarningType,
)
from permissions.evaluate.cascade import Evaluation, evaluate_parts, failed_evaluation
from permissions.evaluate.confirmed_decision import apply_answer
from permissions.evaluate.hook_step import after_hooks
from permissions.evaluate.meanwhile import decided_anew, unless_denied
from permissions.evaluate.read_only_classifier import classify, with_harmless_parts
from permissions.explain.decision_history import History, RecentCall, RuleKey, RuleRow, RuleUse
from permissions.explain.explain_decision import with_rules
from permissions.matching.effective_rules import without_dangerous
from permissions.mode import Mode, next_mode
from permissions.request import PermissionRequest
from permissions.resolve.denial_limits import DenialState
from permissions.resolve.gate_ports import DecisionLog, GrantStore, RefreshSettings
from permissions.resolve.handlers import Handler, user_decision
from permissions.resolve.race import Abort
from permissions.rules.rule_set import Rule
from permissions.scope.added_directories import may_be_added


class PermissionGate:
    """Decides every tool call of one agent; a sub-agent's is a `permissions.subagent_gate`."""

    def __init__(
        self,
        context: PermissionContext,
        handler: Handler,
        *,
        audit: DecisionLog | None = None,
        grants: GrantStore | None = None,
        auto_available: bool = False,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        notify: Callable[[str], None] = lambda _text: None,
    ) -> None:
        """If `grants` is None, answers apply to one call only. `now` returns the time for the
        history. `notify` receives messages for the user about the storing of rules."""
        self._context = context
        self._handler = handler
        self._audit = audit
        self._grants = grants
        self._notify = notify
        self._auto_available = auto_available
        self._denials = DenialState()
        self._mode_listeners: list[Callable[[Mode], None]] = []
        self._directory_listeners: list[Callable[[Path], None]] = []
        self._mode_before_plan: Mode | None = None
        self._history = History(now)
        self._change_event = asyncio.Event()
        self._refresh_settings: RefreshSettings | None = None
        self._open: dict[str, Evaluation] = {}
        """By request id: the evaluations of open asks."""
        self._asking: dict[str, tuple[PermissionGate, Path | None]] = {}
        """By request id: the gate of the sub-agent that asks, and its directory."""
        self._dependents: WeakSet[PermissionGate] = WeakSet()

    @property
    def context(self) -> PermissionContext:
        """The context that decisions are based on; replaced, never changed."""
        return self._context

    @property
    def mode(self) -> Mode:
        """The mode in force."""
        return self.context.mode

    @property
    def denials(self) -> DenialState:
        """Classifier denials so far, for the status line and the trace."""
        return self._denials

    @property
    def grants(self) -> GrantStore | None:
        """Stores the rules of users' answers."""
        return self._grants

    @property
    def auto_available(self) -> bool:
        """Whether the mode `auto` can be entered: the model classifier is on."""
        return self._auto_available

    @property
    def stripped_rules(self) -> tuple[Rule, ...]:
        """The allow rules that do not apply while the mode is `auto`; empty in other modes."""
        return without_dangerous(self.context.rules)[1] if self.mode is Mode.AUTO else ()

    @property
    def recent_decisions(self) -> tuple[RecentCall, ...]:
        """Decided calls, newest first."""
        return self._history.decisions

    @property
    def recent_denials(self) -> tuple[RecentCall, ...]:
        """Denied calls, newest first, each with what is needed to retry it."""
        return self._history.denials

    def rule_table(self, usage: Mapping[RuleKey, RuleUse] | None = None) -> tuple[RuleRow, ...]:
        """Return every rule with its origin and its use, in order of source.

        `usage` None counts this session; `permissions.explain.decision_history.read_usage` reads
        earlier ones too.
        """
        return self._history.rows(self.context.rules.rules, usage)

    def replace_context(
        self, context: PermissionContext, *, auto_available: bool | None = None
    ) -> None:
        """Apply new rules or directories, to open asks as well.

        The mode is kept, unless it is no longer available: then it becomes default.
        """
        mode = self._context.mode
        self._context = replace(context, mode=mode)
        if auto_available is not None:
            self._auto_available = auto_available
        is_shut = (mode is Mode.BYPASS and not context.bypass_available) or (
            mode is Mode.AUTO and not self._auto_available
        )
        if is_shut:
            self._switch(Mode.DEFAULT)
        self._announce()

    def on_before_allow(self, refresh_settings: RefreshSettings) -> None:
        """Await this function before an answer lets a call run, so that changed rules apply."""
        self._refresh_settings = refresh_settings

    def on_mode_change(self, listener: Callable[[Mode], None]) -> None:
        """Call the listener with every new mode."""
        self._mode_listeners.append(listener)

    def on_directory(self, listener: Callable[[Path], None]) -> None:
        """Call the listener with every working directory that an answer adds."""
        self._directory_listeners.append(listener)

    def set_mode(self, mode: Mode) -> tuple[DecisionWarning, ...]:
        """Switch the mode as the user asks; an unavailable mode changes nothing and returns a
        warning."""
        if mode is Mode.BYPASS and not self.context.bypass_available:
            return (_warning("bypass_unavailable", "bypassPermissions was not enabled at start"),)
        if mode is Mode.AUTO and not self._auto_available:
            return (_warning("mode_ignored", "auto needs the model classifier, which is off"),)
        self._switch(mode)
        return ()

    def cycle_mode(self) -> Mode:
        """Go to the next mode of the cycle and return it."""
        self._switch(
            next_mode(
                self.mode,
                bypass_available=self.context.bypass_available,
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
        """Continue in the mode the user chose, else in the one before plan mode."""
        target = mode or self._mode_before_plan or Mode.DEFAULT
        self._mode_before_plan = None
        self._switch(target)

    def _switch(self, mode: Mode) -> None:
        if mode is self.mode:
            return
        self._context = replace(self._context, mode=mode)
        self._announce()
        for listener in tuple(self._mode_listeners):
            listener(mode)

    def _announce(self) -> None:
        """Wake all open asks: they may be decided by now."""
        change_event, self._change_event = self._change_event, asyncio.Event()
        change_event.set()
        for dependent in tuple(self._dependents):
            dependent._announce()

    def evaluate(self, request: PermissionRequest, *, cwd: Path | None = None) -> Decision:
        """Return the decision of steps 1 to 3. Pure; a check that raises is a deny."""
        return self.evaluation(request, cwd=cwd).decision

    def evaluation(self, request: PermissionRequest, *, cwd: Path | None = None) -> Evaluation:
        """Evaluate a call by steps 1 to 3; a check that raises is a deny."""
        try:
            return evaluate_parts(request, self.context, cwd=cwd)
        except Exception as error:  # noqa: BLE001 - fail closed: no exception may become an allow
            return failed_evaluation(request, self.context, error)

    def current_evaluation(
        self, request: PermissionRequest, *, cwd: Path | None = None
    ) -> Evaluation:
        """Return the evaluation of a call that is being asked about, for the contenders.

        It is renewed when the rules, mode, directory or files that it depends on have changed.
        """
        if request.request_id in self._asking:
            gate, cwd = self._asking[request.request_id]
            return gate.current_evaluation(request, cwd=cwd)
        open_evaluation = self._open.get(request.request_id)
        if open_evaluation is not None and open_evaluation.is_current(
            request, self.context, cwd=cwd
        ):
            return open_evaluation
        new_evaluation = self.evaluation(request, cwd=cwd)
        if open_evaluation is not None:
            self._open[request.request_id] = new_evaluation
        return new_evaluation

    def preview(self, request: PermissionRequest, *, cwd: Path | None = None) -> Decision:
        """Return the decision that a call would get; nothing is logged.

        Steps 1 to 3, then the local classifier; an ask describes what the call would do.
        """
        evaluation = self.evaluation(request, cwd=cwd)
        if evaluation.decision.behavior is not Behavior.ASK:
            return evaluation.decision
        return classify(evaluation) or self._describe_ask(evaluation.decision, evaluation)

    def after_pre_tool_use(
        self, evaluation: Evaluation, decision: Decision, hook: str, reason: str, hook_name: str
    ) -> Decision:
        """Return the decision after PreToolUse hooks (step 4).

        Args:
            evaluation: The one that `decision` comes from.
        """
        return apply_answer(after_hooks(decision, hook, reason, hook_name), evaluation)

    async def resolve(
        self,
        request: PermissionRequest,
        pending: Decision,
        abort: Abort,
        *,
        cwd: Path | None = None,
        evaluation: Evaluation | None = None,
    ) -> Decision:
        """Resolve an ask (steps 5 and 6): store the winner's grant, log, count denials.

        Args:
            cwd: As for `evaluate`. If None, a rule that is added while the ask is open can deny the
                call, but not allow it.
            evaluation: The one that `pending` comes from; used as long as it is current.

        Raises:
            RaceAborted: the agent was interrupted; nothing was stored.
        """
        self._open[request.request_id] = evaluation or self.evaluation(request, cwd=cwd)
        try:
            return await self._resolve(request, pending, abort, cwd)
        finally:
            self._open.pop(request.request_id, None)

    async def _resolve(
        self, request: PermissionRequest, pending: Decision, abort: Abort, cwd: Path | None
    ) -> Decision:
        if self._history.take_retry(request):
            decision = user_decision(Behavior.ALLOW, message="The user wants it tried again.")
            decision = replace(decision, trace=pending.trace, parts=pending.parts)
        else:
            described_ask = self._describe_ask(pending, self.current_evaluation(request, cwd=cwd))
            decision = await self._request_answer(request, described_ask, abort, cwd)
        if decision.behavior is Behavior.ALLOW:
            if self._refresh_settings is not None:
                await self._refresh_settings()
            # The last check before the call runs. A user or a hook took time to answer: only after
            # the classifier, an evaluation that is still current is reused.
            by_classifier = decision.source is DecisionSource.CLASSIFIER
            evaluate = self.current_evaluation if by_classifier else self.evaluation
            evaluation = evaluate(request, cwd=cwd)
            decision = unless_denied(decision, evaluation.decision, pending)
            decision = apply_answer(decision, evaluation)
        previous_denials, self._denials = self._denials, self._denials.with_decision(decision)
        if self._denials.total > previous_denials.total:
            state = TraceEntry(TraceStep.CLASSIFIER, "none", source=self._denials.describe())
            decision = replace(decision, trace=(*decision.trace, state))
        if decision.behavior is Behavior.ALLOW and decision.grant is not None:
            decision = self._store(decision, decision.grant)
        self.log(decision, request)
        return decision

    async def _request_answer(
        self, request: PermissionRequest, pending: Decision, abort: Abort, cwd: Path | None
    ) -> Decision:
        """Return the handler's answer, or the decision by rules or a mode that changed
        meanwhile."""
        handler = asyncio.ensure_future(
            self._handler.resolve(request, pending, abort, self._denials)
        )
        change_event = self._change_event
        try:
            while True:
                wake = asyncio.ensure_future(change_event.wait())
                try:
                    await asyncio.wait({handler, wake}, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    wake.cancel()
                if handler.done():
                    return handler.result()
                change_event = self._change_event
                current = self.evaluate(request, cwd=cwd)
                anew = decided_anew(current, pending, may_allow=cwd is not None)
                if anew is not None:
                    return anew
        finally:
            await _cancel_and_wait(handler)

    def _describe_ask(self, pending: Decision, evaluation: Evaluation) -> Decision:
        """Return an ask with what only users need: effects, harmless parts, places of rules."""
        from permissions.evaluate.effect_summary import effects_of  # with an ask

        try:
            effects = effects_of(evaluation) if self._handler.asks_users else ()
            if len(pending.parts) > 1:
                pending = with_harmless_parts(pending, evaluation)
        except Exception:  # noqa: BLE001 - information for users, who are asked without it, too
            effects = ()
        return replace(with_rules(pending, self.context.rules), effects=effects)

    def retry(self, denial: RecentCall) -> str:
        """Allow a denied call once, if the model makes exactly the same call again.

        Only an ask is lifted: what rules, scope or mode deny stays denied. Call it only for a key
        press of the user. Returns the prompt that informs the model.
        """
        return self._history.allow_retry(denial)

    def log(self, decision: Decision, request: PermissionRequest) -> None:
        """Record a final decision in the history, and in the audit log if there is one."""
        self._history.add(decision, request)
        if self._audit is not None:
            self._audit.write(decision, request)

    def _store(self, decision: Decision, grant: GrantChoice) -> Decision:
        if grant.directories and decision.source is DecisionSource.USER:
            self.add_directories(grant.directories)
        if self._grants is None or not grant.rules:
            return decision
        from permissions.grants.suggest import shadow_warnings_of  # with an answer that is stored

        shadows = shadow_warnings_of(grant, self.context)
        try:
            stored_rules = self._grants.store(grant)
            for shadow in shadows:
                self._notify(f"The rule was stored. {shadow.message}.")
            return replace(
                decision, stored_rules=stored_rules, warnings=(*decision.warnings, *shadows)
            )
        except OSError as error:
            warning = _warning(
                "mode_ignored",
                f"The rule could not be stored: {error_reason(error)}. "
                "This call alone was allowed.",
            )
            self._notify(warning.message)
            return replace(decision, warnings=(*decision.warnings, warning))

    def add_directories(self, directories: Sequence[str]) -> None:
        """Add directories to the scope for the session, except for those that may not be added."""
        context = self._context
        old_dirs = context.additional_dirs
        new_dirs = [
            Path(one)
            for one in directories
            if Path(one) not in old_dirs and may_be_added(one, context)
        ]
        self.replace_context(replace(context, additional_dirs=(*old_dirs, *new_dirs)))
        for directory in new_dirs:
            for listener in tuple(self._directory_listeners):
                listener(directory)


def _warning(kind: str, message: str) -> DecisionWarning:
    return DecisionWarning(WarningType(kind), None, None, message)


async def _cancel_and_wait(task: asyncio.Future[Decision]) -> None:
    """Cancel a handler that still runs, and wait until its contenders have ended."""
    if not task.done():
        task.cancel()
        await asyncio.wait({task})
    if not task.cancelled():
        task.exception()
