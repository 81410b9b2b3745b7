"""Builds the parts of a Bash call: a simple command, a redirection, or unparsable text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from permissions.decision import Behavior, Reason
from permissions.evaluate.beyond_files import beyond_files
from permissions.evaluate.call_view import CallView
from permissions.evaluate.part_verdict import Part, PreparedPart
from permissions.evaluate.possible_rules import (
    hosts,
    possible_command_rule,
    possible_path_rule,
    shared_by_pattern,
)
from permissions.evaluate.small_classifier import is_known_redirect, is_small_reading
from permissions.matching.match_bash import allow_of_whole, first_allow, first_restriction
from permissions.matching.match_tool import RuleSubject, first_match
from permissions.matching.match_unparsed import first_raw_match, raw_redirections
from permissions.paths.path_pattern import PathPattern
from permissions.rules.rule_set import SOURCE_ORDER, Rule, RuleBehavior
from permissions.scope.created_links import Places, through_created_link
from permissions.scope.recursive_reads import may_leave, process_floor, recursive_read_floor
from permissions.scope.resolve_access import ResolvedAccess, behind_pattern, resolve_access
from permissions.scope.scope import Floor, check_host, strictest_floor, write_dirs_of
from permissions.scope.special_commands import (
    MERGERS,
    build_directory_floor,
    find_target_floor,
    tree_copy_floor,
)
from permissions.shell.access import HERE, AccessKind
from permissions.shell.command_facts import CommandFacts
from permissions.shell.syntax import SUPPLIED, Redirect, RedirectKind, Word


def not_understood(bash: CallView, command: str, why: str) -> PreparedPart:
    """Return the single part of a command that cannot be parsed."""
    is_open = bash.relies_on_sandbox and not bash.is_restricted and not bash.asks_about_files
    floor = None if is_open else Floor(Behavior.ASK, Reason.UNPARSABLE, why)

    def find(behavior: RuleBehavior) -> Rule | None:
        # Only rules about all of Bash certainly match.
        if behavior is RuleBehavior.ALLOW:
            return None
        call = RuleSubject("Bash", bash.tool_input)
        return (
            first_match(bash.rules, behavior, call, bash.anchors)
            or first_raw_match(bash.rules, behavior, command)
            or _raw_file_match(bash, behavior, command)
        )

    part = Part(
        text=command, kind="command", floor=strictest_floor((bash.floor, floor)), is_read_only=False
    )
    return PreparedPart(part, find)


def _raw_file_match(bash: CallView, behavior: RuleBehavior, command: str) -> Rule | None:
    """Return the first rule about a file that the text certainly reads or writes."""
    if not bash.guards_files:
        return None
    for tool, path in raw_redirections(command):
        call = RuleSubject(tool, {}, bash.scope.resolve(path, bash.base))
        rule = first_match(bash.rules, behavior, call, bash.anchors)
        if rule is not None and isinstance(rule.specifier, PathPattern):
            return rule
    return None


def empty(bash: CallView, command: str) -> PreparedPart:
    """Return the single part of a comment or an empty command."""

    def find(behavior: RuleBehavior) -> Rule | None:
        return first_match(bash.rules, behavior, RuleSubject("Bash", bash.tool_input), bash.anchors)

    return PreparedPart(Part(text=command.strip(), kind="command", floor=bash.floor), find)


def command_part(bash: CallView, facts: CommandFacts, link_places: Places) -> PreparedPart:
    """Return the part for what a simple command runs, reads and writes."""
    resolved_accesses = _resolved_accesses(bash, facts)
    accesses = [access for _, access in resolved_accesses]
    calls = _calls(accesses)

    def find(behavior: RuleBehavior) -> Rule | None:
        if behavior is _ALLOW:
            command = str(bash.tool_input.get("command", ""))
            return first_allow(bash.rules, facts) or allow_of_whole(bash.rules, command, facts)
        return _first_restriction(bash, behavior, facts, calls)

    writes = [access for access in accesses if access.kind in _WRITES]
    link = (
        None
        if bash.relies_on_sandbox
        else through_created_link(resolved_accesses, facts, link_places)
    )
    floors = list(_floors(bash, facts, accesses, link))
    all_facts = facts.with_inner()
    part = Part(
        text=facts.text,
        kind="command",
        floor=strictest_floor(floors),
        write_dirs=write_dirs_of(floors),
        is_write=bool(writes),
        is_free=facts.is_inert,
        is_edit=facts.is_edit,
        is_read_only=(facts.is_read_only or facts.is_inert) and not writes,
        is_provably_harmless=not writes and _stays_in_scope(bash, facts),
        is_small=not writes and is_small_reading(facts, bash.scope.launch),
        runs_configured=any(one.runs_configured for one in all_facts),
        is_elsewhere=any(_is_elsewhere(bash, one) for one in all_facts),
        reads_credentials=any(_reads_credentials(bash, access) for access in accesses),
        detail=_detail(facts, accesses),
        needs=facts.risk or facts.unclear,
        beyond=beyond_files(bash, facts),
    )
    return PreparedPart(part, find)


def _reads_credentials(bash: CallView, access: ResolvedAccess) -> bool:
    floor = access.floor
    return (
        access.kind is AccessKind.READ
        and floor is not None
        and floor.lifted_by_allow
        and any(bash.scope.is_credential(target) for target in access.targets)
    )


def _is_elsewhere(bash: CallView, facts: CommandFacts) -> bool:
    """Whether it runs outside the launch directory, or in an untrusted one."""
    return facts.directories != {bash.scope.launch} or not bash.context.is_trusted


def _calls(accesses: Sequence[ResolvedAccess]) -> list[tuple[RuleSubject, bool]]:
    """Return the accesses as calls, each with whether the file is only mentioned."""
    return [(call, access.kind in _HANDED) for access in accesses for call in access.calls()]


def _stays_in_scope(bash: CallView, facts: CommandFacts) -> bool:
    """Whether the command provably only reads, and only in the working directories."""
    return (
        facts.is_read_only
        # Operands that come from another program may lead anywhere.
        and not any(access.path is SUPPLIED for access in facts.accesses)
        and not may_leave(bash, facts)
    )


def _first_restriction(
    bash: CallView,
    behavior: RuleBehavior,
    facts: CommandFacts,
    calls: Sequence[tuple[RuleSubject, bool]],
) -> Rule | None:
    """Return the first deny or ask rule about the command or a file of it.

    Args:
        calls: Its accesses as calls, each with whether the file is only mentioned.
    """
    rule = first_restriction(bash.rules, behavior, facts, bash.tool_input)
    for call, is_mention in calls:
        other = first_match(bash.rules, behavior, call, bash.anchors)
        if other is None or (is_mention and not isinstance(other.specifier, PathPattern)):
            # A rule for all of Read does not apply to a file that is only passed to a program.
            continue
        if rule is None or SOURCE_ORDER[other.source] < SOURCE_ORDER[rule.source]:
            rule = other
    return rule


def _floors(
    bash: CallView, facts: CommandFacts, accesses: Sequence[ResolvedAccess], link: Floor | None
) -> Iterator[Floor | None]:
    yield bash.floor
    for access in accesses:
        yield _access_floor(bash, access)
    yield link
    if bash.is_restricted:
        yield possible_command_rule(bash, facts)
    # A sandbox hides files of deny rules; it cannot ask about one.
    if bash.guards_files and (bash.asks_about_files or not bash.relies_on_sandbox):
        yield from _file_rule_floors(bash, facts)
    yield from _analyzed_floors(bash, facts)
    if bash.context.blocked_hosts:
        for host in hosts(facts):
            yield check_host(bash.context.blocked_hosts, host)


def _analyzed_floors(bash: CallView, facts: CommandFacts) -> Iterator[Floor | None]:
    """Yield the floors of single programs, unless a sandbox makes them unnecessary."""
    if not bash.is_confined:
        # A confined command sees only the processes of its sandbox.
        yield process_floor(bash, facts)
    if not bash.relies_on_sandbox:
        yield build_directory_floor(bash, facts)
        for one in facts.with_inner():
            yield from _program_floors(bash, one)


def _access_floor(bash: CallView, access: ResolvedAccess) -> Floor | None:
    return None if _may_be_read(bash, access) else _left_open(bash, access.floor)


def _may_be_read(bash: CallView, access: ResolvedAccess) -> bool:
    """Whether a rule about files, not one about commands, allows a read outside the scope."""
    floor = access.floor
    if floor is None or not (floor.lifted_by_allow or access.kind is AccessKind.SENT):
        return False
    calls = [RuleSubject("Read", {}, target) for target in access.targets]
    rules = [first_match(bash.rules, _ALLOW, call, bash.anchors) for call in calls]
    return bool(rules) and all(
        rule is not None and isinstance(rule.specifier, PathPattern) for rule in rules
    )


def _file_rule_floors(bash: CallView, facts: CommandFacts) -> Iterator[Floor | None]:
    for one in facts.with_inner():
        yield recursive_read_floor(
            bash, bash.rules, bash.anchors, one, is_confined=bash.is_confined
        )
    if facts.accesses or facts.inner:
        yield possible_path_rule(bash, facts)


def _left_open(bash: CallView, floor: Floor | None) -> Floor | None:
    """Return the floor, or None if a sandbox around the command makes it unnecessary.

    Proven facts remain: denials, writes outside, protected names; in plan mode reads outside, too.
    """
    if (
        floor is None
        or not bash.relies_on_sandbox
        or floor.behavior is Behavior.DENY
        or floor.write_dirs
    ):
        return floor
    if floor.reason is Reason.PROTECTED_PATH or (floor.lifted_by_allow and bash.plan_runs):
        return floor
    return None


def _program_floors(bash: CallView, facts: CommandFacts) -> Iterator[Floor | None]:
    if not facts.accesses:
        return
    heads = {form.head for form in facts.deny_forms}
    if "find" in heads:
        yield find_target_floor(bash, facts)
    if MERGERS & heads:
        yield tree_copy_floor(bash.scope, facts)


_WRITES = (AccessKind.WRITE, AccessKind.REMOVE)
_HANDED = (AccessKind.MENTIONED, AccessKind.MOUNTED)
_MENTIONED = AccessKind.MENTIONED
_READS = (AccessKind.READ, AccessKind.MENTIONED)
_ALLOW = RuleBehavior.ALLOW
_TOUCHED = {RedirectKind.READ: AccessKind.READ, RedirectKind.WRITE: AccessKind.WRITE}
"""The access of a redirection by its kind; other kinds open no file."""


def _detail(facts: CommandFacts, accesses: Sequence[ResolvedAccess]) -> str:
    pieces: list[str] = []
    if facts.looked_through:
        pieces.append(f"through {facts.looked_through}")
    verbs = {AccessKind.WRITE: "writes", AccessKind.REMOVE: facts.loss_verb}
    pieces.extend(
        f"{verbs[access.kind]} {access.raw_text}" for access in accesses if access.kind in _WRITES
    )
    if facts.risk:
        pieces.append(facts.risk)
    return "; ".join(pieces)


def _resolved_accesses(
    bash: CallView, facts: CommandFacts
) -> list[tuple[CommandFacts, ResolvedAccess]]:
    return [
        (one, access)
        for one in facts.with_inner()
        for access in (
            *_accesses(bash, one),
            *(() if one is facts else _redirect_accesses(bash, one)),
        )
    ]


def _accesses(bash: CallView, one: CommandFacts) -> Iterator[ResolvedAccess]:
    for access in one.accesses:
        if access.kind is _MENTIONED and not bash.guards_files:
            continue
        resolved_access = resolve_access(bash.scope, access.kind, access.path, one.directories)
        if resolved_access is not None:
            yield resolved_access
        if bash.guards_files and access.kind in _READS:
            more = behind_pattern(bash.scope, access.kind, access.path, one.directories)
            if more is not None:
                yield more


def _redirect_accesses(bash: CallView, one: CommandFacts) -> Iterator[ResolvedAccess]:
    """Yield the accesses of redirections inside a command; its own are separate parts."""
    for redirect in one.redirects:
        kind = _TOUCHED.get(redirect.kind)
        if redirect.target is not None and kind is not None:
            resolved_access = resolve_access(bash.scope, kind, redirect.target, one.directories)
            if resolved_access is not None:
                yield resolved_access


def redirect_part(
    bash: CallView, redirect: Redirect, facts: CommandFacts, link_places: Places
) -> PreparedPart | None:
    """Return the part for a redirection; None for one that opens no file."""
    if redirect.target is None or redirect.kind in (RedirectKind.DUPLICATE, RedirectKind.TEXT):
        return None
    word = redirect.target
    if word.plain.startswith(("/dev/tcp/", "/dev/udp/")):
        return _network_part(bash, redirect)
    is_read = redirect.kind is RedirectKind.READ
    access = _redirect_access(bash, AccessKind.READ if is_read else AccessKind.WRITE, word, facts)
    return None if access is None else _file_part(bash, redirect, access, facts, link_places)


def _file_part(
    bash: CallView,
    redirect: Redirect,
    access: ResolvedAccess,
    facts: CommandFacts,
    link_places: Places,
) -> PreparedPart:
    """Return the part for the file that a redirection reads or writes."""
    kind, word = access.kind, redirect.target or HERE
    is_read = kind is AccessKind.READ
    calls = access.calls()
    more = behind_pattern(bash.scope, kind, word, facts.directories) if is_read else None
    if more is not None:
        calls.extend(more.calls())

    def find(behavior: RuleBehavior) -> Rule | None:
        return _first_file_rule(bash, behavior, calls)

    floors = _redirect_floors(bash, access, word, facts, link_places)
    part = Part(
        text=redirect.raw,
        kind=kind.value,
        floor=strictest_floor(floors),
        write_dirs=write_dirs_of(floors),
        is_small=is_read and access.floor is None and is_known_redirect(redirect),
        is_write=not is_read,
        is_free=is_read,
        is_edit=not is_read,
        detail=f"{kind.value}s {word.raw}",
        needs="" if is_read else f"an Edit rule for {word.raw} or accept edits mode allows it",
    )
    return PreparedPart(part, find)


def _redirect_floors(
    bash: CallView, access: ResolvedAccess, word: Word, facts: CommandFacts, link_places: Places
) -> tuple[Floor | None, ...]:
    is_analyzed = not bash.relies_on_sandbox
    return (
        bash.floor,
        _left_open(bash, access.floor),
        through_created_link([(facts, access)], facts, link_places) if is_analyzed else None,
        shared_by_pattern(bash, [word]) if is_analyzed or bash.asks_about_files else None,
    )


def _redirect_access(
    bash: CallView, kind: AccessKind, word: Word, facts: CommandFacts
) -> ResolvedAccess | None:
    if word.has_glob and kind is AccessKind.WRITE:
        # Shells and their settings differ in which file a pattern names as a target.
        floor = bash.scope.check_write(None, word.raw)
        return ResolvedAccess(kind, (), floor, word.raw, word.text)
    return resolve_access(bash.scope, kind, word, facts.directories)


def _first_file_rule(
    bash: CallView, behavior: RuleBehavior, calls: Sequence[RuleSubject]
) -> Rule | None:
    """Return the first rule about the files of a redirection; an allow must cover all of them."""
    results = [first_match(bash.rules, behavior, call, bash.anchors) for call in calls]
    if behavior is RuleBehavior.ALLOW and (not results or None in results):
        return None
    rules = [rule for rule in results if rule is not None]
    return min(rules, key=lambda rule: SOURCE_ORDER[rule.source]) if rules else None


def _network_part(bash: CallView, redirect: Redirect) -> PreparedPart:
    floor = Floor(
        Behavior.DENY,
        Reason.SCOPE_BOUNDS_VIOLATION,
        f"{redirect.raw} opens a network connection, outside the working directories",
    )

    def find(behavior: RuleBehavior) -> Rule | None:
        del behavior
        return None

    part = Part(
        text=redirect.raw, kind="write", floor=strictest_floor((bash.floor, floor)), is_write=True
    )
    return PreparedPart(part, find)
