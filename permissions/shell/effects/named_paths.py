"""Paths among the words of a program whose use of files is not known.

The value of an option such as `--output` is written. What happens to everything else that could be
a path is not known: rules about the file apply to it, and no wildcard rule covers it outside of the
working directories.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from permissions.base.text.late_pattern import compile_late
from permissions.shell.access import Access, AccessKind, each, names
from permissions.shell.program import Code, Program, ReadOnly
from permissions.shell.programs.registry import program_named
from permissions.shell.syntax import Word

_OUTPUT = compile_late(
    r"-o|--?out(?:put)?(?:[-_.]?\w+)*|--(?:\w+[-_])*(?:out(?:put)?|log[-_]?file|report[-_]log"
    r"|junit[-_]?xml|html)|-coverprofile|-\w+profile"
)
_PLACES = compile_late(
    r"--(?:\w+[-_])*(?:dest(?:ination)?|target[-_]dir|cache[-_]dir(?:ectory)?|basetemp|prefix"
    r"|directory|cwd|install[-_]dir|work[-_]?dir)|-C"
)
_DEVICES = names("/dev/null /dev/stdin /dev/stdout /dev/stderr /dev/tty -")
_AT_FILE = compile_late(r"(?:[\w.-]+=?)?@(.+)")
"""`@file` and `name=@file`, as programs send files."""


def named_files(program_record: Program, words: Sequence[Word]) -> list[Access]:
    """Return the files that options certainly write, and others that rules about files may
    match."""
    if program_record.names == "git":
        return []
    runs_rest = program_record.wrapper is not None
    if runs_rest:
        words = words[: _first_operand(words) + 1]
    results = each(AccessKind.MENTIONED, list(filter(None, map(_at_file, words))))
    is_handed = _may_be_handed(program_record)
    for option, word in _option_values(words):
        if not _CHOOSING.search(option) if option else is_handed:
            results.append(Access(AccessKind.MENTIONED, _path(word)))
        if option and program_record.accesses is None and not runs_rest:
            results.extend(_by_option(option, _path_value(word)))
    return [one for one in results if one.path.is_literal and not _is_elsewhere(one.path.text)]


def _by_option(option: str, value: Word) -> Iterator[Access]:
    """Yield what the name of an option implies for its value: a file to write, or a directory."""
    if not value.is_literal:
        return
    if _OUTPUT.fullmatch(option) and re.search("[./]", value.text):
        yield Access(AccessKind.WRITE, value)
    elif _PLACES.fullmatch(option):
        yield Access(AccessKind.PLACE, value)


_CHOOSING = compile_late("(?:exclude|include(?!-)|ignore|filter|pattern|name)(?!.*(?:from|file))")
"""Words in options that select files but open none."""


def _may_be_handed(program_record: Program) -> bool:
    """Whether its operands are files, as far as is known."""
    is_unknown = program_record.accesses is None and program_record.wrapper is None
    return is_unknown or program_record.code is Code.LANGUAGE


def sent_files(
    program_record: Program, words: Sequence[Word], own: Sequence[Access]
) -> list[Access]:
    """Return the local files that are sent to another machine."""
    read = [access.path for access in own if access.kind is AccessKind.READ]
    if program_record.accesses is None and program_record.wrapper is None:
        read.extend(word for option, word in _option_values(words) if not option)
    data_files = [_at_file(word) for word in words]
    local = [word for word in read if word.is_literal and not _is_elsewhere(word.text)]
    return each(AccessKind.SENT, [*local, *(word for word in data_files if word is not None)])


def open_values(program: str, words: Sequence[Word]) -> list[Word]:
    """Return the paths that options name, and the operands of programs whose use of them is
    unknown."""
    if program == "git":
        # Git has its own analysis, since its words may also mean commits and texts.
        return []
    if program.startswith("python") and len(words) > 1 and words[0].text == "-m":
        return open_values(words[1].text, words[2:])
    program_record = program_named(program)
    runs_rest = (
        program_record.wrapper is not None
        or program_record.is_shell
        or program_record.code is Code.LANGUAGE
    )
    if runs_rest:
        words = words[: _first_operand(words) + 1]
    option_values = list(_option_values(words))
    read = (
        names(program_record.read_only.long)
        if isinstance(program_record.read_only, ReadOnly)
        else names("")
    )
    is_unread = program_record.accesses is None and program_record.read_only is None
    values = [
        word
        for option, word in option_values
        if (option not in read if option else is_unread and not runs_rest)
    ]
    return [path for word in values for path in _paths_in(word)]


def _option_values(words: Sequence[Word]) -> Iterator[tuple[str, Word]]:
    """Yield each value with the option that it follows, and each operand with an empty text."""
    option = ""
    for word in words:
        name, equals, _ = word.plain.partition("=")
        if not name.startswith("-") or len(name) < 2:
            if option:
                yield option, word
            yield "", word
        elif equals:
            yield name, Word(word.raw, word.text[len(name) + 1 :], word.splits)
        elif name[1].isalnum() and len(name) > 2:
            yield name[:2], Word(word.raw, word.text[2:], word.splits)
        elif "/" in name or ".." in name:
            yield name, word
        is_open = name.startswith("-") and not equals
        is_cluster = is_open and re.fullmatch(r"-[A-Za-z]{2,}o", name) is not None
        option = ("-o" if is_cluster else name) if is_open else ""


def _path_value(word: Word) -> Word:
    """Return the path in `name=path` and `html:path`."""
    text = re.sub(r"^[a-z-]+:(?!//)(?=[./])", "", word.text.rpartition("=")[2])
    return Word(word.raw, text, word.splits) if text != word.text else word


def _first_operand(words: Sequence[Word]) -> int:
    operands = (place for place, word in enumerate(words) if not word.plain.startswith("-"))
    return next(operands, len(words))


def _paths_in(word: Word) -> Iterator[Word]:
    """Yield what a program may read as a path in a word: all of it, and what follows a character
    that does not belong to a name (`CREATE:../x`), or a letter of an option (`-xf../y`)."""
    text = word.text
    if not word.is_literal or _ADDRESS.match(text) or text in _DEVICES:
        return
    starts = _START_IN_TEXT if re.search(r"\s", text) else _START
    for match in starts.finditer(text):
        path = text[match.start() :]
        if "/" in path or path.startswith(".."):
            yield Word(word.raw, path, word.splits)


_ADDRESS = compile_late(
    r"(?:https?|wss?|s?ftps?|ssh|git|svn|s3|gs|oci|docker|redis|amqps?|mysql|mongodb"
    r"|postgres(?:ql)?)(?:\+\w+)?://[^/]"
)
_START = compile_late(r"\A|(?<![./])(?=\.\.(?:/|\Z))|(?<=[^\w./*?~^$-])[/~]|(?<=[=:,])(?=\w[^/]*/)")
_START_IN_TEXT = compile_late(r"(?:\A|(?<=[=:,@]))(?:\.\.(?=/|\Z)|[/~])")
"""In sentences, paths often follow a blank."""


def _is_elsewhere(text: str) -> bool:
    """Whether it is not a local file: an address, `host:file`, or standard output."""
    return text in ("", "-") or ":" in text.partition("/")[0]


def _at_file(word: Word) -> Word | None:
    match = _AT_FILE.fullmatch(word.text.removeprefix("file://") or word.text)
    if match is None:
        is_file = word.text.startswith("file://")
        return Word(word.raw, word.text.removeprefix("file://")) if is_file else None
    return Word(word.raw, match[1])


def _path(word: Word) -> Word:
    """Return the file in `HEAD:file`, `key=file`, `@file`, `id=x,src=file` and the like."""
    text = word.text.removeprefix("file://")
    if ",src=" in text or ",source=" in text:
        text = re.split(r",(?:src|source)=", text)[1].partition(",")[0]
    else:
        text = re.split("[=:]", text)[-1]
    return Word(word.raw, text.removeprefix("@") or ".")
