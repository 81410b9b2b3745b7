"""Finds commands in the values of options and variables: `rsync -e`, `PAGER=`, `vim -c '!…'`.

A wildcard does not cover such an option anyway. The commands are found so that deny rules and the
scope apply to them; a value that is not a command is skipped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from permissions.shell.access import attached_values, names
from permissions.shell.flow.nested_scripts import UNKNOWN_PIECES, is_printed, printed_by
from permissions.shell.program import Code
from permissions.shell.programs.common_arguments import command_in
from permissions.shell.programs.registry import program_named
from permissions.shell.syntax import Simple, Word
from permissions.shell.wrappers.code_commands import commands_in_code

_VARIABLES = names(
    "PAGER GIT_PAGER MANPAGER GH_PAGER EDITOR VISUAL GIT_EDITOR GIT_SEQUENCE_EDITOR SUDO_EDITOR "
    "GIT_SSH_COMMAND GIT_SSH GIT_ASKPASS SSH_ASKPASS GIT_EXTERNAL_DIFF GIT_PROXY_COMMAND RSYNC_RSH "
    "PROMPT_COMMAND BROWSER LESSOPEN"
)


def option_commands(program: str, words: Sequence[Word]) -> Iterator[str]:
    """Yield the commands that options start, from literal words only."""
    program_record = program_named(program)
    if program_record.code_starts or program_record.code not in (None, Code.AWK):
        for word in words:
            yield from commands_in_code(program, word.plain.translate(UNKNOWN_PIECES))
    literal_words = [word for word in words if word.is_literal]
    for value in attached_values(literal_words, names(program_record.command_options)):
        yield from command_in(value.text)
    if program_record.command_words is not None:
        yield from program_record.command_words(literal_words)


def started_by_variables(simple: Simple) -> Iterator[str]:
    """Yield the commands in the values of variables."""
    for item in simple.assignments:
        if item.name in _VARIABLES and item.value.is_literal:
            yield from command_in(item.value.text)
        elif item.name in ("BASH_ENV", "ENV") and is_printed(item.value):
            yield from filter(None, map(printed_by, item.value.scripts))
