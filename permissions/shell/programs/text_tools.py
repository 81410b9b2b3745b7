"""Which files the programs for searching and for text touch: grep, sed, awk, find, sort, jq."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from permissions.shell.access import Access, AccessKind, each, names
from permissions.shell.arguments import Arguments, split_arguments
from permissions.shell.programs.sed_script import sed_script_reads, sed_script_writes
from permissions.shell.syntax import Word


def sort(words: Sequence[Word]) -> list[Access]:
    """Return what sort reads and writes."""
    found = split_arguments(
        words, valued="kStoT", valued_long=names("--output --key --files0-from --field-separator")
    )
    return [
        *each(AccessKind.READ, found.operands),
        *each(AccessKind.READ, found.values("--files0-from")),
        *each(AccessKind.WRITE, found.values("-o", "--output", "-T", "--temporary-directory")),
    ]


def uniq(words: Sequence[Word]) -> list[Access]:
    """Return what uniq reads and writes: its second operand."""
    found = split_arguments(
        words, valued="fsw", valued_long=names("--skip-fields --skip-chars --check-chars")
    )
    return input_output(found.operands)


def input_output(operands: Sequence[Word]) -> list[Access]:
    """Return what a program touches that reads its first operand and writes its second."""
    if any(word.has_glob or word.splits for word in operands):
        # They may become more: any of them may end up second.
        return [*each(AccessKind.READ, operands), *each(AccessKind.WRITE, operands)]
    return [*each(AccessKind.READ, operands[:1]), *each(AccessKind.WRITE, operands[1:2])]


def tree(words: Sequence[Word]) -> list[Access]:
    """Return what tree lists and writes."""
    found = split_arguments(words, valued="LPIoHT")
    return [
        *each(AccessKind.READ, found.operands),
        *each(AccessKind.WRITE, found.values("-o")),
    ]


_GREP_VALUED_LONG = names(
    "--regexp --file --max-count --after-context --before-context --context --include --exclude "
    "--exclude-dir --exclude-from --label --binary-files --directories --devices --group-separator"
)
"""`--color` takes its value behind `=` only."""
_RIPGREP_VALUED_LONG = names(
    "--regexp --file --max-count --after-context --before-context --context --color --colors "
    "--glob --iglob --type --type-not --type-add --type-clear --replace --max-depth --sort "
    "--sortr --threads --encoding --engine --max-columns --max-filesize --pre --pre-glob "
    "--ignore-file --context-separator --path-separator --field-match-separator"
)


def grep(words: Sequence[Word]) -> list[Access]:
    """Return what grep reads."""
    found = split_arguments(words, valued="efmABCdD", valued_long=_GREP_VALUED_LONG)
    return _searched(found)


def ripgrep(words: Sequence[Word]) -> list[Access]:
    """Return what ripgrep reads."""
    found = split_arguments(words, valued="efgtTmABCjMrdE", valued_long=_RIPGREP_VALUED_LONG)
    return _searched(found)


def searcher(words: Sequence[Word]) -> list[Access]:
    """Return what ag and ack read: many of their long options take no value."""
    return _searched(split_arguments(words, valued="ABCGgmp", valued_long=names("--pager")))


def _searched(found: Arguments) -> list[Access]:
    has_pattern = found.has("-e", "--regexp", "-f", "--file", "--files")
    operands = found.operands if has_pattern else found.operands[1:]
    return [
        *each(AccessKind.READ, found.values("-f", "--file", "--exclude-from", "--ignore-file")),
        *each(AccessKind.READ, operands),
    ]


def json_query(words: Sequence[Word]) -> list[Access]:
    """Return what jq reads."""
    kept: list[Word] = []
    found: list[Access] = []
    position = 0
    while position < len(words):
        text = words[position].plain
        if text in ("--arg", "--argjson"):
            position += 3
        elif text in ("--slurpfile", "--rawfile"):
            found.extend(each(AccessKind.READ, words[position + 2 : position + 3]))
            position += 3
        elif text in ("--args", "--jsonargs"):
            break
        else:
            kept.append(words[position])
            position += 1
    arguments = split_arguments(kept, valued="fL", valued_long=names("--from-file --indent"))
    files = arguments.values("-f", "--from-file")
    operands = arguments.operands if files else arguments.operands[1:]
    return [*found, *each(AccessKind.READ, files), *each(AccessKind.READ, operands)]


def yaml_query(words: Sequence[Word]) -> list[Access]:
    """Return what yq reads or changes."""
    found = split_arguments(words, valued="oIps")
    kind = AccessKind.WRITE if found.has("-i", "--inplace", "--in-place") else AccessKind.READ
    operands = found.operands
    if operands and operands[0].text in ("eval", "eval-all", "e", "ea"):
        operands = operands[1:]
    return each(kind, operands[1:])


def sed(words: Sequence[Word]) -> list[Access]:
    """Return what sed reads or changes."""
    found = sed_arguments(words)
    has_script = found.has("-e", "--expression", "-f", "--file")
    operands = found.operands if has_script else found.operands[1:]
    in_place = found.has("-i", "--in-place")
    kept = [
        Word(word.raw, path)
        for word in words
        if (suffix := _BACKUP.match(word.plain))
        for path in _backups(suffix[1], operands)
    ]
    scripts = found.values("-e", "--expression") or (() if has_script else found.operands[:1])
    written = [Word(one.raw, path) for one in scripts for path in sed_script_writes(one.plain)]
    read = [Word(one.raw, path) for one in scripts for path in sed_script_reads(one.plain)]
    return [
        *each(AccessKind.READ, [*found.values("-f", "--file"), *read]),
        *each(AccessKind.WRITE, [*written, *kept]),
        *each(AccessKind.WRITE if in_place else AccessKind.READ, operands),
    ]


_BACKUP = re.compile(r"(?:-[nErsuz]*i|--in-place=)(.*[*/].*)", re.DOTALL)
"""A suffix of `sed -i` that says where the old files go."""


def _backups(suffix: str, files: Sequence[Word]) -> Iterator[str]:
    for file in files:
        folder, slash, name = file.text.rpartition("/")
        place = suffix.replace("*", name) if "*" in suffix else f"{name}{suffix}"
        yield place if "/" in suffix and place.startswith("/") else f"{folder}{slash}{place}"
        if "*" in suffix and folder:
            # GNU sed puts the whole path there, seen from where it runs.
            yield suffix.replace("*", file.text)


def sed_arguments(words: Sequence[Word]) -> Arguments:
    """Split sed's arguments; `-i` has its suffix attached only."""
    plain: list[Word] = []
    for word in words:
        # `-i.bak` and `-n -i` alike: what follows the letter in the same word is the suffix.
        match = re.match(r"(-[nErsuz]*i)[^-]", word.plain)
        plain.append(Word(word.raw, match[1], word.splits) if match else word)
    return split_arguments(
        plain, valued="efl", valued_long=names("--expression --file --line-length")
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


def fd(words: Sequence[Word]) -> list[Access]:
    """Return where fd looks."""
    found = split_arguments(
        words, valued="edtExXSojC", valued_long=names("--extension --max-depth")
    )
    return [
        *each(AccessKind.READ, found.operands[1:]),
        *each(AccessKind.READ, found.values("-C", "--base-directory")),
    ]
