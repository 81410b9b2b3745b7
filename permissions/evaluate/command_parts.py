"""Splits a Bash call into parts: its simple commands and redirections."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from permissions.confinement import SandboxLevel
from permissions.evaluate.bash_parts import command_part, empty, not_understood, redirect_part
from permissions.evaluate.call_view import CallView
from permissions.evaluate.part_verdict import PreparedPart
from permissions.scope.created_links import Places, add_places
from permissions.scope.unclear_paths import with_unclear_paths
from permissions.shell.analyze import analyze
from permissions.shell.command_facts import CommandFacts
from permissions.shell.flow.working_directories import UNKNOWN_DIRECTORY
from permissions.shell.syntax import Unparsable


class CommandParts(Struct, frozen=True):
    """The parts of a Bash call that get verdicts of their own."""

    facts: tuple[CommandFacts, ...]
    """Of every simple command in source order; () for a command that cannot be parsed."""
    parts: Sequence[PreparedPart]
    """In source order; exactly one for a command that cannot be parsed."""


def command_parts(bash: CallView) -> CommandParts:
    """Split a Bash call into simple commands and redirections."""
    command = bash.tool_input.get("command")
    if not isinstance(command, str):
        return CommandParts((), [not_understood(bash, "", "the command is not a string")])
    context = bash.context
    temp_dir = str(context.scratch_dir) if context.scratch_dir is not None else ""
    facts = analyze(command, bash.base, str(context.home), temp_dir)
    if isinstance(facts, Unparsable):
        return CommandParts((), [not_understood(bash, command, str(facts))])
    if any(one.when_plain for one in facts):
        changing = [one for one in facts if not _only_reads(one)]
        facts = tuple(_with_plain_names(bash, one, changing) for one in facts)
    if bash.level is not SandboxLevel.FULL:
        # At level `full`, a command that a wildcard covers can write only into the project.
        facts = tuple(map(partial(with_unclear_paths, bash), facts))
    return CommandParts(facts, list(_prepared_parts(bash, facts)) or [empty(bash, command)])


def _prepared_parts(bash: CallView, facts: Sequence[CommandFacts]) -> Iterator[PreparedPart]:
    """Yield the parts of all commands; none when nothing in them needs a verdict."""
    places = _link_places(bash, facts)
    for one in facts:
        if one.allow_forms or one.deny_forms:
            yield command_part(bash, one, places)
        for redirect in one.redirects:
            part = redirect_part(bash, redirect, one, places)
            if part is not None:
                yield part


def _link_places(bash: CallView, facts: Sequence[CommandFacts]) -> Places:
    """Return where links may be created, which may affect earlier commands, too."""
    places = Places()
    if len(facts) > 1 or any(one.inner or one.repeats for one in facts):
        for one in facts:
            add_places(bash, one, places)
    return places


def _only_reads(facts: CommandFacts) -> bool:
    return (facts.is_read_only or facts.is_inert) and not facts.redirects


def _with_plain_names(
    bash: CallView, one: CommandFacts, changing: Sequence[CommandFacts]
) -> CommandFacts:
    """Treat patterns as operands if no file has a name like an option, or can get one meanwhile.

    `sort *` would take a file named `--compress-program=x` as an option.
    """
    plain = one.when_plain
    others_only_read = not changing or (len(changing) == 1 and changing[0] is one)
    if plain is None or not others_only_read or UNKNOWN_DIRECTORY in one.directories:
        return one
    for directory in one.directories:
        names = bash.scope.files.entries(directory)
        if names is None or any(name.startswith("-") for name in names):
            return one
    return replace(one, risk=plain.risk, is_read_only=plain.is_read_only, is_edit=plain.is_edit)
