"""Floors for commands to which a rule may apply, although that is not certain."""

from __future__ import annotations

import re
from operator import itemgetter

from permissions.decision import Behavior, Reason
from permissions.evaluate.call_view import CallView
from permissions.matching.match_bash import possible_restriction
from permissions.matching.match_domain import host_of
from permissions.rules.rule_set import RuleBehavior
from permissions.scope.scope import Floor
from permissions.shell.access import AccessKind
from permissions.shell.command_facts import CommandFacts
from permissions.shell.command_pattern import WORD_END
from permissions.shell.syntax import SUPPLIED, Word


def possible_command_rule(bash: CallView, facts: CommandFacts) -> Floor | None:
    """Return an ask if an unknown part of the command could match a deny or ask rule."""
    unknown_reason = next(filter(None, map(_out_of_sight, facts.with_inner())), "")
    if unknown_reason:
        return Floor(
            Behavior.ASK, Reason.UNPARSABLE, f"runs {unknown_reason}; a rule could be meant"
        )
    possible = possible_restriction(bash.rules, facts)
    if possible is None:
        return None
    return Floor(
        Behavior.ASK,
        Reason.UNPARSABLE,
        f"depends on a value that is not known in advance; {possible.text} could be meant",
    )


def _out_of_sight(facts: CommandFacts) -> str:
    return facts.unknown_reason or (
        "" if facts.has_literal_program else "a program that is not known"
    )


def hosts(facts: CommandFacts) -> list[str]:
    """Return the hosts that the command names literally."""
    results: list[str] = []
    for one in facts.with_inner():
        for form in one.deny_forms:
            program, *words = form.joined_text.split(WORD_END)
            for word in words:
                address = word.partition("=")[2] if word.startswith("-") else word
                if "://" not in address and program.rpartition("/")[2] in ("curl", "wget"):
                    address = f"http://{address}"
                host = host_of(re.sub(r"^[A-Za-z+.]+://", "http://", address))
                if host is not None:
                    results.append(host)
    return results


def possible_path_rule(bash: CallView, facts: CommandFacts) -> Floor | None:
    """Return an ask if a pattern among the operands, or a name that the command takes from its
    input or from a list, could be a file of a deny or ask rule."""
    return _supplied_name(bash, facts) or shared_by_pattern(
        bash, [access.path for one in facts.with_inner() for access in one.accesses]
    )


def _supplied_name(bash: CallView, facts: CommandFacts) -> Floor | None:
    # If the input is known, the commands for it are among the inner ones, and are checked there.
    takes_names = not facts.inner and any(
        access.path is SUPPLIED and access.kind is AccessKind.READ for access in facts.accesses
    )
    if not takes_names:
        return None
    # The kernel hides files of deny rules from a confined command; it cannot ask about one.
    behaviors = (RuleBehavior.ASK,) if bash.is_confined else (RuleBehavior.DENY, RuleBehavior.ASK)
    rules = [rule for one in behaviors for rule in bash.rules.index(one).file_rules]
    if not rules:
        return None
    message = f"reads files that its input or a list names; {rules[0].text} could be about one"
    return Floor(Behavior.ASK, Reason.UNPARSABLE, message)


def shared_by_pattern(bash: CallView, words: list[Word]) -> Floor | None:
    words_by_pattern: dict[str, Word] = {}
    for word in words:
        for one in _readings(word):
            if one.has_glob:
                words_by_pattern.setdefault(one.plain.rstrip("/").rpartition("/")[2], word)
    if not words_by_pattern:
        return None
    for behavior in (RuleBehavior.DENY, RuleBehavior.ASK):
        index = bash.rules.index(behavior)
        places = {name: index.last_names.first_shared(name) for name in words_by_pattern}
        results = [(place, name) for name, place in places.items() if place is not None]
        if results:
            place, name = min(results, key=itemgetter(0))
            word, rule = words_by_pattern[name], index.file_rules[place]
            message = f"{word.raw} could name a file that {rule.text} is about"
            return Floor(Behavior.ASK, Reason.UNPARSABLE, message)
    return None


def _readings(word: Word) -> list[Word]:
    """Return the word, or each word that a loop variable may be."""
    return [Word(word.raw, choice) for choice in word.choices] or [word]
