"""Limits by which an agent's definition restricts its parent's permissions. They never add any.

Used by `permissions.subagent_gate`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from permissions.context import PermissionContext, SandboxState
from permissions.decision import (
    Behavior,
    Decision,
    DecisionSource,
    Reason,
    ReasonType,
    RuleRef,
    TraceEntry,
    TraceStep,
)
from permissions.evaluate.cascade import Evaluation, evaluate_parts
from permissions.mode import Mode
from permissions.request import PermissionRequest
from permissions.rules.grammar import RuleBehavior
from permissions.rules.rule_set import RuleSet, RuleSource, RuleText
from permissions.tool_names import canonical_tool

_WIDTH = (Mode.PLAN, Mode.DONT_ASK, Mode.DEFAULT, Mode.ACCEPT_EDITS, Mode.AUTO, Mode.BYPASS)
"""Modes from the strictest to the loosest."""


class NotesLimit(Struct, frozen=True):
    """Restricts file tools to the directory of an agent's notes."""

    directory: Path
    tools: tuple[str, ...]

    def allows(self, request: PermissionRequest, cwd: Path) -> bool:
        """Whether a call stays inside the directory, links resolved; true for other tools."""
        if canonical_tool(request.tool) not in self.tools:
            return True
        path = os.path.realpath(cwd / str(request.tool_input.get("file_path", "")))
        return Path(path).is_relative_to(os.path.realpath(self.directory))


class AgentLimits(Struct, frozen=True):
    """Limits of one agent, in addition to those of its parent."""

    agent: str = ""
    """Named in denials."""
    file: str | None = None
    """Path of the definition."""
    mode: Mode | None = None
    """Applies where it is stricter than the parent's."""
    only: tuple[str, ...] = ()
    """Rules such as `Bash(git *)`: a call of their tools that none matches is denied."""
    directory: Path | None = None
    """The only working directory, instead of the parent's; None keeps those."""
    notes: NotesLimit | None = None
    """Tools that may write only in one directory; None for no such limit."""
    tools: dict[str, RuleSet] = field(default_factory=dict)
    """`only`, parsed, by tool; see `agent_limits`."""

    def apply_to(self, context: PermissionContext) -> PermissionContext:
        """Return the parent's context with the limits."""
        mode = context.mode if self.mode is None else stricter(context.mode, self.mode)
        if self.directory is None:
            return replace(context, mode=mode)
        return replace(
            context,
            mode=mode,
            launch_dir=self.directory,
            project_root=self.directory,
            additional_dirs=(),
        )

    def denies_asks(self, parent: Mode) -> bool:
        """Whether asks are denied: one of the two modes is plan, and the other never asks."""
        return {self.mode, parent} == {Mode.PLAN, Mode.DONT_ASK}

    def refusal(
        self, request: PermissionRequest, evaluation: Evaluation, cwd: Path | None
    ) -> Decision | None:
        """Return the deny of a call that the limits exclude, or None."""
        decision = evaluation.decision
        if self.directory is not None and decision.write_dirs:
            message = f"{decision.message.rstrip('.')}: the agent {self.agent} works in a worktree."
            return replace(decision, behavior=Behavior.DENY, message=message, confinement=None)
        if self.notes is not None and not self.notes.allows(
            request, cwd or evaluation.context.launch_dir
        ):
            return self._deny_listed(
                request, evaluation, (f"{request.tool}({self.notes.directory}/**)",)
            )
        rules = self.tools.get(canonical_tool(request.tool))
        if rules is None:
            return None
        context = replace(
            evaluation.context, rules=rules, mode=Mode.DONT_ASK, policy={}, sandbox=SandboxState()
        )
        check = evaluate_parts(request, context, cwd=cwd)
        judged_parts = zip(check.parts, check.verdicts, strict=True)
        if check.verdicts and all(
            verdict.behavior is Behavior.ALLOW and (verdict.rule is not None or part.is_free)
            for part, verdict in judged_parts
        ):
            return None
        return self._deny_listed(request, evaluation, tuple(rule.text for rule in rules.rules))

    def _deny_listed(
        self, request: PermissionRequest, evaluation: Evaluation, rule_texts: tuple[str, ...]
    ) -> Decision:
        """Return a deny that names the permitted calls."""
        texts = ", ".join(rule_texts)
        return replace(
            evaluation.decision,
            behavior=Behavior.DENY,
            source=DecisionSource.SESSION,
            reason_type=ReasonType.RULE,
            reason=Reason.DENY_RULE,
            rule=RuleRef(texts, "session", self.file),
            message=f"The agent {self.agent} may use {request.tool} only as {texts}.",
            confinement=None,
            trace=(
                *evaluation.decision.trace,
                TraceEntry(TraceStep.DENY, "deny", source="session", rule=texts),
            ),
        )


def agent_limits(
    *,
    agent: str,
    file: str | None = None,
    mode: Mode | None = None,
    only: Sequence[str] = (),
    directory: Path | None = None,
    notes: NotesLimit | None = None,
) -> AgentLimits:
    """Return the limits of an agent; a rule that cannot be read allows nothing of its tool."""
    by_tool: dict[str, list[str]] = {}
    for text in only:
        by_tool.setdefault(canonical_tool(text.partition("(")[0].strip()), []).append(text)
    tools = {
        tool: RuleSet.build(
            RuleText(text, RuleBehavior.ALLOW, RuleSource.SESSION, file) for text in texts
        )[0]
        for tool, texts in by_tool.items()
    }
    return AgentLimits(agent, file, mode, tuple(only), directory, notes, tools)


def stricter(one: Mode, other: Mode) -> Mode:
    """Return the stricter of two modes."""
    return min(one, other, key=_WIDTH.index)
