"""What a command may change for its own turn: rules, model and effort, all undone afterwards.

Allowed tools become allow rules of the session: deny and ask rules of every source, the scope and
the mode still apply, so nothing is allowed that the user could not allow in a dialog.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, get_args

from agent.commands.spec import Template
from agent.model.client import Effort
from permissions.decision import Behavior
from permissions.gate import PermissionGate
from permissions.request import PermissionRequest
from permissions.rule import RuleBehavior, RuleSource, RuleText
from permissions.rules.rule_set import RuleSet


class ModelChoice(Protocol):
    """Changes the model and effort of the next request."""

    async def set_model(self, model: str) -> None:
        """Use another model."""
        ...

    def set_effort(self, effort: Effort | None) -> None:
        """Ask for another effort; None is the model's default."""
        ...


class TurnScope:
    """The temporary changes of at most one command at a time."""

    def __init__(
        self,
        gate: PermissionGate,
        choice: ModelChoice,
        model: Callable[[], str],
        effort: Callable[[], Effort | None],
    ) -> None:
        """`model` and `effort` return the values in use."""
        self._gate = gate
        self._choice = choice
        self._model = model
        self._effort = effort
        self._rules: tuple[RuleText, ...] = ()
        self._model_before: tuple[str, str] | None = None
        self._effort_before: tuple[Effort | None, Effort] | None = None

    def may_start_agent(self, kind: str) -> bool:
        """Whether rules allow a sub-agent of this kind without asking."""
        request = PermissionRequest("Agent", {"subagent_type": kind})
        return self._gate.evaluate(request).behavior is Behavior.ALLOW

    async def enter(self, template: Template) -> None:
        """Apply a template's changes, after undoing those of an earlier one."""
        await self.leave()
        self.add_rules(template)
        if template.model is not None:
            model_before = self._model()
            await self._choice.set_model(template.model)
            self._model_before = (model_before, self._model())
        if template.effort in get_args(Effort):
            effort = next(e for e in get_args(Effort) if e == template.effort)
            self._effort_before = (self._effort(), effort)
            self._choice.set_effort(effort)

    def add_rules(self, template: Template) -> None:
        """Add a template's rules to those in force: skills accumulate within a turn."""
        rules = [
            *((rule, RuleBehavior.ALLOW) for rule in template.allowed_tools),
            *((rule, RuleBehavior.DENY) for rule in template.disallowed_tools),
        ]
        new = tuple(RuleText(text, behavior, RuleSource.SESSION) for text, behavior in rules)
        if new:
            self._rules = (*self._rules, *new)
            context = self._gate.context
            self._gate.replace_context(context.with_rules(context.rules.with_rules(new)))

    async def leave(self) -> None:
        """Undo all changes, but keep what the user changed meanwhile."""
        if self._rules:
            own = {id(rule) for rule in self._rules}
            self._rules = ()
            context = self._gate.context
            remaining = [text for text in context.rules.texts if id(text) not in own]
            self._gate.replace_context(context.with_rules(RuleSet.build(remaining)[0]))
        if self._model_before is not None:
            model_before, model = self._model_before
            self._model_before = None
            if self._model() == model:
                await self._choice.set_model(model_before)
        if self._effort_before is not None:
            earlier, effort = self._effort_before
            self._effort_before = None
            if self._effort() == effort:
                self._choice.set_effort(earlier)
