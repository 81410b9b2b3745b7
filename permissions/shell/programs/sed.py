"""Program record of `sed`, whose scripts may write files and run commands."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from permissions.base.text.late_pattern import compile_late
from permissions.shell.access import Access, AccessKind, each, names
from permissions.shell.arguments import Arguments, split_arguments
from permissions.shell.program import Program, ReadOnly
from permissions.shell.syntax import Word


def sed(words: Sequence[Word]) -> list[Access]:
    """Return what sed reads or changes."""
    arguments = sed_arguments(words)
    has_script = arguments.has("-e", "--expression", "-f", "--file")
    operands = arguments.operands if has_script else arguments.operands[1:]
    in_place = arguments.has("-i", "--in-place")
    scripts = arguments.values("-e", "--expression") or (
        () if has_script else arguments.operands[:1]
    )
    output_files = [Word(one.raw, path) for one in scripts for path in sed_script_writes(one.plain)]
    input_files = [Word(one.raw, path) for one in scripts for path in sed_script_reads(one.plain)]
    return [
        *each(AccessKind.READ, [*arguments.values("-f", "--file"), *input_files]),
        *each(AccessKind.WRITE, [*output_files, *_backups(words, operands)]),
        *each(AccessKind.WRITE if in_place else AccessKind.READ, operands),
    ]


_BACKUP = compile_late(r"(?:-[nErsuz]*i|--in-place=)(.*[*/].*)", re.DOTALL)
"""A suffix of `sed -i` that determines where the backups are written."""


def _backups(words: Sequence[Word], files: Sequence[Word]) -> Iterator[Word]:
    """Yield where the backups are written."""
    for word in words:
        if suffix := _BACKUP.match(word.plain):
            yield from (Word(word.raw, path) for path in _backup_paths(suffix[1], files))


def _backup_paths(suffix: str, files: Sequence[Word]) -> Iterator[str]:
    for file in files:
        directory, slash, name = file.text.rpartition("/")
        place = suffix.replace("*", name) if "*" in suffix else f"{name}{suffix}"
        yield place if "/" in suffix and place.startswith("/") else f"{directory}{slash}{place}"
        if "*" in suffix and directory:
            # GNU sed inserts the whole path; the result is relative to its working directory.
            yield suffix.replace("*", file.text)


def sed_arguments(words: Sequence[Word]) -> Arguments:
    """Split sed's arguments; a suffix of `-i` is always attached."""
    plain: list[Word] = []
    for word in words:
        # `-i.bak` and `-ni.bak`: the rest of the word after the letter is the suffix.
        match = re.match(r"(-[nErsuz]*i)[^-]", word.plain)
        plain.append(Word(word.raw, match[1], word.splits) if match else word)
    return split_arguments(
        plain, value_letters="efl", value_options=names("--expression --file --line-length")
    )


_SED_PART = r"(?:\\.|(?!\2)[^\n\\])*"


_SED_RUNS = compile_late(
    rf"^[0-9,$]*e\s+(.+)$|^s(.){_SED_PART}\2({_SED_PART})\2[a-z0-9]*e[a-z0-9]*$"
)


def sed_risk(_program: str, words: Sequence[Word]) -> str:
    """Return why sed may run something or write files."""
    arguments = sed_arguments(words)
    if arguments.has("-i", "--in-place"):
        return "sed -i writes its files"
    if arguments.has("-f", "--file"):
        return "sed -f runs a script that is not shown"
    for script in arguments.values("-e", "--expression") or arguments.operands[:1]:
        if not script.is_literal:
            return "a sed script that is not known before"
        if risk := sed_script_risk(script.text):
            return risk
    return "a word that is not known could be an option of sed" if arguments.injectable else ""


def only_edits(words: Sequence[Word]) -> bool:
    """Return whether its scripts change only the files named in the words."""
    arguments = sed_arguments(words)
    if arguments.has("-f", "--file") or arguments.injectable:
        return False
    scripts = arguments.values("-e", "--expression") or arguments.operands[:1]
    return all(word.is_literal and not sed_script_risk(word.text) for word in scripts)


def run_by_script(words: Sequence[Word]) -> Iterator[str]:
    """Yield the commands that a script runs."""
    for word in words:
        match = _SED_RUNS.match(word.text)
        if match:
            yield match[1] or match[3]


_ADDRESS = r"(?:\d+(?:~\d+)?|\$|/(?:[^/\\\n]|\\.)*/[IM]*|\+\d+)"
_PATTERN = r"(?:\\.|\[(?!(?P=mark)).(?:(?!(?P=mark))[^\]])*\]|(?!(?P=mark))[^\\\[])*"
"""Implementations of sed differ on a delimiter inside a bracket: it does not match."""
_END = r"[ \t]*(?=[;}\n]|\Z)"
_PREFIX = rf"[ \t\n;]*(?:{_ADDRESS}(?:[ \t]*,[ \t]*{_ADDRESS})?)?[ \t]*!?[ \t]*"
_COMMAND = compile_late(
    rf"{_PREFIX}(?:[{{}}]"
    rf"|[pdDgGhHnNxlq=][ \t]*\d*{_END}"
    # A text must not be empty: GNU sed would read the next line as a command.
    r"|[aic][ \t]*(?:\\\n?)?[ \t]*[^\s\\][^\n\\]*(?:\n|\Z)"
    rf"|(?:[bt][ \t]*[\w.-]*|:[ \t]*[\w.-]+){_END}"
    rf"|[sy](?P<mark>[^\\\w\s\[]){_PATTERN}(?P=mark)"
    rf"(?:\\.|(?!(?P=mark))[^\\])*(?P=mark)[gpiIM0-9]*{_END})",
    re.DOTALL,
)
"""One command that neither runs nor writes anything."""


def sed_script_risk(script: str) -> str:
    """Return why the script may write or run something; "" if it provably does not.

    Substitution flags `e` and `w`, the commands `e w W r R` and all unsupported syntax are risks.
    """
    position = _first_risk(script)
    if position is None:
        return ""
    return f"the sed script may run or write something (at {script[position:][:20]!r})"


def sed_script_writes(script: str) -> list[str]:
    """Return the files that a script writes; the search ends at unsupported syntax."""
    matches = [_WRITE.match(line) or _WRITE_FLAG.search(line) for line in _risky_lines(script)]
    paths = [match[1].strip() for match in matches if match]
    return [path for path in paths if path not in ("", "/dev/stdout", "/dev/stderr")]


def sed_script_reads(script: str) -> list[str]:
    """Return the files that a script reads; the search ends at unsupported syntax."""
    matches = [_READ.match(line) for line in _risky_lines(script)]
    paths = [match[1].strip() for match in matches if match]
    return [path for path in paths if path not in ("", "/dev/stdin")]


def _risky_lines(script: str) -> Iterator[str]:
    """Yield the text from each command not known to be harmless to the end of its line."""
    while (position := _first_risk(script)) is not None:
        line, _, script = script[position:].partition("\n")
        yield line


_WRITE = compile_late(r"[wW]\s*(.+)")
_READ = compile_late(r"[rR]\s*(.+)")
_WRITE_FLAG = compile_late(r"[^\w\s\\][gpiIM0-9]*w\s*([^\s;}][^;}]*)$")


def _first_risk(script: str) -> int | None:
    """Return the position of the first command that is not known to be harmless."""
    position = 0
    while match := _COMMAND.match(script, position):
        position = match.end()
    prefix = re.compile(_PREFIX).match(script, position)
    position = prefix.end() if prefix else position
    return position if position < len(script) else None


PROGRAMS = (
    Program("sed", accesses=sed, risk_check=sed_risk, read_only=ReadOnly("nErsuz", "e",
        "--expression --quiet --regexp-extended --silent"), edits=True, edit_check=only_edits,
        command_words=run_by_script, exact_only=True),
    Program("gsed", accesses=sed, risk_check=sed_risk, command_words=run_by_script),
)  # fmt: skip
