"""The confinement under which a call runs after an answer to an ask. Pure."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from permissions.confinement import Confinement, joint_confinement
from permissions.decision import Behavior, Decision, DecisionSource
from permissions.evaluate.cascade import Evaluation
from permissions.evaluate.confine import is_whole, narrow

USERS: Final = frozenset({DecisionSource.USER, DecisionSource.BRIDGE, DecisionSource.CHANNEL})
"""Sources of answers that a user gave, having seen the call."""


def apply_answer(decision: Decision, evaluation: Evaluation) -> Decision:
    """Return an answer to an ask with its confinement; an allow of the checks stays unchanged.

    Args:
        evaluation: What the checks found about the call, as it would run now.
    """
    if decision.behavior is not Behavior.ALLOW or decision.confinement is not None:
        return decision
    view = evaluation.view
    if decision.source in USERS:
        by_user = Confinement.NONE if view.leaves else narrow(Confinement.NONE, view)
        return replace(decision, confinement=by_user, write_dirs=evaluation.decision.write_dirs)
    # Any other answer applies only to the parts that asked.
    others = [one.confinement for one in evaluation.verdicts if one.confinement is not None]
    confinement = narrow(joint_confinement((Confinement.PROJECT_FILES, *others)), view)
    trace = decision.trace
    if not is_whole(confinement, view):
        trace = tuple(
            replace(entry, is_enforceable=False)
            if str(entry.step) == str(decision.source)
            else entry
            for entry in trace
        )
    return replace(decision, confinement=confinement, trace=trace)
