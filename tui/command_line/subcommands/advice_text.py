"""Formats advice about rules as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator

from permissions.decision import place_of
from permissions.explain.explain_decision import (
    Shorten,
)
from permissions.grants.advice import Advice


def advice_lines(advice: Advice, short: Shorten) -> Iterator[str]:
    """Yield the advice as lines for users."""
    yield from _counts(advice)
    if advice.proposals:
        yield "Rules that would have saved you questions; nothing that you refused would have run:"
    for proposal in advice.proposals:
        more = f"; also allows {proposal.also_allows}" if proposal.also_allows else ""
        yield f"  {proposal.spares:>4}  {', '.join(proposal.rules)}"
        yield f"        for example {proposal.example}{more}"
    if advice.proposals:
        yield "`/permissions`, then a, adds one."
    if advice.unused_rules:
        yield "Allow rules that never decided anything:"
    yield from (
        f"        {rule.text} ({place_of(rule.ref, short)})" for rule in advice.unused_rules
    )


def advice_json(advice: Advice) -> dict[str, object]:
    """Return the advice as a JSON object."""
    return {
        "decisions": advice.decisions,
        "asked": advice.question_count,
        "hours": round(advice.hours, 3),
        "per_hour": round(advice.per_hour, 2),
        "causes": [{"cause": cause, "count": count} for cause, count in advice.causes],
        "proposals": [
            {
                "rules": list(one.rules),
                "spares": one.spares,
                "example": one.example,
                "also_allows": one.also_allows,
            }
            for one in advice.proposals
        ],
        "unused": [rule.ref.as_json() for rule in advice.unused_rules],
    }


def _counts(advice: Advice) -> Iterator[str]:
    if not advice.question_count:
        yield f"{advice.decisions} decisions, and you were asked about none of them"
        return
    times = "question" if advice.question_count == 1 else "questions"
    # A rate per hour is meaningless for a few minutes.
    span = (
        f"in {advice.hours:.1f} hours ({advice.per_hour:.1f} an hour)"
        if advice.hours >= 1
        else "in less than an hour"
    )
    yield f"{advice.decisions} decisions, {advice.question_count} {times} {span}"
    yield from (f"  {count:>4}  {cause}" for cause, count in advice.causes)
