"""The answers to a Bash call: each simple command and each redirection judged on its own."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from permissions.evaluate.bash_call import Bash
from permissions.evaluate.bash_parts import (
    Prepared,
    command_part,
    empty,
    not_understood,
    redirect_part,
)
from permissions.evaluate.kept_answers import Answer, Kept, Store, held_by, store_for
from permissions.evaluate.part_verdict import judge
from permissions.evaluate.watch import Asked
from permissions.scope.created_links import Places, places_made, through_made_link
from permissions.shell.analyse import analyse
from permissions.shell.command_facts import CommandFacts
from permissions.shell.flow.working_directories import UNKNOWN_FOLDER
from permissions.shell.syntax import Unparsable


def bash_answers(bash: Bash) -> list[Answer]:
    """Return the answers in source order; exactly one for a command that is not understood."""
    command = bash.tool_input.get("command")
    if not isinstance(command, str):
        return [_answer(bash, not_understood(bash, "", "the command is not a text"))]
    facts = analyse(command, bash.base, str(bash.context.home))
    if isinstance(facts, Unparsable):
        return [_answer(bash, not_understood(bash, command, str(facts)))]
    if any(one.when_plain for one in facts):
        changing = [one for one in facts if not _only_reads(one)]
        facts = tuple(_with_plain_names(bash, one, changing) for one in facts)
    answers = _Answers(bash).of(facts)
    return answers or [_answer(bash, empty(bash, command))]


def _answer(bash: Bash, prepared: Prepared) -> Answer:
    verdict, trace = judge(prepared.part, prepared.find, bash.mode)
    return Answer(prepared.part, verdict, trace)


class _Answers:
    """Judges the commands of one call, with the help of what is known of them already."""

    def __init__(self, bash: Bash) -> None:
        """Nothing is judged yet."""
        self._bash = bash
        self._store: Store | None = store_for(bash)
        self._made = Places()

    def of(self, facts: Sequence[CommandFacts]) -> list[Answer]:
        """Return the answers about all of them; none when nothing in them is judged."""
        store = self._store
        known = [(None, False) if store is None else store.find(self._bash, one) for one in facts]
        # What one command makes can matter to those that stand before it, too.
        makes: list[Asked | None] = [None] * len(facts)
        if len(facts) > 1 or any(one.inner or one.repeats for one in facts):
            for number, one in enumerate(facts):
                kept, is_met = known[number]
                if kept is None or not kept.makes_nothing or self._made:
                    self._bash.is_watched = is_met
                    makes[number] = self._note_places(one)
        found: list[Answer] = []
        for one, (kept, is_met), asked in zip(facts, known, makes, strict=True):
            if kept is None or self._leads_through_link(kept, one):
                self._bash.is_watched = is_met
                found.extend(self._judged(one, asked))
            else:
                found.extend(kept.answers)
        self._bash.is_watched = False
        return found

    def _note_places(self, facts: CommandFacts) -> Asked | None:
        """Note where links may be made; returns what showed that there are none."""
        was_empty = not self._made
        self._bash.watch.begin()
        has_made = places_made(self._bash, facts, self._made)
        return self._bash.watch.asked() if was_empty and not has_made else None

    def _leads_through_link(self, kept: Kept, facts: CommandFacts) -> bool:
        if not self._made:
            return False
        return through_made_link(kept.touches_of(facts), facts, self._made) is not None

    def _judged(self, facts: CommandFacts, makes: Asked | None) -> Sequence[Answer]:
        bash = self._bash
        bash.watch.begin()
        prepared: list[Prepared] = []
        if facts.allow_forms or facts.deny_forms:
            prepared.append(command_part(bash, facts, self._made))
        for redirect in facts.redirects:
            part = redirect_part(bash, redirect, facts, self._made)
            if part is not None:
                prepared.append(part)
        answers = tuple([_answer(bash, one) for one in prepared])
        if bash.is_watched:
            self._keep(facts, makes, prepared, answers)
        return answers

    def _keep(
        self,
        facts: CommandFacts,
        makes: Asked | None,
        prepared: Sequence[Prepared],
        answers: tuple[Answer, ...],
    ) -> None:
        asked = self._bash.watch.asked()
        if self._store is None or asked is None or any(one.is_through_link for one in prepared):
            return
        touches = [
            (None if one is facts else one, touch)
            for part in prepared
            for one, touch in part.touches
        ]
        asked = (*(makes or ()), *asked)
        kept = Kept(held_by(facts), asked, answers, tuple(touches), makes is not None)
        self._store.keep(facts, kept)


def _only_reads(facts: CommandFacts) -> bool:
    return (facts.is_read_only or facts.is_inert) and not facts.redirects


def _with_plain_names(
    bash: Bash, one: CommandFacts, changing: Sequence[CommandFacts]
) -> CommandFacts:
    """Let patterns be operands where no file has a name like an option, nor can get one on the way.

    `sort *` would take a file named `--compress-program=x` for an option.
    """
    plain = one.when_plain
    others_only_read = not changing or (len(changing) == 1 and changing[0] is one)
    if plain is None or not others_only_read or UNKNOWN_FOLDER in one.folders:
        return one
    for folder in one.folders:
        names = bash.scope.files.entries(folder)
        if names is None or any(name.startswith("-") for name in names):
            return one
    return replace(
        one,
        risk=plain.risk,
        is_read_only=plain.is_read_only,
        is_edit=plain.is_edit,
        # What is true of it here is not so everywhere.
        own=None,
    )
