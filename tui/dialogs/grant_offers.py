"""The grants that the permission dialog offers, each with alternative destinations."""

from __future__ import annotations

from typing import Final

from permissions.decision import Decision, GrantChoice, Reason
from permissions.evaluate.cascade import Evaluation
from permissions.grants.suggest import Grant, suggest
from permissions.rule import RuleSource
from permissions.scope.added_directories import may_be_added
from tui.dialogs.permission_ask import GrantOffer

_WIDER: Final = (RuleSource.PROJECT, RuleSource.USER)
"""Alternative destinations of a rule for the user's own file in the project (local)."""


def grant_offers(evaluation: Evaluation, decision: Decision) -> tuple[GrantOffer, ...]:
    """Return the grants to offer for an ask, each with alternative destinations."""
    if decision.write_dirs:
        context = evaluation.context
        fit = all(may_be_added(directory, context) for directory in decision.write_dirs)
        choice = GrantChoice((), str(RuleSource.SESSION), directories=decision.write_dirs)
        return (GrantOffer(choice),) if fit and _is_outside(decision) else ()
    offers: list[GrantOffer] = []
    for grant in suggest(evaluation, decision):
        wider: tuple[Grant, ...] = ()
        if grant.destination is RuleSource.LOCAL:
            wider = suggest(evaluation, decision, destinations=_WIDER)
        offer = _offer(grant, tuple(_offer(other) for other in wider))
        offers.append(offer)
    return tuple(offers)


def _is_outside(decision: Decision) -> bool:
    return decision.reason is Reason.SCOPE_BOUNDS_VIOLATION


def _offer(grant: Grant, elsewhere: tuple[GrantOffer, ...] = ()) -> GrantOffer:
    choice = GrantChoice(grant.rules, str(grant.destination))
    needless = tuple(dict.fromkeys(rule.text for rule in grant.needless))
    return GrantOffer(choice, grant.also_allows, needless, elsewhere)
