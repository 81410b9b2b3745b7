"""What an answer to an ask stands for: which confinement the call then runs under. Pure."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from permissions.confinement import Confinement, joint_confinement
from permissions.decision import Behavior, Decision, DecisionSource
from permissions.evaluate.cascade import Evaluation
from permissions.evaluate.confine import is_whole, narrow

USERS: Final = frozenset({DecisionSource.USER, DecisionSource.BRIDGE, DecisionSource.CHANNEL})
"""What answers from there has seen the call and answers for the user."""


def apply_answer(decision: Decision, evaluation: Evaluation) -> Decision:
    """Return an answer to an ask with what it stands for; an allow of the checks stays as it is.

    Args:
        evaluation: What the checks found about the call, as it would run now.
    """
    if decision.behavior is not Behavior.ALLOW or decision.confinement is not None:
        return decision
    view = evaluation.view
    if decision.source in USERS:
        by_user = Confinement.NONE if view.leaves else narrow(Confinement.NONE, view)
        return replace(decision, confinement=by_user, write_dirs=evaluation.decision.write_dirs)
    # Any other answer is one for the parts that asked.
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
