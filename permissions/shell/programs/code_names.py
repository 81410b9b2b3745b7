"""Files that code names which a program is given to run: `python -c "open('.env')"`, awk, sqlite3.

What code does with a name is not known. It is held against rules about that path only, and only a
name that is written out as one text counts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from permissions.shell.access import Access, AccessKind, names
from permissions.shell.syntax import HOME_MARK, Word

_MAX_NAMES = 200
"""Names that one command may give; what is beyond is not looked at."""

LANGUAGES = names(
    """
    python python2 python3 python3.9 python3.10 python3.11 python3.12 python3.13 python3.14 pypy
    pypy3 ipython node nodejs deno bun tsx ts-node ruby perl php lua luajit Rscript julia osascript
    groovy
    """
)
_AWKS = names("awk gawk mawk nawk")
DATABASES = names("sqlite3 psql mysql mariadb")
EDITORS = names("ed ex vi vim nvim view")
OTHERS = names("gdb lldb expect tclsh crontab")
READS_CODE = LANGUAGES | DATABASES | EDITORS | OTHERS
"""The programs that take code on their input, too."""
RUNS_CODE = READS_CODE | _AWKS
"""The programs whose code is looked at, in their arguments."""
_HAS_CODE = r"-[A-Za-z]*[ceEmpr]|--(?:eval|print|command)"
"""Options behind which the code stands, so that the input is something else."""

_QUOTED = r"""(["'`])((?:(?!\1)[^\s\\\ue000-\uf8ff]){1,200})\1"""
_TOLD = r"(?:^|\n)[ \t]*(?:\.[ \t]*\w+|\\\w+|source)\s+([^\s'\"]+)"
"""`.read file`, `\\i file`, `source file`."""
_OPENED = (
    r"(?:^|\n|\||^\+)[: \t]*[\d$%]*(?:r|read|e|edit|f|sp|split|vs|vsp|vsplit|tabe|tabedit|view|so"
    r"|source|arge|argadd|badd)!?\s+([^\s|]+)"
)
"""`:r file` and its like."""


def code_accesses(program: str, words: Sequence[Word]) -> list[Access]:
    """Return the files that code among the arguments names."""
    found: list[str] = []
    for word in words:
        found.extend(_named(program, word.text))
    return _mentioned(found)


def input_accesses(program: str, text: str) -> list[Access]:
    """Return the files that code on the standard input names."""
    return _mentioned(_named(program, text))


def takes_code(program: str, words: Sequence[Word]) -> bool:
    """Is what the program finds on its standard input code, and not data for other code?"""
    if program not in READS_CODE:
        return False
    texts = [word.text for word in words]
    if program not in LANGUAGES or "-" in texts:
        return True
    return all(text.startswith("-") and not re.match(_HAS_CODE, text) for text in texts)


def _named(program: str, text: str) -> list[str]:
    found = [match[2] for match in re.finditer(_QUOTED, text)]
    if program in DATABASES:
        found.extend(re.findall(_TOLD, text))
    elif program in EDITORS:
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
