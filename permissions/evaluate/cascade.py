"""The pure decision: scope, rules of six sources, mode (safety-and-permissions: the cascade)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from permissions.context import PermissionContext
from permissions.decision import Behavior, Decision, DecisionWarning, PartVerdict, TraceEntry
from permissions.evaluate.bash_call import Bash
from permissions.evaluate.bash_verdicts import Answer, bash_answers
from permissions.evaluate.part_verdict import Part, judge, strictest_first
from permissions.evaluate.tool_part import tool_part
from permissions.matching.effective_rules import effective
from permissions.mode import Mode
from permissions.paths.resolve import absolute
from permissions.request import PermissionRequest
from permissions.rules.rule_set import RuleSet
from permissions.scope.scope import check_budget
from permissions.tool_names import canonical_tool


def decide(
    request: PermissionRequest, context: PermissionContext, *, cwd: Path | None = None
) -> Decision:
    """Judge one validated call: steps 1 to 3 of the permission check. Pure; raises nothing.

    Args:
        cwd: The shell's current folder when it moved away from the launch folder. It is where
            relative paths start; the scope never moves.
    """
    return decided(judged(request, context, cwd=cwd))


class Judged(Struct, frozen=True):
    """The parts of a call with their verdicts, before the strictest is taken."""

    mode: Mode
    parts: tuple[Part, ...]
    verdicts: tuple[PartVerdict, ...]
    trace: tuple[TraceEntry, ...]
    warnings: tuple[DecisionWarning, ...]


def judged(
    request: PermissionRequest, context: PermissionContext, *, cwd: Path | None = None
) -> Judged:
    """Judge every part of a call. Pure; raises nothing."""
    in_force = effective(context)
    base = absolute(cwd or context.launch_dir)
    answers = _answers(request, context, in_force.mode, in_force.rules, base)
    return Judged(
        in_force.mode,
        tuple([one.part for one in answers]),
        tuple([one.verdict for one in answers]),
        tuple([entry for one in answers for entry in one.trace]),
        (*context.rules.warnings, *in_force.warnings),
    )


def decided(found: Judged) -> Decision:
    """Return the decision: the strictest part, first in order."""
    # What needs no permission decides nothing as long as something else was judged.
    pairs = zip(found.parts, found.verdicts, strict=True)
    judged_by = [
        verdict
        for part, verdict in pairs
        if not (part.is_free and verdict.behavior is Behavior.ALLOW and verdict.rule is None)
    ]
    decisive = strictest_first(judged_by or list(found.verdicts))
    return Decision(
        behavior=decisive.behavior,
        source=decisive.source,
        reason_type=decisive.reason_type,
        reason=decisive.reason,
        message=decisive.message,
        rule=decisive.rule,
        warnings=found.warnings,
        trace=found.trace,
        parts=found.verdicts,
    )


def _answers(
    request: PermissionRequest,
    context: PermissionContext,
    mode: Mode,
    rules: RuleSet,
    base: str,
) -> Sequence[Answer]:
    tool = canonical_tool(request.tool)
    if tool != "Bash":
        part, find = tool_part(request, tool, context, mode, rules, base)
        return [Answer(part, *judge(part, find, mode))]
    bash = Bash(context, mode, rules, base, request.tool_input, check_budget(context))
    return bash_answers(bash)
