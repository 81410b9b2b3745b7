"""A Bash call cut into what is judged on its own: simple commands and redirections."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from permissions.bash_pattern import WORD_END
from permissions.context import PermissionContext
from permissions.decision import Behavior, Reason
from permissions.judge import Part
from permissions.made_links import Places, places_made, through_made_link
from permissions.match_bash import (
    first_allow,
    first_restriction,
    has_scoped_restriction,
    possible_restriction,
)
from permissions.match_domain import host_of
from permissions.match_raw import first_raw_match, raw_redirections
from permissions.match_tool import Anchors, Call, first_match
from permissions.merged_trees import MERGERS, merge_floor
from permissions.mode import Mode
from permissions.path_pattern import PathPattern
from permissions.rule_set import SOURCE_ORDER, Rule, RuleBehavior, RuleSet
from permissions.scope import Floor, Scope, check_host, strictest
from permissions.shell.access import AccessKind
from permissions.shell.analyse import CommandFacts, analyse
from permissions.shell.flow import UNKNOWN_FOLDER
from permissions.shell.syntax import (
    Redirect,
    RedirectKind,
    Unparsable,
    Word,
)
from permissions.shell.unwrap import SUPPLIED
from permissions.touch import Touch, touch_of
from permissions.tree_reads import tree_floor


@dataclass(frozen=True)
class Bash:
    """What the parts of one call share. Folders are resolved only when a part names a file."""

    context: PermissionContext
    mode: Mode
    rules: RuleSet
    base: str
    """The shell's current folder, absolute."""
    tool_input: Mapping[str, object]
    budget: Floor | None

    @cached_property
    def scope(self) -> Scope:
        """The working directories."""
        return Scope.of(self.context, self.mode)

    @cached_property
    def is_restricted(self) -> bool:
        """Is there a deny or ask rule about some commands?"""
        return has_scoped_restriction(self.rules)

    @cached_property
    def guards_files(self) -> bool:
        """Is there a deny or ask rule about files?"""
        return any(
            tool in self.rules.index(behavior).by_tool
            for behavior in (RuleBehavior.DENY, RuleBehavior.ASK)
            for tool in ("Read", "Edit")
        )

    @cached_property
    def anchors(self) -> Anchors:
        """Where path patterns start."""
        return Anchors(self.context, self.base, self.scope.files)


def bash_parts(bash: Bash) -> list[Part]:
    """Return the parts in source order; exactly one for a command that is not understood."""
    command = bash.tool_input.get("command")
    if not isinstance(command, str):
        return [_not_understood(bash, "", "the command is not a text")]
    facts = analyse(command, bash.base, str(bash.context.home))
    if isinstance(facts, Unparsable):
        return [_not_understood(bash, command, str(facts))]
    parts: list[Part] = []
    if any(one.when_plain for one in facts):
        changing = [one for one in facts if not _only_reads(one)]
        facts = tuple(_with_plain_names(bash, one, changing) for one in facts)
    is_compound = len(facts) > 1 or any(one.inner or one.repeats for one in facts)
    made = places_made(bash, facts) if is_compound else Places()
    for one in facts:
        if one.allow_forms or one.deny_forms:
            parts.append(_command_part(bash, one, made))
        parts.extend(
            part
            for redirect in one.redirects
            if (part := _redirect_part(bash, redirect, one, made)) is not None
        )
    if not parts:
        parts.append(_empty(bash, command))
    return parts


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
    return replace(one, risk=plain.risk, is_read_only=plain.is_read_only, is_edit=plain.is_edit)


def _not_understood(bash: Bash, command: str, why: str) -> Part:
    floor = Floor(Behavior.ASK, Reason.UNPARSABLE, why)

    def find(behavior: RuleBehavior) -> Rule | None:
        # Only rules about all of Bash can be told to match.
        if behavior is RuleBehavior.ALLOW:
            return None
        call = Call("Bash", bash.tool_input)
        return (
            first_match(bash.rules, behavior, call, bash.anchors)
            or first_raw_match(bash.rules, behavior, command)
            or _raw_file_match(bash, behavior, command)
        )

    return Part(
        text=command,
        kind="command",
        find=find,
        floor=strictest((bash.budget, floor)),
        is_read_only=False,
    )


def _raw_file_match(bash: Bash, behavior: RuleBehavior, command: str) -> Rule | None:
    """Return the first rule about a file that the text surely reads from or writes to."""
    if not bash.guards_files:
        return None
    for tool, path in raw_redirections(command):
        call = Call(tool, {}, bash.scope.resolve(path, bash.base))
        rule = first_match(bash.rules, behavior, call, bash.anchors)
        if rule is not None and isinstance(rule.specifier, PathPattern):
            return rule
    return None


def _empty(bash: Bash, command: str) -> Part:
    """A comment, or nothing at all."""

    def find(behavior: RuleBehavior) -> Rule | None:
        return first_match(bash.rules, behavior, Call("Bash", bash.tool_input), bash.anchors)

    return Part(text=command.strip(), kind="command", find=find, floor=bash.budget)


def _command_part(bash: Bash, facts: CommandFacts, made: Places) -> Part:
    placed = _touches(bash, facts)
    touches = [touch for _, touch in placed]
    calls = [
        (call, touch.kind in (AccessKind.MENTIONED, AccessKind.LENT))
        for touch in touches
        for call in touch.calls()
    ]

    def find(behavior: RuleBehavior) -> Rule | None:
        if behavior is RuleBehavior.ALLOW:
            return first_allow(bash.rules, facts)
        rule = first_restriction(bash.rules, behavior, facts, bash.tool_input)
        for call, is_mention in calls:
            other = first_match(bash.rules, behavior, call, bash.anchors)
            if other is None or (is_mention and not isinstance(other.specifier, PathPattern)):
                # A rule about all of Read says nothing about what a tool is handed.
                continue
            if rule is None or SOURCE_ORDER[other.source] < SOURCE_ORDER[rule.source]:
                rule = other
        return rule

    writes = [touch for touch in touches if touch.kind in (AccessKind.WRITE, AccessKind.REMOVE)]
    return Part(
        text=facts.text,
        kind="command",
        find=find,
        floor=strictest(_floors(bash, facts, placed, made)),
        is_write=bool(writes),
        is_free=facts.is_inert,
        is_edit=facts.is_edit,
        is_read_only=(facts.is_read_only or facts.is_inert) and not writes,
        is_provably_harmless=facts.is_read_only
        and not writes
        # Operands that come from another program may lead anywhere.
        and not any(access.path is SUPPLIED for access in facts.accesses),
        detail=_detail(facts, touches),
        needs=facts.risk,
    )


def _floors(
    bash: Bash,
    facts: CommandFacts,
    touches: Sequence[tuple[CommandFacts, Touch]],
    made: Places,
) -> Iterator[Floor | None]:
    yield bash.budget
    for _, touch in touches:
        yield touch.floor
    yield through_made_link(touches, facts, made)
    if bash.is_restricted:
        yield _possible_command_rule(bash, facts)
    if bash.guards_files:
        for one in (facts, *_inner(facts)):
            yield tree_floor(bash.scope, bash.rules, bash.anchors, one)
    if facts.accesses or facts.inner:
        yield _possible_path_rule(bash, facts)
        for one in (facts, *_inner(facts)):
            if one.accesses and MERGERS.intersection(form.head for form in one.deny_forms):
                yield merge_floor(bash.scope, one)
    if bash.context.blocked_hosts:
        for host in _hosts(facts):
            yield check_host(bash.context.blocked_hosts, host)


def _possible_command_rule(bash: Bash, facts: CommandFacts) -> Floor | None:
    """Ask when what is not known of the command could be what a rule denies or asks about."""
    hidden = next(filter(None, map(_out_of_sight, (facts, *_inner(facts)))), "")
    if hidden:
        return Floor(Behavior.ASK, Reason.UNPARSABLE, f"runs {hidden}; a rule could be meant")
    possible = possible_restriction(bash.rules, facts)
    if possible is None:
        return None
    return Floor(
        Behavior.ASK,
        Reason.UNPARSABLE,
        f"depends on a value that is not known before; {possible.text} could be meant",
    )


def _out_of_sight(facts: CommandFacts) -> str:
    return facts.hidden or ("" if facts.has_literal_program else "a program that is not known")


def _hosts(facts: CommandFacts) -> list[str]:
    """Return the hosts that the command names, as far as they are written out."""
    found: list[str] = []
    for one in (facts, *_inner(facts)):
        for form in one.deny_forms:
            program, *words = form.joined.split(WORD_END)
            for word in words:
                address = word.partition("=")[2] if word.startswith("-") else word
                if "://" not in address and program.rpartition("/")[2] in ("curl", "wget"):
                    address = f"http://{address}"
                host = host_of(re.sub(r"^[A-Za-z+.]+://", "http://", address))
                if host is not None:
                    found.append(host)
    return found


def _detail(facts: CommandFacts, touches: Sequence[Touch]) -> str:
    pieces: list[str] = []
    if facts.looked_through:
        pieces.append(f"through {facts.looked_through}")
    pieces.extend(
        f"{touch.kind.value}s {touch.written}"
        for touch in touches
        if touch.kind in (AccessKind.WRITE, AccessKind.REMOVE)
    )
    if facts.risk:
        pieces.append(facts.risk)
    return "; ".join(pieces)


def _touches(bash: Bash, facts: CommandFacts) -> list[tuple[CommandFacts, Touch]]:
    found: list[tuple[CommandFacts, Touch]] = []
    for one in (facts, *_inner(facts)):
        for access in one.accesses:
            if access.kind is AccessKind.MENTIONED and not bash.guards_files:
                continue
            touch = touch_of(bash.scope, access.kind, access.path, one.folders)
            if touch is not None:
                found.append((one, touch))
        if one is not facts:
            for redirect in one.redirects:
                kind = {RedirectKind.READ: AccessKind.READ, RedirectKind.WRITE: AccessKind.WRITE}
                if redirect.target is not None and redirect.kind in kind:
                    touch = touch_of(bash.scope, kind[redirect.kind], redirect.target, one.folders)
                    if touch is not None:
                        found.append((one, touch))
    return found


def _inner(facts: CommandFacts) -> list[CommandFacts]:
    found: list[CommandFacts] = []
    for inner in facts.inner:
        found.append(inner)
        found.extend(_inner(inner))
    return found


def _possible_path_rule(bash: Bash, facts: CommandFacts) -> Floor | None:
    """Ask when a pattern among the operands could name a file that a rule denies or asks about."""
    return _shared_by_pattern(
        bash, [access.path for one in (facts, *_inner(facts)) for access in one.accesses]
    )


def _shared_by_pattern(bash: Bash, words: list[Word]) -> Floor | None:
    patterned: dict[str, Word] = {}
    for word in words:
        for one in _readings(word):
            if one.has_glob:
                patterned.setdefault(one.plain.rstrip("/").rpartition("/")[2], word)
    if not patterned:
        return None
    for behavior in (RuleBehavior.DENY, RuleBehavior.ASK):
        index = bash.rules.index(behavior)
        places = {name: index.last_names.first_shared(name) for name in patterned}
        found = [(place, name) for name, place in places.items() if place is not None]
        if found:
            place, name = min(found, key=_place)
            return Floor(
                Behavior.ASK,
                Reason.UNPARSABLE,
                f"{patterned[name].raw} could name a file that {index.file_rules[place].text} "
                "is about",
            )
    return None


def _place(found: tuple[int, str]) -> int:
    return found[0]


def _readings(word: Word) -> list[Word]:
    """Return the word, or in its place each word that a loop variable may stand for."""
    return [Word(word.raw, choice) for choice in word.choices] or [word]


def _redirect_part(
    bash: Bash, redirect: Redirect, facts: CommandFacts, made: Places
) -> Part | None:
    if redirect.target is None or redirect.kind in (RedirectKind.DUPLICATE, RedirectKind.TEXT):
        return None
    is_read = redirect.kind is RedirectKind.READ
    word = redirect.target
    if word.plain.startswith(("/dev/tcp/", "/dev/udp/")):
        return _network_part(bash, redirect)
    kind = AccessKind.READ if is_read else AccessKind.WRITE
    if word.has_glob and not is_read:
        # Which file a pattern names as a target differs between shells and settings.
        floor = bash.scope.check_write(None, word.raw)
        touch: Touch | None = Touch(kind, (), floor, word.raw, word.text)
    else:
        touch = touch_of(bash.scope, kind, word, facts.folders)
    if touch is None:
        return None
    calls = touch.calls()

    def find(behavior: RuleBehavior) -> Rule | None:
        found = [first_match(bash.rules, behavior, call, bash.anchors) for call in calls]
        if behavior is RuleBehavior.ALLOW and (not found or None in found):
            return None
        rules = [rule for rule in found if rule is not None]
        return min(rules, key=lambda rule: SOURCE_ORDER[rule.source]) if rules else None

    return Part(
        text=redirect.raw,
        kind="read" if is_read else "write",
        find=find,
        floor=strictest(
            (
                bash.budget,
                touch.floor,
                through_made_link([(facts, touch)], facts, made),
                _shared_by_pattern(bash, [word]),
            )
        ),
        is_write=not is_read,
        is_free=is_read,
        is_edit=not is_read,
        detail=f"{kind.value}s {word.raw}",
        needs="" if is_read else f"an Edit rule for {word.raw} or accept edits mode allows it",
    )


def _network_part(bash: Bash, redirect: Redirect) -> Part:
    floor = Floor(
        Behavior.DENY,
        Reason.SCOPE_BOUNDS_VIOLATION,
        f"{redirect.raw} opens a network connection, outside the working directories",
    )

    def find(behavior: RuleBehavior) -> Rule | None:
        del behavior
        return None

    return Part(
        text=redirect.raw,
        kind="write",
        find=find,
        floor=strictest((bash.budget, floor)),
        is_write=True,
    )
