"""What is known of `awk`, whose programs may write and run."""

from __future__ import annotations

import re
from collections.abc import Sequence

from permissions.shell.access import Access, AccessKind, each, names
from permissions.shell.arguments import (
    Arguments,
    is_listed,
    split_arguments,
)
from permissions.shell.flow.nested_scripts import (
    Texts,
)
from permissions.shell.program import (
    Code,
    Commands,
    Program,
    ReadOnly,
)
from permissions.shell.syntax import (
    Word,
)


def awk(words: Sequence[Word]) -> list[Access]:
    """Return what awk reads or changes."""
    found = split_arguments(words, valued="FvfilE", valued_long=names("--file --assign --include"))
    files = found.values("-f", "--file")
    operands = found.operands if files else found.operands[1:]
    data = [word for word in operands if not re.match(r"[A-Za-z_]\w*=", word.text)]
    dumped = [Word(word.raw, word.text[2:]) for word in words if re.match(r"-[odpD].", word.plain)]
    programs = () if files else found.operands[:1]
    written = [Word(one.raw, path) for one in programs for path in _AWK_OUTPUT.findall(one.plain)]
    read = [Word(one.raw, path) for one in programs for path in _AWK_INPUT.findall(one.plain)]
    in_place = any(value.text.startswith("inplace") for value in found.values("-i", "--include"))
    return [
        *each(AccessKind.READ, [*files, *read]),
        *each(AccessKind.WRITE, [*written, *dumped]),
        *each(AccessKind.WRITE if in_place else AccessKind.READ, data),
    ]


_AWK_OUTPUT = re.compile(r'>>?\s*"([^"]+)"')
"""`print > "file"`"""


_AWK_INPUT = re.compile(r'\bgetline\b[^<;}\n"]*<\s*"([^"]+)"')
"""`getline line < "file"`"""


_AWK_RISK = re.compile(
    r"system|getline|(?<!\|)\|(?!\|)|print.*>|>>|@\s*(?:load|include|namespace)|@[a-z]|/inet|close\s*\(|fflush|ARG[CV]\b",
    re.DOTALL,
)


_AWK_LONG = names(
    "--file --include --load --exec --source --dump-variables --pretty-print --profile --debug"
)


def awk_risk(_program: str, words: Sequence[Word]) -> str:
    """Return why awk may run commands or write files."""
    found = split_arguments(
        words,
        valued="FvfileEW",
        valued_long=names("--file --assign --include --load --source --exec --field-separator"),
    )
    for option in found.options:
        if is_listed(option.name, "filEeodpDW", _AWK_LONG, exact=False):
            return f"awk {option.name} runs a program that is not shown, or writes a file"
    if found.injectable:
        return "a word that is not known could be an option of awk"
    for script in found.operands[:1]:
        if not script.is_literal or _AWK_RISK.search(script.text):
            return "the awk program may run commands or write files"
    return ""


def no_environment(words: Sequence[Word], _arguments: Arguments) -> bool:
    """Does awk leave its environment alone, with the secrets in it?"""
    return not any("ENVIRON" in word.text for word in words)


_AWK_STARTS = re.compile(
    r"""system\s*\(\s*"([^"\\]+)"\s*\)|(?<!\|)\|&?\s*"([^"\\]+)"|"([^"\\]+)"\s*\|&?\s*getline"""
)


def started(words: tuple[Word, ...]) -> Commands:
    """Return the commands that an awk program starts, where they are written out."""
    texts = [text for word in words if '"' in word.text for text in _AWK_STARTS.findall(word.text)]
    return [], Texts(tuple(next(filter(None, groups)) for groups in texts))


PROGRAMS = (
    Program("awk", accesses=awk, code=Code.AWK, risk_check=awk_risk, read_only=ReadOnly("", "Fv",
        check=no_environment), commands=started, exact_only=True),
    Program("gawk mawk", accesses=awk, code=Code.AWK, risk_check=awk_risk, commands=started),
    Program("nawk", accesses=awk, code=Code.AWK, commands=started),
)  # fmt: skip
