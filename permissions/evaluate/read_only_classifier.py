"""The local classifier: allows Bash commands that provably only read inside scope.

Its allow needs `read_only` to be enforced; where it is not, only plain commands remain
(`permissions.evaluate.small_classifier`).

It answers asks for which nothing matched and returns allow or no opinion, never deny. Its table is
`permissions.shell.effects.read_only`, reviewed for writing, running programs and sending data
away.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from permissions.confinement import Confinement, can_hold, joint_confinement
from permissions.context import PermissionContext
from permissions.decision import (
    Behavior,
    Decision,
    DecisionSource,
    PartVerdict,
    Reason,
    ReasonType,
    TraceEntry,
    TraceStep,
)
from permissions.evaluate.cascade import Evaluation, evaluate_parts
from permissions.evaluate.part_verdict import Part
from permissions.request import PermissionRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from permissions.resolve.contender import Contender

_MESSAGE = "only reads, inside the working directories"


def classify(evaluation: Evaluation) -> Decision | None:
    """Return an allow when every part that would be asked about provably only reads, else None."""
    pending = evaluation.decision
    if not pending.is_mode_default_ask or not evaluation.context.is_trusted:
        # In an untrusted directory, reading commands may still run what its files configure.
        return None
    result = _all_reading(evaluation) or _reading_beside_others(evaluation)
    if result is None:
        return None
    verdicts, confinement = result
    trace = [
        TraceEntry(TraceStep.CLASSIFIER, "allow", "classifier", None, verdict.text)
        for verdict in verdicts
        if verdict.source is DecisionSource.CLASSIFIER
    ]
    first = next(one for one in verdicts if one.source is DecisionSource.CLASSIFIER)
    return replace(
        pending,
        behavior=Behavior.ALLOW,
        source=first.source,
        reason_type=first.reason_type,
        reason=first.reason,
        message=first.message,
        rule=None,
        trace=(*pending.trace, *trace),
        parts=tuple(verdicts),
        confinement=confinement,
    )


_Found = tuple[list[PartVerdict], Confinement]


def _all_reading(evaluation: Evaluation) -> _Found | None:
    """Return the verdicts if all parts only read and can be confined to that, else None."""
    judged_parts = list(zip(evaluation.parts, evaluation.verdicts, strict=True))
    is_enforced = can_hold(evaluation.view.level, Confinement.READ_ONLY)
    if not is_enforced or not all(
        part.is_provably_harmless or part.is_free for part, _ in judged_parts
    ):
        return None
    verdicts = [
        _to_allow(verdict)
        if verdict.behavior is Behavior.ASK
        else replace(verdict, confinement=Confinement.READ_ONLY)
        for _, verdict in judged_parts
    ]
    return verdicts, Confinement.READ_ONLY


def _reading_beside_others(evaluation: Evaluation) -> _Found | None:
    """Return the verdicts if the parts that ask are plain enough to count as read-only, else
    None."""
    verdicts: list[PartVerdict] = []
    for part, verdict in zip(evaluation.parts, evaluation.verdicts, strict=True):
        if verdict.behavior is Behavior.ASK:
            if not part.is_small or not _is_harmless(part, verdict):
                return None
            verdict = _to_allow(verdict)
        verdicts.append(verdict)
    is_enforced = can_hold(evaluation.view.level, Confinement.READ_ONLY)
    command = str(evaluation.request.tool_input["command"])
    from permissions.evaluate.small_classifier import is_plain_structure  # with the first command

    if not is_enforced and not is_plain_structure(command):
        return None
    return verdicts, _joint_confinement(verdicts)


def _joint_confinement(verdicts: Iterable[PartVerdict]) -> Confinement:
    return joint_confinement(one.confinement for one in verdicts if one.confinement is not None)


def with_harmless_parts(pending: Decision, evaluation: Evaluation) -> Decision:
    """Return an ask in which the parts that provably only read are allowed."""
    texts = [verdict.text for verdict in evaluation.verdicts]
    if texts != [part.text for part in pending.parts] or not evaluation.context.is_trusted:
        return pending
    is_alone = _joint_confinement(evaluation.verdicts) is Confinement.READ_ONLY and can_hold(
        evaluation.view.level, Confinement.READ_ONLY
    )
    return replace(
        pending,
        parts=tuple(
            _to_allow(pending_verdict)
            if _is_harmless(part, pending_verdict) and (is_alone or part.is_small)
            else pending_verdict
            for part, pending_verdict in zip(evaluation.parts, pending.parts, strict=True)
        ),
    )


def decide_with_classifier(
    request: PermissionRequest, context: PermissionContext, *, cwd: Path | None = None
) -> Decision:
    """Return the decision of steps 1 to 3, with the local classifier asked on a remaining ask."""
    evaluation = evaluate_parts(request, context, cwd=cwd)
    decision = classify(evaluation)
    if decision is not None:
        return decision
    pending = evaluation.decision
    if not pending.is_mode_default_ask:
        return pending
    unsure = TraceEntry(TraceStep.CLASSIFIER, "none", "classifier", None, None)
    return replace(pending, trace=(*pending.trace, unsure))


class LocalClassifier:
    """The local classifier as a contender for a remaining ask."""

    name = "classifier"

    def __init__(self, evaluation: Callable[[PermissionRequest], Evaluation]) -> None:
        """`evaluation` returns the current evaluation of a call."""
        self._evaluation = evaluation

    async def decide(self, request: PermissionRequest, pending: Decision) -> Decision | None:
        """Return an allow, or None when it cannot be proven harmless."""
        if not pending.is_mode_default_ask:
            return None
        return classify(self._evaluation(request))


def _is_harmless(part: Part, verdict: PartVerdict) -> bool:
    return (
        part.is_provably_harmless
        and verdict.behavior is Behavior.ASK
        and verdict.reason is Reason.MODE_DEFAULT
    )


def _to_allow(verdict: PartVerdict) -> PartVerdict:
    return replace(
        verdict,
        behavior=Behavior.ALLOW,
        source=DecisionSource.CLASSIFIER,
        reason_type=ReasonType.CLASSIFIER,
        reason=Reason.CLASSIFIER,
        message=_MESSAGE,
        confinement=Confinement.READ_ONLY,
    )


if TYPE_CHECKING:

    def _check_protocol(classifier: LocalClassifier) -> Contender:
        return classifier
