"""Answers about single commands, kept for the next compound that holds the same one.

The answer about a command follows from what the command is, from the rules and the mode in force,
and from what was asked of the disk on the way. The first finds the answer here, the second has
a store of its own, and the third is asked again every time (`watch`).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Final

from msgspec import Struct

from permissions.base.recent import Recent
from permissions.decision import PartVerdict, TraceEntry
from permissions.evaluate.bash_call import Bash
from permissions.evaluate.part_verdict import Part
from permissions.evaluate.watch import Asked
from permissions.matching.match_bash import heeds_whole_commands
from permissions.mode import Mode
from permissions.paths.resolve import absolute
from permissions.rules.grammar import ParameterPattern
from permissions.rules.rule_set import RuleBehavior, RuleSet
from permissions.scope.resolve_access import Touch
from permissions.shell.command_facts import CommandFacts

MAX_ANSWERS: Final = 512
"""Commands in one store."""
MAX_STORES: Final = 4
"""Sets of rules and modes that answers are kept under; the one that was first goes first."""
_MAX_CHARACTERS: Final = 500
"""Longer commands are judged anew each time, so that what is kept stays small."""


class Answer(Struct, frozen=True):
    """One part with what was found about it."""

    part: Part
    verdict: PartVerdict
    trace: Sequence[TraceEntry]


class Kept(Struct, frozen=True):
    """The answers about one command and its redirections."""

    held: CommandFacts
    """Kept alive, so that no other object gets its identity."""
    asked: Asked
    answers: tuple[Answer, ...]
    touches: tuple[tuple[CommandFacts | None, Touch], ...]
    """What it reads and writes; None stands for the command itself, else it is one inside."""
    makes_nothing: bool
    """Makes no links, unless a command before it does."""

    def touches_of(self, facts: CommandFacts) -> list[tuple[CommandFacts, Touch]]:
        """Return what `facts`, the same command maybe in another place, reads and writes."""
        return [(one or facts, touch) for one, touch in self.touches]


class _Met:
    """Stands for a command that was answered once: most are never met again."""


_MET = _Met()


class Store:
    """What is kept under one set of rules and one mode."""

    def __init__(self, rules: RuleSet) -> None:
        """Nothing is kept yet."""
        self.rules = rules
        self.heeds_parameters = _heeds_parameters(rules)
        self._heeds_whole = heeds_whole_commands(rules)
        self._kept: Recent[Kept | _Met] = Recent(MAX_ANSWERS)

    def find(self, bash: Bash, facts: CommandFacts) -> tuple[Kept | None, bool]:
        """Return what is kept about the command, if the disk still answers as it did.

        And whether it was met before: only then the next answer is worth keeping.
        """
        key = self._key(facts)
        kept = self._kept.get(key)
        if isinstance(kept, Kept):
            return (kept if bash.still_sees(kept.asked) else None), True
        if kept is None:
            self._kept.keep(key, _MET)
        return None, kept is not None

    def keep(self, facts: CommandFacts, kept: Kept) -> None:
        """Keep the answers about a command."""
        # What patterns are depends on the names there are, so it is worked out each time.
        if len(facts.text) <= _MAX_CHARACTERS and facts.when_plain is None:
            self._kept.keep(self._key(facts), kept)

    def _key(self, facts: CommandFacts) -> Hashable:
        own = facts.own
        if own is None:
            return id(facts)
        whole = len(facts.deny_forms) > len(own.deny_forms)
        text = facts.deny_forms[-1].spaced if whole and self._heeds_whole else whole
        return id(own), facts.folders, facts.redirects, text


_Situation = tuple[int, Mode, str, str, frozenset[str]]
_stores: dict[_Situation, Store] = {}


def store_for(bash: Bash) -> Store | None:
    """Return what is kept for calls like this one; None where each has to be judged anew."""
    context, rules = bash.context, bash.rules
    if bash.budget is not None:
        return None
    launch = absolute(context.launch_dir)
    key = id(rules), bash.mode, str(context.home), launch, context.blocked_hosts
    store = _stores.get(key)
    # The rules are kept alive beside what is found with them, so an id stays theirs.
    if store is None:
        # In one step, as another thread may add one meanwhile.
        for oldest in list(_stores)[: 1 - MAX_STORES]:
            _stores.pop(oldest, None)
        store = _stores[key] = Store(rules)
    return None if store.heeds_parameters else store


def held_by(facts: CommandFacts) -> CommandFacts:
    """Return the object by which a command is found again."""
    return facts if facts.own is None else facts.own


def _heeds_parameters(rules: RuleSet) -> bool:
    """Is there a deny or ask rule about more of a call than its command?"""
    return any(
        isinstance(rule.specifier, ParameterPattern)
        for behavior in (RuleBehavior.DENY, RuleBehavior.ASK)
        for _, rule in rules.index(behavior).bash_open
    )
