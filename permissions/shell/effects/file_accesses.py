"""Which files a program reads, writes or removes, from its arguments alone."""

from __future__ import annotations

from collections.abc import Sequence

from permissions.shell.access import Access, AccessKind
from permissions.shell.effects.code_names import code_accesses
from permissions.shell.effects.named_paths import named_files, sent_files
from permissions.shell.effects.read_only import is_read_only
from permissions.shell.program import Program
from permissions.shell.programs.registry import program_named
from permissions.shell.syntax import HOME_MARK, Word


def accesses(program: str, words: Sequence[Word]) -> list[Access]:
    """Return the accesses of `program` with the arguments `words`, as far as these show them."""
    if program.startswith("python") and len(words) > 1 and words[0].text == "-m":
        return accesses(words[1].text, words[2:])
    program_record = program_named(program)
    own = program_record.accesses(words) if program_record.accesses is not None else []
    return [
        *own,
        *(
            ()
            if _is_all_known(program, program_record, words)
            else named_files(program_record, words)
        ),
        *(sent_files(program_record, words, own) if program_record.network == "*" else ()),
        *(code_accesses(words) if program_record.code is not None else ()),
        *_settings(program_record, words),
    ]


def _is_all_known(program: str, program_record: Program, words: Sequence[Word]) -> bool:
    """Whether the record names all files: with an option it does not list, it may miss one."""
    if program_record.read_only is None:
        return False
    return program_record.accesses is not None or is_read_only(program, words)


def _settings(program_record: Program, words: Sequence[Word]) -> list[Access]:
    """Return the settings file that a command changes, like a redirection to it."""
    path = (
        program_record.changes_settings(words)
        if program_record.changes_settings is not None
        else ""
    )
    if not path:
        return []
    text = f"{HOME_MARK}{path[1:]}" if path.startswith("~") else path
    return [Access(AccessKind.WRITE, Word(path, text))]
