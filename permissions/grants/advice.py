"""How often and why the user was asked, and rules that would safely avoid these questions.

Every proposal is replayed on the log: it states how many questions it would have avoided, and none
would have allowed a call that the user denied. Reads only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct, field

from permissions.context import PermissionContext
from permissions.decision import Behavior
from permissions.evaluate.cascade import evaluate_parts
from permissions.explain.audit_reader import LoggedCall
from permissions.explain.decision_history import RuleKey, RuleUse, described_call
from permissions.explain.replay import decide_again
from permissions.grants.suggest import suggest
from permissions.rule import Rule, RuleBehavior, RuleSource, RuleText

MIN_ASKED: Final = 2
"""Questions that a rule must avoid to be proposed."""
MAX_PROPOSALS: Final = 5
_USER_SOURCES: Final = frozenset({"user", "bridge", "channel"})
_CAUSES: Final = {"scope": "the scope asked", "mode": "no rule matched"}


class Proposal(Struct, frozen=True):
    """Rules that would have avoided questions."""

    rules: tuple[str, ...]
    spares: int
    """Logged questions that they would have answered with an allow."""
    example: str
    """A call that they would allow."""
    also_allows: str = ""
    """What else they allow, in words; empty for exact rules."""


class Advice(Struct, frozen=True):
    """What the log shows about questions."""

    decisions: int
    question_count: int
    hours: float
    """Between the first and the last decision of each session, summed."""
    causes: tuple[tuple[str, int], ...]
    """Why the user was asked, the most frequent first."""
    proposals: tuple[Proposal, ...]
    """The one that avoids most questions first."""
    unused_rules: tuple[Rule, ...] = ()
    """Allow rules in settings files that never decided anything."""

    @property
    def per_hour(self) -> float:
        """Questions per hour; their number if the log spans less than one hour."""
        return self.question_count / max(1.0, self.hours)


def advise(
    calls: Iterable[LoggedCall],
    context: PermissionContext,
    usage: Mapping[RuleKey, RuleUse] | None = None,
) -> Advice:
    """Analyze logged calls. Pure; raises nothing."""
    result = _LogSummary()
    for call in calls:
        result.take(call)
    return Advice(
        result.decisions,
        len(result.asked_calls),
        sum(last - first for first, last in result.spans.values()) / 3_600,
        tuple(Counter(map(_cause, result.asked_calls)).most_common()),
        _proposals(result.asked_calls, context),
        tuple(rule for rule in context.rules.rules if _is_unused(rule, usage or {})),
    )


class _LogSummary(Struct):
    decisions: int = 0
    asked_calls: list[LoggedCall] = field(default_factory=list)
    """Calls that a user was asked about and answered."""
    spans: dict[str, tuple[float, float]] = field(default_factory=dict)

    def take(self, call: LoggedCall) -> None:
        self.decisions += 1
        if call.check_result == "ask" and call.source in _USER_SOURCES:
            self.asked_calls.append(call)
        try:
            time = datetime.fromisoformat(call.timestamp).timestamp()
        except (ValueError, OverflowError):
            return
        first, last = self.spans.get(call.session_id, (time, time))
        self.spans[call.session_id] = (min(first, time), max(last, time))


def _cause(call: LoggedCall) -> str:
    for step, answer, rule in call.steps:
        if answer == "ask" and step == "ask":
            return f"ask rule {rule}"
        if answer == "ask" and step in _CAUSES:
            return _CAUSES[step]
    return "a hook asked"


def _proposals(
    asked_calls: Sequence[LoggedCall], context: PermissionContext
) -> tuple[Proposal, ...]:
    """Return proposals, each replayed on the whole log."""
    judged_calls = [(call, decide_again(call, context)) for call in asked_calls]
    # A call that is allowed by now needs no proposal.
    still_asked = [pair for pair in judged_calls if pair[1].behavior is not Behavior.ALLOW]
    counts: Counter[tuple[str, ...]] = Counter()
    descriptions: dict[tuple[str, ...], tuple[str, str]] = {}
    for call, decision in still_asked:
        if call.behavior != "allow" or decision.behavior is not Behavior.ASK:
            continue
        evaluation = evaluate_parts(call.request, context, cwd=call.cwd)
        grants = suggest(evaluation, decision, destinations=[RuleSource.LOCAL])
        for grant in grants:
            counts[grant.rules] += 1
            name = described_call(call.request.tool, call.request.tool_input)
            descriptions.setdefault(grant.rules, (name, grant.also_allows))
    open_calls = [call for call, _ in still_asked]
    proposals = [
        Proposal(rules, spares, *descriptions[rules])
        for rules, count in counts.most_common(2 * MAX_PROPOSALS)
        if count >= MIN_ASKED and (spares := _spares(rules, open_calls, context)) >= MIN_ASKED
    ]
    return tuple(sorted(proposals, key=lambda one: -one.spares)[:MAX_PROPOSALS])


def _spares(rules: Sequence[str], calls: Sequence[LoggedCall], context: PermissionContext) -> int:
    """Return how many of the calls the rules would allow; 0 if the user denied one of these."""
    texts = [RuleText(rule, RuleBehavior.ALLOW, RuleSource.LOCAL) for rule in rules]
    new_context = context.with_rules(context.rules.with_rules(texts))
    through = [call for call in calls if decide_again(call, new_context).behavior is Behavior.ALLOW]
    return len(through) if all(call.behavior == "allow" for call in through) else 0


def _is_unused(rule: Rule, usage: Mapping[RuleKey, RuleUse]) -> bool:
    key = (str(rule.behavior), str(rule.source), rule.text)
    is_own = rule.behavior is RuleBehavior.ALLOW and rule.file is not None
    return is_own and rule.source is not RuleSource.POLICY and key not in usage
