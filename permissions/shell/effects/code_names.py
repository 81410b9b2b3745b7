"""Files that code names which a program is given to run: `python -c "open('.env')"`, awk, sqlite3.

What code does with a name is not known. It is held against rules about that path only, and only a
name that is written out as one text counts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from permissions.base.text.late_pattern import compile_late
from permissions.shell.access import Access, AccessKind
from permissions.shell.program import Code
from permissions.shell.programs.registry import program_named
from permissions.shell.syntax import HOME_MARK, Word

_MAX_NAMES = 200
"""Names that one command may give; what is beyond is not looked at."""

_HAS_CODE = r"-[A-Za-z]*[ceEmpr]|--(?:eval|print|command)"
"""Options behind which the code stands, so that the input is something else."""

_NAME = compile_late(r"[^\s'\"`|;(){}\[\],=\\\ue000-\uf8ff]{1,200}")
"""What may be the name of a file, in quotes or behind a command such as `.read`."""


def code_accesses(words: Sequence[Word]) -> list[Access]:
    """Return the files that code among the arguments names."""
    return input_accesses("\n".join(word.text for word in words))


def input_accesses(text: str) -> list[Access]:
    """Return the files that code on the standard input names."""
    paths = [name for name in _NAME.findall(text) if name.strip("/.~*")]
    return [
        Access(AccessKind.MENTIONED, Word(name, _path(name)))
        for name in list(dict.fromkeys(paths))[:_MAX_NAMES]
    ]


def takes_code(program: str, words: Sequence[Word]) -> bool:
    """Is what the program finds on its standard input code, and not data for other code?"""
    code = program_named(program).code
    if code is None or code is Code.AWK:
        return False
    texts = [word.text for word in words]
    if code is not Code.LANGUAGE or "-" in texts:
        return True
    return all(text.startswith("-") and not re.match(_HAS_CODE, text) for text in texts)


def _path(text: str) -> str:
    """Return the file in `<file` (Perl), `file:///x` and `~/x`."""
    path = text.lstrip("<>+").removeprefix("file://") or text
    return f"{HOME_MARK}{path[1:]}" if path.startswith("~/") else path
