"""The pure decision: scope, rules of six sources, mode."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from permissions.confinement import Confinement, can_hold, joint_confinement, widest
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
from permissions.evaluate.inside_sandbox import asks_to_leave, leave_floor, runs_inside
from permissions.evaluate.part_verdict import Part, PreparedPart, asked_together, part_verdict
from permissions.evaluate.tool_part import tool_part
from permissions.matching.effective_rules import effective, gated_mode
from permissions.mode import Mode
from permissions.paths.resolve import absolute
from permissions.request import PermissionRequest
from permissions.scope.scope import check_budget, strictest_floor
from permissions.tool_names import canonical_tool

if TYPE_CHECKING:
    from permissions.shell.command_facts import CommandFacts


def decide(
    request: PermissionRequest, context: PermissionContext, *, cwd: Path | None = None
) -> Decision:
    """Decide one validated call: steps 1 to 3 of the permission check. Pure; raises nothing.

    Args:
        cwd: The shell's current directory when it moved away from the launch directory. Relative
            paths start there; the scope does not change.
    """
    return evaluate_parts(request, context, cwd=cwd).decision


class Evaluation(Struct, frozen=True):
    """The findings of steps 1 to 3 about one call, for the steps that follow."""

    request: PermissionRequest
    context: PermissionContext
    view: CallView
    facts: tuple[CommandFacts, ...]
    """The facts of each simple command of a Bash call; () for other tools."""
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
        """Return whether a new evaluation of `request` would have the same result.

        It depends on the call, the context (replaced whenever rules, mode or directories change),
        the shell's directory, and the queried files, which are checked again here.
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
    tool = canonical_tool(request.tool)
    view, warnings = _view(request, tool, context, absolute(cwd or context.launch_dir))
    evaluation = _build_evaluation(request, tool, view, warnings)
    is_open = evaluation.decision.confinement in (None, Confinement.NONE)
    if is_open and view.is_confined and view.guards_files:
        # A user's exact rule allows it unconfined, and so are the other parts.
        view.is_confined = False
        return _build_evaluation(request, tool, view, warnings)
    return evaluation


def _build_evaluation(
    request: PermissionRequest, tool: str, view: CallView, warnings: tuple[DecisionWarning, ...]
) -> Evaluation:
    context = view.context
    facts, prepared_parts = _prepared_parts(request, tool, view)
    parts = tuple([one.part for one in prepared_parts])
    results = _joint_verdicts(parts, [part_verdict(one, view) for one in prepared_parts], view)
    verdicts = tuple([verdict for verdict, _ in results])
    return Evaluation(
        request,
        context,
        view,
        facts,
        parts,
        verdicts,
        strictest_decision(
            parts,
            verdicts,
            tuple([entry for _, trace in results for entry in trace]),
            (*context.rules.warnings, *warnings),
            # In this mode the user has approved every command.
            join=widest if view.mode is Mode.BYPASS else joint_confinement,
        ),
    )


def _prepared_parts(
    request: PermissionRequest, tool: str, view: CallView
) -> tuple[tuple[CommandFacts, ...], Sequence[PreparedPart]]:
    if not view.is_bash:
        return (), [tool_part(request, tool, view)]
    # Imported with the first command: the command parser is a large part of the package.
    from permissions.evaluate.command_parts import command_parts

    result = command_parts(view)
    return result.facts, result.parts


def _view(
    request: PermissionRequest, tool: str, context: PermissionContext, base: str
) -> tuple[CallView, tuple[DecisionWarning, ...]]:
    is_bash = tool == "Bash"
    mode, _ = gated_mode(context)
    is_inside = is_bash and runs_inside(context, mode, request.tool_input, base)
    works_inside = is_inside and context.sandbox.works_inside
    leaves = is_bash and asks_to_leave(context.sandbox, request.tool_input)
    in_force = effective(context, works_inside=works_inside)
    view = CallView(
        context,
        mode,
        in_force.rules,
        base,
        request.tool_input,
        strictest_floor((check_budget(context), leave_floor(mode) if leaves else None)),
        is_bash=is_bash,
        runs_inside=is_inside,
        works_inside=works_inside,
        leaves=leaves,
    )
    view.is_confined = view.may_be_confined
    return view, in_force.warnings


_Result = tuple[PartVerdict, list[TraceEntry]]


def _joint_verdicts(parts: Sequence[Part], results: list[_Result], view: CallView) -> list[_Result]:
    """Return the verdicts of parts that run together, under one confinement.

    If it permits more than reading, only plain commands count as read-only. If all parts provably
    only read, no rule permits the programs that a repository names more than that.
    """
    if _only_reads(parts, results, view):
        return [
            (replace(verdict, confinement=Confinement.READ_ONLY), trace)
            for verdict, trace in results
        ]
    confinements = [one.confinement for one, _ in results if one.confinement is not None]
    if widest(confinements) is Confinement.READ_ONLY:
        return results
    return [
        asked_together(part, verdict, trace, view.mode)
        if verdict.confinement is Confinement.READ_ONLY and not part.is_small
        else (verdict, trace)
        for part, (verdict, trace) in zip(parts, results, strict=True)
    ]


def _only_reads(parts: Sequence[Part], results: list[_Result], view: CallView) -> bool:
    """Whether all parts are allowed, provably only read and can be confined to that, and one of
    them runs what a repository names."""
    is_enforceable = can_hold(view.level, Confinement.READ_ONLY)
    return (
        is_enforceable
        # There, commands run as the user configured.
        and not (view.mode is Mode.BYPASS or view.runs_inside)
        and any(part.runs_configured for part in parts)
        and all(part.is_provably_harmless or part.is_free for part in parts)
        and all(verdict.behavior is Behavior.ALLOW for verdict, _ in results)
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
    *,
    join: Callable[[Iterable[Confinement]], Confinement],
) -> Decision:
    """Return the decision on a call: the strictest verdict on a part, the first of equals.

    Args:
        join: Returns the joint confinement of the parts.
    """
    # A part that needs no permission does not decide if another part has a verdict.
    judged_parts = list(zip(parts, verdicts, strict=True))
    counting_parts = [
        (part, verdict)
        for part, verdict in judged_parts
        if not (part.is_free and verdict.behavior is Behavior.ALLOW and verdict.rule is None)
    ]
    _, decisive = max(counting_parts or judged_parts, key=_strictness)
    is_allowed = decisive.behavior is Behavior.ALLOW
    confinements = [one.confinement for one in verdicts if one.confinement is not None]
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
        confinement=join(confinements) if is_allowed else None,
        write_dirs=tuple(dict.fromkeys(place for part in parts for place in part.write_dirs)),
    )


def _strictness(judged_part: tuple[Part, PartVerdict]) -> tuple[int, bool]:
    part, verdict = judged_part
    # Among asks, a write outside comes first: it is the gravest, and only a user may answer it.
    return STRICTNESS[verdict.behavior], bool(part.write_dirs) and verdict.reason is _OUTSIDE


_OUTSIDE = Reason.SCOPE_BOUNDS_VIOLATION
