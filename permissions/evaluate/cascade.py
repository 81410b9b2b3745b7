"""The pure decision: scope, rules of six sources, mode (safety-and-permissions: the cascade)."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from permissions.context import PermissionContext
from permissions.decision import (
    STRICTNESS,
    Behavior,
    Decision,
    DecisionSource,
    DecisionWarning,
    PartVerdict,
    Reason,
    ReasonType,
    TraceEntry,
)
from permissions.evaluate.call_view import CallView
from permissions.evaluate.command_parts import CommandParts, command_parts
from permissions.evaluate.part_verdict import Part, part_verdict
from permissions.evaluate.tool_part import tool_part
from permissions.matching.effective_rules import effective
from permissions.paths.resolve import absolute
from permissions.request import PermissionRequest
from permissions.scope.scope import check_budget
from permissions.shell.command_facts import CommandFacts
from permissions.tool_names import canonical_tool


def decide(
    request: PermissionRequest, context: PermissionContext, *, cwd: Path | None = None
) -> Decision:
    """Decide one validated call: steps 1 to 3 of the permission check. Pure; raises nothing.

    Args:
        cwd: The shell's current directory when it moved away from the launch directory. It is
            where relative paths start; the scope never moves.
    """
    return evaluate_parts(request, context, cwd=cwd).decision


class Evaluation(Struct, frozen=True):
    """All that steps 1 to 3 found about one call, for every step that follows."""

    request: PermissionRequest
    context: PermissionContext
    view: CallView
    facts: tuple[CommandFacts, ...]
    """What each simple command of a Bash call is and does; () for other tools."""
    parts: tuple[Part, ...]
    verdicts: tuple[PartVerdict, ...]
    """One for each part."""
    decision: Decision
    """The strictest verdict, with the trace of all."""

    @property
    def target(self) -> str:
        """The file that a call of a file tool was decided about, links resolved; else empty."""
        return self.parts[0].target if self.parts else ""

    def is_current(
        self, request: PermissionRequest, context: PermissionContext, *, cwd: Path | None = None
    ) -> bool:
        """Would a new evaluation of `request` find the same?

        It rests on the call, the context (replaced whenever rules, mode or directories change),
        the shell's directory, and what was asked of the disk, which is asked again here.
        """
        return (
            self.context is context
            and self.request.tool == request.tool
            and self.request.tool_input == request.tool_input
            and self.view.base == absolute(cwd or context.launch_dir)
            and self.view.is_unchanged
        )


def evaluate_parts(
    request: PermissionRequest, context: PermissionContext, *, cwd: Path | None = None
) -> Evaluation:
    """Evaluate every part of a call. Pure; raises nothing."""
    in_force = effective(context)
    view = CallView(
        context,
        in_force.mode,
        in_force.rules,
        absolute(cwd or context.launch_dir),
        request.tool_input,
        check_budget(context),
    )
    tool = canonical_tool(request.tool)
    result = (
        command_parts(view)
        if tool == "Bash"
        else CommandParts((), [tool_part(request, tool, view)])
    )
    parts = tuple([one.part for one in result.parts])
    results = [part_verdict(one, in_force.mode) for one in result.parts]
    verdicts = tuple([verdict for verdict, _ in results])
    return Evaluation(
        request,
        context,
        view,
        result.facts,
        parts,
        verdicts,
        strictest_decision(
            parts,
            verdicts,
            tuple([entry for _, trace in results for entry in trace]),
            (*context.rules.warnings, *in_force.warnings),
        ),
    )


def failed_evaluation(
    request: PermissionRequest, context: PermissionContext, error: Exception
) -> Evaluation:
    """Return the deny of a call whose evaluation raised: no exception may become an allow."""
    decision = Decision(
        behavior=Behavior.DENY,
        source=DecisionSource.SCOPE_CHECK,
        reason_type=ReasonType.SAFETY_CHECK,
        reason=Reason.UNPARSABLE,
        message=f"The permission check itself failed ({type(error).__name__}: {error}).",
    )
    base = absolute(context.launch_dir)
    view = CallView(context, context.mode, context.rules, base, request.tool_input, None)
    return Evaluation(request, context, view, (), (), (), decision)


def strictest_decision(
    parts: tuple[Part, ...],
    verdicts: tuple[PartVerdict, ...],
    trace: tuple[TraceEntry, ...],
    warnings: tuple[DecisionWarning, ...],
) -> Decision:
    """Return the decision on a call: the strictest verdict on a part, the first of equals."""
    # What needs no permission decides nothing as long as something else has a verdict.
    counted = [
        verdict
        for part, verdict in zip(parts, verdicts, strict=True)
        if not (part.is_free and verdict.behavior is Behavior.ALLOW and verdict.rule is None)
    ]
    decisive = max(counted or verdicts, key=_strictness)
    return Decision(
        behavior=decisive.behavior,
        source=decisive.source,
        reason_type=decisive.reason_type,
        reason=decisive.reason,
        message=decisive.message,
        rule=decisive.rule,
        warnings=warnings,
        trace=trace,
        parts=verdicts,
    )


def _strictness(verdict: PartVerdict) -> int:
    return STRICTNESS[verdict.behavior]
