"""What the permission dialog offers to remember: the same rules, kept here or there."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from permissions.context import PermissionContext
from permissions.decision import Decision, GrantChoice
from permissions.grants.suggest import Grant, suggest
from permissions.request import PermissionRequest
from permissions.rule import RuleSource
from tui.dialogs.permission_ask import GrantOffer

_WIDER: Final = (RuleSource.PROJECT, RuleSource.USER)
"""Places that are a key away from the user's own file of the project."""


def grant_offers(
    request: PermissionRequest, decision: Decision, context: PermissionContext, cwd: Path | None
) -> tuple[GrantOffer, ...]:
    """Return what may be remembered for an ask, each with where else it could be kept."""
    offers: list[GrantOffer] = []
    for grant in suggest(request, decision, context, cwd=cwd):
        wider: tuple[Grant, ...] = ()
        if grant.destination is RuleSource.LOCAL:
            wider = suggest(request, decision, context, cwd=cwd, destinations=_WIDER)
        offer = _offer(grant, tuple(_offer(other) for other in wider))
        offers.append(offer)
    return tuple(offers)


def _offer(grant: Grant, elsewhere: tuple[GrantOffer, ...] = ()) -> GrantOffer:
    choice = GrantChoice(grant.rules, str(grant.destination))
    needless = tuple(dict.fromkeys(rule.text for rule in grant.needless))
    return GrantOffer(grant.label, choice, grant.also_allows, needless, elsewhere)
