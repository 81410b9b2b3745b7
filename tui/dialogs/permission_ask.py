"""The content of the permission dialog: its answers, and the decision of each. Pure.

Next: `permission` (the dialog), `grant_offers` (what can be stored).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from agent.display import Display
from permissions.base.text.sanitize import reveal
from permissions.decision import (
    Behavior,
    Decision,
    DecisionSource,
    DecisionWarning,
    GrantChoice,
    Reason,
    ReasonType,
    TraceStep,
)
from permissions.explain.explain_decision import Shorten
from permissions.grants.suggest import READING_BELOW
from permissions.request import PermissionRequest
from tui.dialogs.choices import Choice, Chosen


class GrantOffer(Struct, frozen=True):
    """An answer that also stores rules."""

    choice: GrantChoice
    also_allows: str = ""
    """What else the rules allow, in words; empty if that is obvious."""
    needless: tuple[str, ...] = ()
    """Existing rules that would become redundant."""
    elsewhere: tuple[GrantOffer, ...] = ()
    """The same grant with other destinations, the narrowest first."""


class PermissionAsk(Struct, frozen=True):
    """Everything the dialog shows."""

    request: PermissionRequest
    pending: Decision
    display: Display | None = None
    offers: tuple[GrantOffer, ...] = ()
    session_edits: bool = False
    """Whether Shift+Tab may pick the offer that covers all edits of the session."""
    short: Shorten = str
    """Shortens a path for users."""


JudgeCall = Callable[[PermissionRequest], Decision | None]
"""Returns the decision of rules, scope and mode about an edited call; None if unknown."""
JudgeAgain = Callable[[PermissionRequest], PermissionAsk | None]
"""The same, with the content of the dialog that would ask about the call."""


def answers_of(ask: PermissionAsk) -> list[Choice]:
    """Return the answers in order; the last two deny the call."""
    noes = [
        Choice("No, and stop"),
        Choice("No, and tell it why", comment_hint="what to do instead…", needs_comment=True),
    ]
    if is_barred(ask):
        return noes
    label = "Yes, once" if ask.pending.write_dirs else "Yes"
    yes = Choice(label, comment_hint="and tell the model…")
    offers: list[Choice] = []
    shown_rules: set[tuple[str, ...]] = set()
    for offer in ask.offers:
        # Rules are shown once: another answer with the same rules differs in its destination.
        offers.append(_storing(offer, is_named=offer.choice.rules in shown_rules))
        shown_rules.add(offer.choice.rules)
    if ask.session_edits and offers:
        detail = " · ".join(filter(None, (offers[0].detail, "shift+tab")))
        offers[0] = replace(offers[0], detail=detail)
    return [yes, *offers, *noes]


def _storing(offer: GrantOffer, *, is_named: bool) -> Choice:
    if offer.choice.directories:
        directories = ", ".join(map(reveal, offer.choice.directories))
        is_one = len(offer.choice.directories) == 1
        return Choice(_ADD_ONE if is_one else _ADD_MANY, "", directories)
    directory = offer.also_allows.removeprefix(READING_BELOW)
    if offer.choice.destination == "session" and directory != offer.also_allows:
        label = f"Yes, and allow reading {reveal(directory)}/… for this session"
        return Choice(label, "", reveal(offer.choice.rules[0]))
    label, file = _DESTINATIONS.get(offer.choice.destination, (_ALWAYS, offer.choice.destination))
    details = [file]
    if not is_named:
        details.append(reveal(_without_command(offer)))
    if offer.needless:
        details.append(f"replaces {', '.join(map(reveal, offer.needless))}")
    if offer.elsewhere:
        details.append(OTHER_PLACE)
    rules = "" if is_named else ", ".join(reveal(rule) for rule in offer.choice.rules)
    return Choice(label, " · ".join(filter(None, details)), rules)


def _without_command(offer: GrantOffer) -> str:
    """Return what else the rules allow, without repeating the commands that the rules name."""
    rules, texts = offer.choice.rules, offer.also_allows.split("; ")
    if len(rules) == 1:
        command = rules[0].removeprefix("Bash(").removesuffix(" *)")
        return offer.also_allows.removeprefix(f"{command} with ")
    any_arguments = " with any arguments"
    phrases = [text.replace(f"{any_arguments}, ", ": ") for text in texts]
    return "; ".join(text for text in phrases if not text.endswith(any_arguments))


def decision_of(ask: PermissionAsk, chosen: Chosen) -> Decision:
    """Return the decision for an answer."""
    is_no = is_barred(ask) or chosen.index > len(ask.offers)
    offer = ask.offers[chosen.index - 1] if 0 < chosen.index <= len(ask.offers) else None
    comment = chosen.comment or None
    if is_no:
        message = "The user said no"
    else:
        message = "Allowed by the user"
    return Decision(
        behavior=Behavior.DENY if is_no else Behavior.ALLOW,
        source=DecisionSource.USER,
        reason_type=ReasonType.USER,
        reason=Reason.USER,
        message=message,
        feedback=comment,
        interrupt=is_no and comment is None,
        grant=offer.choice if offer is not None else None,
    )


def with_new_warnings(pending: Decision, shown_warnings: set[DecisionWarning]) -> Decision:
    """Return the decision with the warnings for its dialog; adds them to `shown_warnings`.

    Warnings about the deciding rule are always shown. Other faulty rules were reported when they
    were read, and `/permissions` lists them; warnings about the mode are shown once.
    """
    decisive = None if pending.rule is None else pending.rule.text
    fresh = [
        warning
        for warning in pending.warnings
        if (warning not in shown_warnings if warning.rule is None else warning.rule == decisive)
    ]
    shown_warnings.update(fresh)
    return replace(pending, warnings=tuple(fresh))


def is_barred(ask: PermissionAsk) -> bool:
    """Return whether the edited call would be denied, whatever the user answers."""
    return ask.pending.behavior is Behavior.DENY


def without_judgement(proposal: PermissionAsk) -> PermissionAsk:
    """Return the ask without the facts about the model's call."""
    pending = replace(proposal.pending, parts=(), effects=(), message=_CHANGED, write_dirs=())
    return replace(proposal, offers=(), session_edits=False, pending=pending)


def still_asked(new_verdict: PermissionAsk, proposal: PermissionAsk) -> PermissionAsk:
    """Return the verdict on an edited call; if a hook requested the question, it is still asked."""
    old = proposal.pending
    hook_entries = [
        entry for entry in old.trace if entry.step is TraceStep.HOOK and entry.answer in _ASKS
    ]
    if not hook_entries or new_verdict.pending.behavior is not Behavior.ALLOW:
        return new_verdict
    pending = replace(
        new_verdict.pending,
        behavior=Behavior.ASK,
        source=old.source,
        reason_type=old.reason_type,
        reason=old.reason,
        message=old.message,
        trace=(*new_verdict.pending.trace, *hook_entries),
    )
    return replace(new_verdict, pending=pending)


_ASKS: Final = frozenset({"ask", "defer"})
_CHANGED: Final = "You changed it: the rules are checked again first."
OTHER_PLACE: Final = "←→ change"
"""Hint at the keys that choose another destination for a rule."""
_ALWAYS: Final = "Yes, always"
_ADD_ONE: Final = "Yes, and add this directory for the session"
_ADD_MANY: Final = "Yes, and add these directories for the session"
_DESTINATIONS: Final = {
    "session": ("Yes, for this session", ""),
    "localSettings": ("Yes, always in this project", ".agent/settings.local.json"),
    "projectSettings": ("Yes, always, for everyone in this project", ".agent/settings.json"),
    "userSettings": ("Yes, always, in every project", "~/.agent/settings.json"),
}
"""By destination: the label of the answer, and the file."""
