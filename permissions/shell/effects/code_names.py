"""Files that code names which a program is given to run: `python -c "open('.env')"`, awk, sqlite3.

What code does with a name is not known. It is held against rules about that path only, and only a
name that is written out as one text counts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from permissions.shell.access import Access, AccessKind
from permissions.shell.program import Code, Program
from permissions.shell.programs.registry import program_named
from permissions.shell.syntax import HOME_MARK, Word

_MAX_NAMES = 200
"""Names that one command may give; what is beyond is not looked at."""

_HAS_CODE = r"-[A-Za-z]*[ceEmpr]|--(?:eval|print|command)"
"""Options behind which the code stands, so that the input is something else."""

_QUOTED = r"""(["'`])((?:(?!\1)[^\s\\\ue000-\uf8ff]){1,200})\1"""
_SOURCED = r"(?:^|\n)[ \t]*(?:\.[ \t]*\w+|\\\w+|source)\s+([^\s'\"]+)"
"""`.read file`, `\\i file`, `source file`."""
_OPENED = (
    r"(?:^|\n|\||^\+)[: \t]*[\d$%]*(?:r|read|e|edit|f|sp|split|vs|vsp|vsplit|tabe|tabedit|view|so"
    r"|source|arge|argadd|badd)!?\s+([^\s|]+)"
)
"""`:r file` and its like."""


def code_accesses(known: Program, words: Sequence[Word]) -> list[Access]:
    """Return the files that code among the arguments names."""
    found: list[str] = []
    for word in words:
        found.extend(_named(known, word.text))
    return _mentioned(found)


def input_accesses(program: str, text: str) -> list[Access]:
    """Return the files that code on the standard input names."""
    return _mentioned(_named(program_named(program), text))


def takes_code(program: str, words: Sequence[Word]) -> bool:
    """Is what the program finds on its standard input code, and not data for other code?"""
    code = program_named(program).code
    if code is None or code is Code.AWK:
        return False
    texts = [word.text for word in words]
    if code is not Code.LANGUAGE or "-" in texts:
        return True
    return all(text.startswith("-") and not re.match(_HAS_CODE, text) for text in texts)


def _named(known: Program, text: str) -> list[str]:
    found = [match[2] for match in re.finditer(_QUOTED, text)]
    if known.code is Code.DATABASE:
        found.extend(re.findall(_SOURCED, text))
    elif known.code is Code.EDITOR:
        found.extend(re.findall(_OPENED, text))
    return found


def _mentioned(found: Sequence[str]) -> list[Access]:
    return [
        Access(AccessKind.MENTIONED, Word(text, _path(text)))
        for text in dict.fromkeys(found[:_MAX_NAMES])
        if text.strip("/.~*")
    ]


def _path(text: str) -> str:
    """Return the file in `<file` (Perl), `file:///x` and `~/x`."""
    path = text.lstrip("<>+").removeprefix("file://") or text
    return f"{HOME_MARK}{path[1:]}" if path.startswith("~/") else path
