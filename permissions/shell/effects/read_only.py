"""Commands that provably only read, and file commands that only edit, by their records.

The records were reviewed for writing, for running other programs and for sending data away: nothing
that is read-only opens a network connection. With an option that is not listed, a command does not
count as read-only.
"""

from __future__ import annotations

from collections.abc import Sequence

from permissions.base.text.star_pattern import UNKNOWN
from permissions.shell.access import names
from permissions.shell.arguments import could_be_option, split_arguments
from permissions.shell.effects.risks import risk_of
from permissions.shell.program import ReadOnly
from permissions.shell.programs.find import (
    exec_commands,
    finds_files_only,
    is_below_roots,
    looks_only,
)
from permissions.shell.programs.registry import program_named
from permissions.shell.syntax import Word

_VERSION = (["--version"], ["-V"], ["-v"], ["-version"])
_SWITCHES = names(
    "--utc --count --repeated --unique --ignore-case --forest --no-headers --raw-output --slurp "
    "--compact-output --null-input --exit-status --sort-keys --tab --raw-input --join-output"
)
"""Long options that take no value, where an operand after them matters."""


def is_read_only(program: str, words: Sequence[Word]) -> bool:
    """Return whether the command provably only reads. Where it reads is checked elsewhere."""
    program_record = program_named(program)
    texts = [word.text for word in words]
    if program_record.shows_version and texts in _VERSION:
        return _shows_version(program, words[0].text)
    if texts == ["--version"] and program_record.wrapper is None and "/" not in program:
        # Few programs do more (yarn runs what the project names), which `read_only` confines.
        return True
    if program == "find":
        return looks_only(words) and all(_reads(words, one) for one in exec_commands(words))
    if program_record.read_only is None or risk_of(program, words):
        return False
    if isinstance(program_record.read_only, ReadOnly):
        return _has_only_listed(program_record.read_only, words)
    return program_record.read_only(words)


def _shows_version(program: str, option: str) -> bool:
    # `python -v` and `bash -v` then run their input.
    return option != "-v" or not program.startswith(("python", "bash"))


def is_edit(program: str, words: Sequence[Word], risk: str) -> bool:
    """Return whether it is a file command whose words run or write nothing else."""
    program_record = program_named(program)
    if not program_record.edits:
        return False
    return not risk if program_record.edit_check is None else program_record.edit_check(words)


def _reads(search: Sequence[Word], command: Sequence[Word]) -> bool:
    """Whether a command that find runs only reads the files that it finds."""
    if not is_below_roots(search, command) or not finds_files_only(search):
        return False
    # An arbitrary name, which may be a program if it is used as a script.
    words = [Word("{}", f"./{UNKNOWN}") if word.text == "{}" else word for word in command[1:]]
    return is_read_only(command[0].text, words)


def _has_only_listed(options: ReadOnly, words: Sequence[Word]) -> bool:
    if any(could_be_option(word) for word in words if not word.has_glob and not word.choices):
        return False
    long = names(options.long)
    arguments = split_arguments(
        words,
        value_letters=options.value_letters,
        value_options=long - _SWITCHES,
        switches=options.letters,
    )
    if options.check is not None and not options.check(words, arguments):
        return False
    return all(
        option.name in long or option.name in ("--help", "--version")
        if option.name.startswith("--")
        else option.name[1:] in options.letters + options.value_letters
        for option in arguments.options
    )
