"""Which commands are known to connect to other machines."""

from __future__ import annotations

from collections.abc import Iterator

from permissions.shell.access import names
from permissions.shell.command_facts import CommandFacts
from permissions.shell.programs.registry import program_named


def connections(facts: CommandFacts) -> Iterator[tuple[str, list[str]]]:
    """Yield program and words of each form of a simple command that is known to connect."""
    # A form without words is the text of the whole line.
    for form in (form for form in facts.deny_forms if form.joined_text):
        program, words = form.head.rpartition("/")[2], form.spaced_text.split()
        network = program_named(program).network
        if network == "*" or (len(words) > 1 and words[1] in names(network)):
            yield program, words
