"""Files named in code that a program is given to run: `python -c "open('.env')"`, awk, sqlite3.

It is not known what the code does with a name. Only rules about that path apply, and only a name
that is a single literal counts.
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
"""Maximum number of names of one command; further ones are ignored."""

_HAS_CODE = r"-[A-Za-z]*[ceEmpr]|--(?:eval|print|command)"
"""Options that the code follows, so that the input is something else."""

_NAME = compile_late(r"[^\s'\"`|;(){}\[\],=\\\ue000-\uf8ff]{1,200}")
"""A possible file name, in quotes or after a command such as `.read`."""


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
    """Return whether the program's standard input is code, and not data for other code."""
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
