"""Program record of `awk`, whose programs may write files and run commands."""

from __future__ import annotations

import re
from collections.abc import Sequence

from permissions.base.text.late_pattern import compile_late
from permissions.shell.access import Access, AccessKind, each, names
from permissions.shell.arguments import split_arguments
from permissions.shell.flow.nested_scripts import Texts
from permissions.shell.program import Code, Commands, Program, ReadOnly
from permissions.shell.syntax import Word

_VALUED_LONG = names("--file --assign --include --load --source --exec --field-separator")
_HARMLESS = names(
    "-F -v --field-separator --assign --posix --traditional --version --help --lint -b -n "
    "--characters-as-bytes --non-decimal-data --re-interval --sandbox"
)
"""Options that do not change what a program may do; any other option is a risk."""


def awk(words: Sequence[Word]) -> list[Access]:
    """Return what awk reads or changes."""
    arguments = split_arguments(
        words, value_letters="FvfilE", value_options=names("--file --assign --include")
    )
    files = arguments.values("-f", "--file")
    programs, operands = (
        ((), arguments.operands) if files else (arguments.operands[:1], arguments.operands[1:])
    )
    data = [word for word in operands if not re.match(r"[A-Za-z_]\w*=", word.text)]
    dump_files = [
        Word(word.raw, word.text[2:]) for word in words if re.match(r"-[odpD].", word.plain)
    ]
    output_files, input_files = _find_files(programs, _OUTPUT), _find_files(programs, _INPUT)
    in_place = any(
        value.text.startswith("inplace") for value in arguments.values("-i", "--include")
    )
    return [
        *each(AccessKind.READ, [*files, *input_files]),
        *each(AccessKind.WRITE, [*output_files, *dump_files]),
        *each(AccessKind.WRITE if in_place else AccessKind.READ, data),
    ]


def _find_files(programs: Sequence[Word], pattern: re.Pattern[str]) -> list[Word]:
    """Return the files that a pattern finds in the text of a program."""
    return [Word(one.raw, path) for one in programs for path in pattern.findall(one.plain)]


_OUTPUT = compile_late(r'>>?\s*"([^"]+)"')
"""`print > "file"`"""
_INPUT = compile_late(r'\bgetline\b[^<;}\n"]*<\s*"([^"]+)"')
"""`getline line < "file"`"""


def awk_risk(_program: str, words: Sequence[Word]) -> str:
    """Return why awk may run commands or write files."""
    arguments = split_arguments(words, value_letters="FvfileEW", value_options=_VALUED_LONG)
    for option in arguments.options:
        if option.name not in _HARMLESS:
            return f"awk {option.name} may run a program that is not shown, or write a file"
    if arguments.injectable:
        return "a word that is not known could be an option of awk"
    for script in arguments.operands[:1]:
        if not script.is_literal or not _only_calculates(script.text):
            return "the awk program may run commands or write files"
    return ""


_FUNCTIONS = names(
    "length substr index split sub gsub match sprintf tolower toupper int rand srand sqrt exp log "
    "sin cos atan2 strftime systime mktime gensub asort asorti and or xor compl lshift rshift "
    "strtonum patsplit isarray typeof if for while print printf in return else do exit"
)
"""Names that may precede a parenthesis: functions that calculate, and keywords."""
_CALL = compile_late(r"([A-Za-z_]\w*)[ \t]*\(", re.ASCII)
_UNSAFE = compile_late(
    r"@|(?<!\|)(?:\|\|)*\|(?!\|)|\b(?:system|getline|close|fflush|nextfile|ENVIRON|PROCINFO|ARGV|ARGC|SYMTAB"
    r"|FUNCTAB|func)\b|\bprint.*>",
    re.ASCII | re.DOTALL,
)
"""Text that runs, writes, or reads something else, also within strings or patterns."""


def _only_calculates(program: str) -> bool:
    """Return whether the program provably only prints and calculates.

    Strings and patterns are not parsed: a risky text in them counts, too.
    """
    known_functions = _FUNCTIONS | set(re.findall(r"\bfunction[ \t]+(\w+)", program))
    is_known = all(name in known_functions for name in _CALL.findall(program))
    return is_known and _UNSAFE.search(program) is None


_STARTS = compile_late(
    r"""system\s*\(\s*"([^"\\]+)"\s*\)|(?<!\|)\|&?\s*"([^"\\]+)"|"([^"\\]+)"\s*\|&?\s*getline"""
)


def awk_commands(words: tuple[Word, ...]) -> Commands:
    """Return the commands that an awk program starts, if they are literal."""
    texts = [text for word in words if '"' in word.text for text in _STARTS.findall(word.text)]
    return [], Texts(tuple(next(filter(None, groups)) for groups in texts))


PROGRAMS = (
    Program("awk", accesses=awk, code=Code.AWK, risk_check=awk_risk, read_only=ReadOnly("", "Fv"),
        commands=awk_commands, exact_only=True),
    Program("gawk mawk", accesses=awk, code=Code.AWK, risk_check=awk_risk, commands=awk_commands),
    Program("nawk", accesses=awk, code=Code.AWK, commands=awk_commands),
)  # fmt: skip
