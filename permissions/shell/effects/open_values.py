"""Paths that options name, where nothing says whether the program reads or writes them.

One rule in place of a list of all options of all programs: where such a path leads out of the
working directories, no wildcard covers the command.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from permissions.shell.access import names
from permissions.shell.program import Code, Program, ReadOnly
from permissions.shell.programs.registry import program_named
from permissions.shell.syntax import Word

_OUTPUT = re.compile(r"-[A-Za-z]*o")
"""The letter that stands for the output in most programs that have one."""
_DEVICES = names("/dev/null /dev/stdin /dev/stdout /dev/stderr /dev/tty -")


def open_values(program: str, words: Sequence[Word]) -> list[Word]:
    """Return the values of options that name paths, and operands that a build may change."""
    if program == "git":
        # It has a reader of its own, for words that mean commits and texts, too.
        return []
    if program.startswith("python") and len(words) > 1 and words[0].text == "-m":
        return open_values(words[1].text, words[2:])
    known = program_named(program)
    if known.wrapper is not None or known.code is Code.LANGUAGE:
        words = words[: _first_operand(words)]
    read = _reading_options(known)
    found: list[Word] = []
    before = ""
    for word in words:
        name, equals, _ = word.plain.partition("=")
        is_option = name.startswith("-")
        if is_option and equals and name not in read:
            found.append(Word(word.raw, _behind(word.text[len(name) + 1 :]), word.splits))
        elif not is_option and (before or _changes_operands(program, known)):
            found.append(word)
        elif is_option and not name.startswith("--") and (match := _OUTPUT.match(name)):
            found.append(Word(word.raw, word.text[match.end() :], word.splits))
        is_long = name.startswith("--") and len(name) > 2
        takes = is_option and not equals and (is_long or _OUTPUT.fullmatch(name) is not None)
        before = name if takes and name not in read else ""
    return [one for one in found if "/" in one.text and _is_path(one)]


def _changes_operands(program: str, known: Program) -> bool:
    # What bazel is given are labels: `//dir/...`.
    return (known.builds or known.rewrites is not None) and program != "bazel"


def _first_operand(words: Sequence[Word]) -> int:
    operands = (place for place, word in enumerate(words) if not word.plain.startswith("-"))
    return next(operands, len(words))


def _behind(text: str) -> str:
    """Return the path in `name=path`, as in `-o log_file=/x` and `type=local,dest=/x`."""
    return text.rpartition("=")[2]


def _is_path(word: Word) -> bool:
    return word.is_literal and word.text not in _DEVICES and "://" not in word.text


def _reading_options(known: Program) -> frozenset[str]:
    listed = names(known.read_options)
    return listed | names(known.read_only.long) if isinstance(known.read_only, ReadOnly) else listed
