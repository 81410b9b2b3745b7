"""Finds program records by name."""

from __future__ import annotations

from permissions.shell.program import UNKNOWN_PROGRAM, Program
from permissions.shell.programs import (
    archives,
    awk,
    build_tools,
    containers,
    databases,
    file_commands,
    find,
    javascript,
    languages,
    python_tools,
    readers,
    remote,
    search,
    sed,
    shell_builtins,
    tools,
    wrappers,
)
from permissions.shell.programs.git import git_record

RECORDS: tuple[Program, ...] = (
    *archives.PROGRAMS,
    *awk.PROGRAMS,
    *build_tools.PROGRAMS,
    *containers.PROGRAMS,
    *databases.PROGRAMS,
    *file_commands.PROGRAMS,
    *find.PROGRAMS,
    *git_record.PROGRAMS,
    *javascript.PROGRAMS,
    *languages.PROGRAMS,
    *python_tools.PROGRAMS,
    *readers.PROGRAMS,
    *remote.PROGRAMS,
    *search.PROGRAMS,
    *sed.PROGRAMS,
    *shell_builtins.PROGRAMS,
    *tools.PROGRAMS,
    *wrappers.PROGRAMS,
)


class _Programs(dict[str, Program]):
    """Records by name; an empty record for an unknown program."""

    def __missing__(self, name: str) -> Program:
        return UNKNOWN_PROGRAM


PROGRAMS = _Programs({name: one for one in RECORDS for name in one.names.split()})
"""All known programs, by name."""
LOOKED_THROUGH = frozenset(
    name for name, one in PROGRAMS.items() if one.wrapper and one.wrapper.is_open_to_allow
)
"""Wrappers in which an allow rule for the inner program matches. `xargs` without options is one,
too, but is not listed."""
program_named = PROGRAMS.__getitem__
"""Returns the record of a program; an empty one for an unknown program."""
