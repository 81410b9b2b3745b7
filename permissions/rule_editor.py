"""A user's changes to the current rules: add, remove, edit, move, undo.

Files are changed first; the gate then applies what they contain.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Final, Protocol, runtime_checkable

from msgspec import Struct
from msgspec.structs import replace

from permissions.decision import Behavior, GrantChoice, source_name
from permissions.gate import PermissionGate
from permissions.grants.settings_writer import StoreReceipt, remove_rules, replace_rule, undo
from permissions.lint.lint import LintWarning, lint_new
from permissions.rules.rule_set import Rule, RuleBehavior, RuleSet, RuleSource, RuleText

MOVABLE: Final = (RuleSource.SESSION, RuleSource.LOCAL, RuleSource.PROJECT, RuleSource.USER)
"""Where a rule may be moved to, the narrowest first."""


@runtime_checkable
class RuleStore(Protocol):
    """Stores rules outside the gate: settings files, trust, the session's record."""

    def store(self, grant: GrantChoice) -> tuple[str, ...]:
        """Store rules and apply them. Raises OSError when a file cannot be changed."""
        ...

    def forget(self, behavior: str, rule: str) -> None:
        """Remove one rule from the session's record."""
        ...

    def remember(self, behavior: str, rule: str) -> None:
        """Add one rule to the session's record."""
        ...

    def note_own(self, source: RuleSource, rules: Sequence[str]) -> None:
        """Report to the trust store that these rules of a project file are the user's own."""
        ...


class NoRuleStore:
    """A rule store for a gate whose answers apply to one call only."""

    def store(self, grant: GrantChoice) -> tuple[str, ...]:
        """Store nothing."""
        raise OSError(f"nothing can be stored in {grant.destination} here")

    def forget(self, behavior: str, rule: str) -> None:
        """There is no record."""

    def remember(self, behavior: str, rule: str) -> None:
        """There is no record."""

    def note_own(self, source: RuleSource, rules: Sequence[str]) -> None:
        """There is no trust store."""


class RuleChangeError(Exception):
    """The rule cannot be changed; the message explains why, for users. Nothing was changed."""


class _Undo(Struct, frozen=True):
    what: str
    texts: tuple[RuleText, ...]
    """All rules before the change."""
    undo: Callable[[], Awaitable[None]]


class RuleEditor:
    """Changes rules of one gate, on the loop that the gate lives on."""

    def __init__(self, gate: PermissionGate, rule_store: RuleStore) -> None:
        """Nothing can be undone yet."""
        self._gate = gate
        self._rule_store = rule_store
        self._undo_stack: list[_Undo] = []

    async def remove(self, rule: Rule) -> str:
        """Remove a rule where it is stored; return what happened.

        Raises:
            RuleChangeError: its source cannot be changed here.
            OSError: its file cannot be changed.
        """
        old_texts = self._texts
        restore = await self._remove(rule)
        self._count([text for text in old_texts if not _is(text, rule)])
        where = rule.file or rule.source
        self._undo_stack.append(_Undo(f"{rule.behavior} {rule.text} removed", old_texts, restore))
        return f"{rule.behavior} {rule.text} removed ({where})."

    async def edit(self, rule: Rule, new: str) -> str:
        """Replace the text of a rule; its examples are dropped.

        Raises:
            RuleChangeError: the new text is not a rule, or exists already; or as `remove`.
            OSError: its file cannot be changed.
        """
        _check_movable(rule)
        old_texts = self._texts
        self._check_new(new, rule.behavior, rule.source)
        behavior = str(rule.behavior)
        restore: Callable[[], Awaitable[None]]
        if rule.file is None:
            self._rule_store.forget(behavior, rule.text)
            self._rule_store.remember(behavior, new)

            async def swap() -> None:
                self._rule_store.forget(behavior, new)
                self._rule_store.remember(behavior, rule.text)

            restore = swap
        else:
            file = Path(rule.file)
            receipt = await asyncio.to_thread(replace_rule, file, rule.behavior, rule.text, new)
            if rule.behavior is RuleBehavior.ALLOW:
                self._rule_store.note_own(rule.source, [new])
            restore = _undoing(receipt)
        self._count(
            [
                replace(text, text=new, examples=None) if _is(text, rule) else text
                for text in old_texts
            ]
        )
        self._undo_stack.append(_Undo(f"{rule.text} changed to {new}", old_texts, restore))
        return f"{rule.behavior} {rule.text} is now {new} ({rule.file or rule.source})."

    async def move(self, rule: Rule, destination: RuleSource) -> str:
        """Move the rule to another source.

        Raises:
            RuleChangeError: it is stored there already; or as `remove`.
            OSError: a file cannot be changed. If that is the old file, both contain the rule.
        """
        _check_movable(rule)
        if destination is rule.source:
            raise RuleChangeError(f"{rule.text} is already stored there.")
        old_texts = self._texts
        grant = GrantChoice((rule.text,), str(destination), Behavior(str(rule.behavior)))
        self._rule_store.store(grant)
        restore = await self._remove(rule)
        self._count([text for text in self._texts if not _is(text, rule)])
        new_rule = self._stored_rule(rule.text, rule.behavior, destination)

        async def there_and_back() -> None:
            await self._remove(new_rule)
            await restore()

        self._undo_stack.append(
            _Undo(f"{rule.text} moved to {destination}", old_texts, there_and_back)
        )
        return f"{rule.behavior} {rule.text} is now in {destination}."

    def findings(
        self, text: str, behavior: RuleBehavior, source: RuleSource
    ) -> tuple[LintWarning, ...]:
        """Return what lint would report once the rule were stored there."""
        return lint_new(self._gate.context.rules, [RuleText(text, behavior, source)])

    async def add(self, text: str, behavior: RuleBehavior, source: RuleSource) -> str:
        """Store a new rule in one of `MOVABLE`; return what happened.

        Raises:
            RuleChangeError: it is not a rule, or exists already. Nothing was changed.
            OSError: its file cannot be changed.
        """
        self._check_new(text, behavior, source)
        old_texts = self._texts
        self._rule_store.store(GrantChoice((text,), str(source), Behavior(str(behavior))))
        new_rule = self._stored_rule(text, behavior, source)

        async def undo_change() -> None:
            await self._remove(new_rule)

        self._undo_stack.append(_Undo(f"{behavior} {text} added", old_texts, undo_change))
        return f"{behavior} {text} is added ({new_rule.file or source})."

    async def undo(self) -> str:
        """Revert the last change.

        Raises:
            RuleChangeError: there is none.
            OSError: a file cannot be changed.
        """
        if not self._undo_stack:
            raise RuleChangeError("There is no change to undo.")
        last = self._undo_stack[-1]
        await last.undo()
        self._undo_stack.pop()
        self._count(last.texts)
        return f"Undone: {last.what}."

    @property
    def _texts(self) -> tuple[RuleText, ...]:
        return self._gate.context.rules.texts

    def _count(self, texts: Sequence[RuleText]) -> None:
        context = self._gate.context
        self._gate.replace_context(context.with_rules(RuleSet.build(texts)[0]))

    async def _remove(self, rule: Rule) -> Callable[[], Awaitable[None]]:
        _check_movable(rule)
        behavior = str(rule.behavior)
        if rule.file is None:
            self._rule_store.forget(behavior, rule.text)

            async def undo_change() -> None:
                self._rule_store.remember(behavior, rule.text)

            return undo_change
        file = Path(rule.file)
        receipt = await asyncio.to_thread(remove_rules, file, rule.behavior, [rule.text])
        if not receipt.changed_rules:
            raise RuleChangeError(f"{rule.text} is no longer in {rule.file}.")
        return _undoing(receipt)

    def _stored_rule(self, text: str, behavior: RuleBehavior, source: RuleSource) -> Rule:
        return next(
            one
            for one in reversed(self._gate.context.rules.rules)
            if (one.text, one.behavior, one.source) == (text, behavior, source)
        )

    def _check_new(self, new: str, behavior: RuleBehavior, source: RuleSource) -> None:
        check_rule(new, behavior)
        if any(
            (text.text, text.behavior, text.source) == (new, behavior, source)
            for text in self._texts
        ):
            raise RuleChangeError(f"{new} is there already.")


def check_rule(text: str, behavior: RuleBehavior) -> None:
    """Raise RuleChangeError where a text is not a rule."""
    mistakes = RuleSet.build([RuleText(text, behavior, RuleSource.SESSION)])[1]
    if mistakes:
        raise RuleChangeError(mistakes[0].message.partition(";")[0])


def _undoing(receipt: StoreReceipt) -> Callable[[], Awaitable[None]]:
    async def undo_change() -> None:
        await asyncio.to_thread(undo, receipt)

    return undo_change


def _check_movable(rule: Rule) -> None:
    if rule.source not in MOVABLE:
        raise RuleChangeError(
            f"{rule.text} comes from {source_name(rule.source)}: change it there."
        )
    if rule.is_cap:
        raise RuleChangeError(f"{rule.text} could not be read: fix it in {rule.file}.")


def _is(text: RuleText, rule: Rule) -> bool:
    return (text.text, text.behavior, text.source, text.file) == (
        rule.text,
        rule.behavior,
        rule.source,
        rule.file,
    )
