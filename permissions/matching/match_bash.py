"""Finds the Bash rules that match a simple command.

Allow rules look through a fixed list of wrappers and assignments, and must match every word; deny
and ask rules look through all of them, and through paths and global options, and also match if an
unknown value could make the command match.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from permissions.base.text.star_pattern import UNKNOWN
from permissions.matching.match_tool import matches_parameter
from permissions.rules.grammar import ParameterPattern, RuleBehavior, WholeTool
from permissions.rules.rule_set import PlacedRule, Rule, RuleIndex, RuleSet
from permissions.shell.command_facts import CommandFacts
from permissions.shell.command_pattern import BashPattern
from permissions.shell.rule_spellings import Form


def first_restriction(
    rules: RuleSet, behavior: RuleBehavior, facts: CommandFacts, tool_input: Mapping[str, object]
) -> Rule | None:
    """Return the first deny or ask rule that matches the command or one inside it."""
    index = rules.index(behavior)
    by_head, still_open = index.bash_by_head, index.bash_open
    if not (still_open or facts.inner or _is_about(by_head, facts.deny_forms)):
        return None
    best: PlacedRule | None = None
    for one in facts.with_inner():
        for placed_rule in _candidates(index, one.deny_forms):
            if (best is None or placed_rule[0] < best[0]) and _restricts(
                placed_rule[1], one, tool_input
            ):
                best = placed_rule
    return None if best is None else best[1]


def possible_restriction(rules: RuleSet, facts: CommandFacts) -> Rule | None:
    """Return a deny or ask rule that some value of an unknown word would make match."""
    unknown = [
        form
        for one in facts.with_inner()
        for form in one.deny_forms
        if not form.joined_text.isascii()
    ]
    if not unknown:
        return None
    for behavior in (RuleBehavior.DENY, RuleBehavior.ASK):
        index = rules.index(behavior)
        for form in unknown:
            for _, rule in index.for_program(form.head.rpartition("/")[2]):
                pattern = rule.specifier
                if isinstance(pattern, BashPattern) and pattern.may_match(form.joined_text):
                    return rule
    return None


def has_scoped_restriction(rules: RuleSet) -> bool:
    """Return whether there is a deny or ask rule about some Bash commands."""
    return (
        rules.index(RuleBehavior.DENY).has_command_rules
        or rules.index(RuleBehavior.ASK).has_command_rules
    )


def first_allow(rules: RuleSet, facts: CommandFacts) -> Rule | None:
    """Return the first allow rule that covers the command."""
    index = rules.index(RuleBehavior.ALLOW)
    if not (index.bash_open or _is_about(index.bash_by_head, facts.allow_forms)):
        return None
    is_clear = facts.has_literal_program and not facts.unknown_reason
    blanket_covers = not facts.unclear and (is_clear or not has_scoped_restriction(rules))
    best: PlacedRule | None = None
    for placed_rule in _candidates(index, facts.allow_forms):
        is_blanket = isinstance(placed_rule[1].specifier, WholeTool)
        covers = blanket_covers if is_blanket else is_clear
        is_first = best is None or placed_rule[0] < best[0]
        if covers and is_first and (is_blanket or _covers(placed_rule[1], facts)):
            best = placed_rule
    return None if best is None else best[1]


def allow_of_whole(rules: RuleSet, command: str, facts: CommandFacts) -> Rule | None:
    """Return the allow rule that is exactly the text of the whole command, operators included.

    None if `facts`, one simple command of it, may run what that text does not determine.
    """
    if facts.takes_code or facts.unknown_reason or not facts.has_literal_program:
        return None
    if any(UNKNOWN in form.joined_text for form in facts.allow_forms):
        return None
    for _, rule in rules.index(RuleBehavior.ALLOW).bash_open:
        pattern = rule.specifier
        if isinstance(pattern, BashPattern) and pattern.wholes and names_exactly(rule, command):
            return rule if pattern.is_exact else None
    return None


def _candidates(index: RuleIndex, forms: tuple[Form, ...]) -> Sequence[PlacedRule]:
    """Return the rules that may match one of the forms."""
    candidates = index.bash_open
    for head in _heads(forms):
        if head in index.bash_by_head:
            candidates = (*candidates, *index.bash_by_head[head])
    return candidates


def _is_about(by_head: Mapping[str, object], forms: tuple[Form, ...]) -> bool:
    """Return whether a rule names one of the programs; for most commands none does."""
    for form in forms:  # noqa: SIM110 - half the time of `any`
        if form.head in by_head:
            return True
    return False


def _heads(forms: tuple[Form, ...]) -> Iterable[str]:
    if len(forms) == 1:
        return (forms[0].head,)
    return {form.head for form in forms}


def _restricts(rule: Rule, facts: CommandFacts, tool_input: Mapping[str, object]) -> bool:
    pattern = rule.specifier
    if isinstance(pattern, WholeTool):
        return True
    if isinstance(pattern, ParameterPattern):
        return matches_parameter(pattern, tool_input)
    if not isinstance(pattern, BashPattern):
        return False
    return any(_fits(pattern, form) for form in facts.deny_forms)


def _fits(pattern: BashPattern, form: Form) -> bool:
    if not form.joined_text:
        return pattern.matches_whole(form.spaced_text)
    return pattern.needle in form.spaced_text and (
        pattern.matches(form.joined_text) or pattern.matches_spaced(form.spaced_text)
    )


def names_exactly(rule: Rule, command: str) -> bool:
    """Return whether a rule is exactly this text; after a wrapper the text differs."""
    pattern = rule.specifier
    return isinstance(pattern, BashPattern) and _is_written_out(pattern, command)


def is_without_wildcard(rule: Rule, command: str) -> bool:
    """Whether a rule that covers the command has no wildcard for it."""
    pattern = rule.specifier
    return isinstance(pattern, BashPattern) and (
        pattern.is_exact or _is_written_out(pattern, command)
    )


def _is_written_out(pattern: BashPattern, command: str) -> bool:
    # A final ` *` is a wildcard of the rule, even if the command has the same text.
    return pattern.bare is None and pattern.text.strip() == command.strip()


def _covers(rule: Rule, facts: CommandFacts) -> bool:
    pattern = rule.specifier
    if not isinstance(pattern, BashPattern):
        return False
    if pattern.is_exact and facts.takes_code:
        # Its words are the same for any code on its input.
        return False
    forms = facts.allow_forms
    if _is_written_out(pattern, facts.text) and all(
        UNKNOWN not in one.joined_text for one in forms
    ):
        # Written out to the letter, stars included: an exact rule.
        return bool(forms)
    if pattern.is_exact:
        return any(pattern.matches(form.joined_text) for form in forms)
    return not (facts.risk or facts.unclear) and any(_names(pattern, form) for form in forms)


def _names(pattern: BashPattern, form: Form) -> bool:
    # `timeout *` alone would allow everything: the pattern must name the program inside.
    return pattern.matches(form.joined_text) and pattern.full.chunks[0].startswith(form.must_name)
