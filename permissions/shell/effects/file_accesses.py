"""Which files a known program reads, writes or removes, from its arguments alone.

An unknown program has no record and touches whatever it likes, which is why only a rule or a user
can allow it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from permissions.shell.access import Access, AccessKind, attached_values, each, names
from permissions.shell.effects.code_names import code_accesses
from permissions.shell.program import Program, Rewrites
from permissions.shell.programs.registry import program_named
from permissions.shell.syntax import HOME_MARK, Word


def accesses(program: str, words: Sequence[Word]) -> list[Access]:
    """Return what `program` touches when it is given `words`; [] for programs not known."""
    if program.startswith("python") and len(words) > 1 and words[0].text == "-m":
        return accesses(words[1].text, words[2:])
    known = program_named(program)
    own = known.accesses(words) if known.accesses is not None else []
    mentioned = _mentions(known, words)
    return [
        *own,
        *_outputs(known, words),
        *mentioned,
        *(_sent(known, words, own) if known.network == "*" else ()),
        *(code_accesses(known, words) if known.code is not None else ()),
        *_settings(known, words),
    ]


def _outputs(known: Program, words: Sequence[Word]) -> list[Access]:
    """Return what tools write under rules of their own, of words that are written out only.

    An unknown target is not asked about; a known one that leads out of scope is refused.
    """
    found = [
        *each(AccessKind.WRITE, attached_values(words, names(known.output_files))),
        *each(AccessKind.PLACE, attached_values(words, names(known.output_directories))),
        *each(AccessKind.WRITE, _operand(known.output_operands, words)),
        *each(AccessKind.WRITE, known.more_outputs(words) if known.more_outputs else ()),
        *each(AccessKind.WRITE, _rewritten(known.rewrites, words) if known.rewrites else ()),
    ]
    return [one for one in found if one.path.is_literal and not _is_elsewhere(one.path.text)]


def _is_elsewhere(text: str) -> bool:
    """Is it no file here: an address, `host:file`, or standard output?"""
    return text in ("", "-") or ":" in text.partition("/")[0]


def _operands(words: Sequence[Word]) -> list[Word]:
    return [word for word in words if not word.plain.startswith("-")]


def _operand(table: Mapping[str, int], words: Sequence[Word]) -> list[Word]:
    operands = _operands(words) if table else []
    for subcommand, index in table.items():
        length = len(subcommand.split())
        if [word.text for word in operands[:length]] == subcommand.split():
            given = operands[length:]
            # With one operand, the last one is no target yet.
            least = 2 if index < 0 else index + 1
            return [given[index]] if len(given) >= least else []
    return []


def _rewritten(rewrites: Rewrites, words: Sequence[Word]) -> list[Word]:
    options = {word.plain.partition("=")[0] for word in words if word.plain.startswith("-")}
    needs = names(rewrites.needs)
    if (needs and not options & needs) or options & names(rewrites.stops):
        return []
    return _operands(words)


_AT_FILE = re.compile(r"(?:[\w.-]+=?)?@(.+)")
"""`@file` and `name=@file`, as curl and its like send files."""


def _mentions(known: Program, words: Sequence[Word]) -> list[Access]:
    """Return files that tools are handed to read or to send: for rules about paths only.

    A tool that runs under a rule of its own is not asked about for each file it is given; a rule
    that denies reading one is meant for these, too.
    """
    found = attached_values(words, names(known.read_options))
    operands = _operands(words)
    if known.reads_operands:
        found.extend(operands)
    found.extend(_handed(known, words))
    letters = known.reads_when
    if letters and any(re.match(rf"-\w*[{letters}]", word.plain) for word in words):
        found.extend(operands)
    return each(AccessKind.MENTIONED, [_path(word) for word in found if word.is_literal])


def _handed(known: Program, words: Sequence[Word]) -> list[Word]:
    """Return the files that a tool is given to work on or to send."""
    found = _at_files(words) if known.reads_at_files else []
    operands = _operands(words)
    for subcommand, skip in known.reads_after.items():
        length = len(subcommand.split())
        if [word.text for word in operands[:length]] == subcommand.split():
            found.extend(operands[length + skip :])
    return found


def _sent(known: Program, words: Sequence[Word], own: Sequence[Access]) -> list[Access]:
    """Return the files here that leave for another machine."""
    handed = [word for word in _handed(known, words) if ":" not in word.text.partition("/")[0]]
    read = [access.path for access in own if access.kind is AccessKind.READ]
    return each(AccessKind.SENT, [*read, *handed])


def _at_files(words: Sequence[Word]) -> list[Word]:
    found: list[Word] = []
    for word in words:
        match = _AT_FILE.fullmatch(word.text)
        if match:
            found.append(Word(word.raw, match[1]))
        elif word.text.startswith("file://"):
            found.append(Word(word.raw, word.text.removeprefix("file://")))
    return found


def _path(word: Word) -> Word:
    """Return the file in `HEAD:file`, `key=file`, `id=x,src=file` and the like."""
    text = word.text
    if ",src=" in text or ",source=" in text:
        text = re.split(r",(?:src|source)=", text)[1].partition(",")[0]
    elif "=" in text:
        text = text.rpartition("=")[2]
    elif ":" in text:
        text = text.rpartition(":")[2]
    return Word(word.raw, text or ".")


def _settings(known: Program, words: Sequence[Word]) -> list[Access]:
    """Return the settings file that a command changes as surely as a redirection to it does."""
    path = known.changes_settings(words) if known.changes_settings is not None else ""
    if not path:
        return []
    text = f"{HOME_MARK}{path[1:]}" if path.startswith("~") else path
    return [Access(AccessKind.WRITE, Word(path, text))]
