"""Which files a known program reads, writes or removes, from its arguments alone.

Covers the programs users and models use on files every day; an unknown program has no entry
and touches whatever it likes, which is why only a rule or a user can allow it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from permissions.shell.access import HERE, Access, AccessKind, each, names
from permissions.shell.arguments import Arguments, split_arguments
from permissions.shell.programs.archives_and_copies import (
    compressor,
    converter,
    copy_in_out,
    curl,
    java_archive,
    patch,
    remote_copy,
    seven_zip,
    split_file,
    synchronise,
    tar,
    unzip,
    wget,
    zip_archive,
)
from permissions.shell.programs.argument_files import mentions
from permissions.shell.programs.containers import container
from permissions.shell.programs.developer_tools import tool_accesses
from permissions.shell.programs.find_command import find
from permissions.shell.programs.git_command import git
from permissions.shell.programs.global_settings import settings_accesses
from permissions.shell.programs.output_options import output_accesses
from permissions.shell.programs.reading_programs import READERS, read_operands
from permissions.shell.programs.text_tools import (
    awk,
    fd,
    grep,
    input_output,
    json_query,
    ripgrep,
    searcher,
    sed,
    sort,
    tree,
    uniq,
    yaml_query,
)
from permissions.shell.syntax import Word

_Reader = Callable[[Sequence[Word]], list[Access]]


def accesses(program: str, words: Sequence[Word]) -> list[Access]:
    """Return what `program` touches when it is given `words`; [] for programs not known."""
    if program.startswith("python") and len(words) > 1 and words[0].text == "-m":
        return accesses(words[1].text, words[2:])
    return [
        *_file_accesses(program, words),
        *tool_accesses(program, words),
        *mentions(program, words),
        *settings_accesses(program, words),
    ]


def _file_accesses(program: str, words: Sequence[Word]) -> list[Access]:
    reader = _SPECIAL.get(program)
    if reader is not None:
        return reader(words)
    if program in READERS:
        return read_operands(program, words)
    if program in _WRITERS:
        valued, skip = _WRITERS[program]
        found = split_arguments(words, valued=valued, valued_long=_WRITER_LONG)
        modes = _DASHED_MODES.get(program)
        has_mode = modes is not None and any(modes.fullmatch(word.plain) for word in words)
        skipped = 0 if has_mode or found.has("--reference") else skip
        return [
            *each(AccessKind.READ, found.values("--reference")),
            *each(AccessKind.WRITE, found.operands[skipped:]),
        ]
    outputs = output_accesses(program, words)
    if outputs is not None:
        return outputs
    if program in _COMPRESSORS:
        return compressor(words)
    if program in _INTERPRETERS:
        return _interpreter(words)
    return []


_WRITERS = {
    "mkdir": ("mZ", 0),
    "rmdir": ("", 0),
    "touch": ("dt", 0),
    "tee": ("", 0),
    "truncate": ("s", 0),
    "mkfifo": ("mZ", 0),
    "chmod": ("", 1),
    "chown": ("", 1),
    "chgrp": ("", 1),
    "chattr": ("vp", 1),
    "setfacl": ("mxMX", 0),
    "setfattr": ("nvx", 0),
    "shred": ("ns", 0),
    "mknod": ("m", 0),
    "nano": ("", 0),
    "ed": ("p", 0),
    "emacs": ("lf", 0),
    "micro": ("", 0),
    "sponge": ("", 0),
    "rename": ("", 1),
    "sqlite3": ("", 0),
    "script": ("cEIOBTtm", 0),
}
_DASHED_MODES = {
    "chmod": re.compile(r"-[cfvR]*[rwxXstugo].*"),
    "chattr": re.compile(r"-[RVf]*[aAcCdDeFijmPsStTu].*"),
}
"""Modes that look like options: `chmod -x file`."""
_WRITER_LONG = names("--reference --mode --size --date --time")

_COMPRESSORS = names(
    "gzip gunzip bzip2 bunzip2 xz unxz lzma unlzma zstd unzstd lz4 compress uncompress"
)
_INTERPRETERS = names(
    "bash sh zsh dash ksh python python2 python3 node ruby perl php lua Rscript deno bun"
)


def _remove(words: Sequence[Word]) -> list[Access]:
    return each(AccessKind.REMOVE, split_arguments(words).operands)


def _copy(words: Sequence[Word]) -> list[Access]:
    links = any(_HARD_LINKS.match(word.plain) for word in words)
    # A second name for a file lets it be changed from here.
    return _transfer(words, AccessKind.WRITE if links else AccessKind.READ)


_HARD_LINKS = re.compile(r"-[A-Za-z]*l|--l")
"""Options of cp that give files another name in place of copying them."""


def _move(words: Sequence[Word]) -> list[Access]:
    return _transfer(words, AccessKind.REMOVE)


def _transfer(words: Sequence[Word], source: AccessKind) -> list[Access]:
    found = split_arguments(words, valued="tSmog", valued_long=_TRANSFER_VALUED_LONG)
    targets = found.values("-t", "--target-directory")
    keeps_path = found.has("--parents")
    if targets:
        folders = [Word(one.raw, f"{one.text}/", one.splits) for one in targets]
        return [
            *each(source, found.operands),
            *each(AccessKind.WRITE, targets),
            *(one for folder in folders for one in _into(found.operands, folder, keeps_path)),
        ]
    if len(found.operands) < 2:
        return each(AccessKind.WRITE, found.operands)
    destinations = _destinations(found, words)
    return [
        *each(source, found.operands[:-1]),
        *each(AccessKind.WRITE, destinations),
        # Into a folder, the copy keeps the name of its source.
        *_into(found.operands[:-1], found.operands[-1], keeps_path),
    ]


_TRANSFER_VALUED_LONG = names(
    "--target-directory --suffix --mode --owner --group --strip-program --sparse --no-preserve"
)


def _destinations(found: Arguments, words: Sequence[Word]) -> Sequence[Word]:
    """Return the last operand, and the one before it where the last may turn out to be none."""
    operands = found.operands
    shortened = {
        word.plain
        for word in words
        if word.plain.startswith("--") and word.plain not in _TRANSFER_VALUED_LONG
    }
    # What follows `--suf` is its value, and the target stands before it.
    is_value = any(one.value is not None and one.name in shortened for one in found.options)
    is_open = len(operands) > 2 and operands[-1].splits
    return operands[-2:] if is_value or is_open else operands[-1:]


def _into(sources: Sequence[Word], folder: Word, keeps_path: bool = False) -> list[Access]:
    is_folder = folder.text.endswith(("/", ".")) or keeps_path
    if not is_folder and not folder.is_literal:
        return []
    found: list[Access] = []
    for source in sources:
        name = source.text.strip("/") if keeps_path else source.text.rstrip("/").rpartition("/")[2]
        if name and name not in (".", "..") and (is_folder or not source.is_unknown):
            joined = f"{folder.text.rstrip('/')}/{name}"
            kind = AccessKind.WRITE if is_folder else AccessKind.INTO
            found.append(Access(kind, Word(source.raw, joined, source.splits)))
    return found


def _install(words: Sequence[Word]) -> list[Access]:
    found = split_arguments(words, valued="mogtS", valued_long=names("--mode --owner --group"))
    if found.has("-d", "--directory"):
        return each(AccessKind.WRITE, found.operands)
    return _copy(words)


def _link(words: Sequence[Word]) -> list[Access]:
    found = split_arguments(words, valued="tS", valued_long=names("--target-directory --suffix"))
    is_symbolic = found.has("-s", "--symbolic")
    targets = found.values("-t", "--target-directory")
    operands = found.operands
    sources, places = operands[:-1], _destinations(found, words)
    if len(operands) < 2:
        sources, places = operands, (HERE,)
    if targets:
        sources, places = operands, targets
    # A second name for a file lets it be changed from here.
    kind = AccessKind.READ if is_symbolic else AccessKind.WRITE
    into = _into(sources, places[-1]) if len(places) == 1 and places[0] is not HERE else []
    if is_symbolic and len(places) == 1 and not found.has("-r", "--relative"):
        end = "/" if targets else ""
        leads = [_seen_from(f"{places[0].text}{end}", source) for source in sources]
        return [*each(kind, leads), *each(AccessKind.WRITE, places), *into]
    return [*each(kind, sources), *each(AccessKind.WRITE, places), *into]


def _seen_from(link: str, source: Word) -> Word:
    """Return what a symbolic link leads to: its text is read from the folder that it is in."""
    folder, slash, _ = link.rpartition("/")
    if not slash or not source.is_literal or source.text.startswith("/") or not link.isascii():
        return source
    return Word(source.raw, f"{folder}/{source.text}")


def _disk_dump(words: Sequence[Word]) -> list[Access]:
    found: list[Access] = []
    for word in words:
        key, _, value = word.text.partition("=")
        piece = Word(word.raw, value, word.splits)
        if key == "of":
            found.append(Access(AccessKind.WRITE, piece))
        elif key == "if":
            found.append(Access(AccessKind.READ, piece))
        elif word.is_unknown and not value:
            found.append(Access(AccessKind.WRITE, word))
    return found


def _hex_dump(words: Sequence[Word]) -> list[Access]:
    # It takes its options one by one: `-ps` is one of them.
    found = split_arguments(words, valued_long=_XXD_VALUED, single_dash=True)
    return input_output(found.operands)


_XXD_VALUED = names("-c -cols -l -len -s -seek -skip -o -offset -g -group -groupsize -n -name -R")


def _touch(words: Sequence[Word]) -> list[Access]:
    found = split_arguments(words, valued="dtr", valued_long=names("--reference --date --time"))
    return [
        *each(AccessKind.READ, found.values("-r", "--reference")),
        *each(AccessKind.WRITE, found.operands),
    ]


def _in_place_interpreter(words: Sequence[Word]) -> list[Access]:
    """Read `perl -pi -e …` and `ruby -i -pe …`; the script itself is not looked into."""
    found = split_arguments(words, valued="eEIMmFCDxKr")
    if not found.has("-i") or not found.has("-e", "-E"):
        return _interpreter(words)
    return each(AccessKind.WRITE, found.operands)


def _interpreter(words: Sequence[Word]) -> list[Access]:
    for word in words:
        text = word.plain
        if text == "-" or (text.startswith("-") and not word.is_literal):
            return []
        if text.startswith(("-", "+")):
            if text in ("-u", "-B", "-E", "-s", "-S", "-I", "-x", "-e", "-v", "-l", "--"):
                if text == "-e":
                    return []
                continue
            return []
        return [Access(AccessKind.READ, word)] if word.is_literal else []
    return []


def _change_dir(words: Sequence[Word]) -> list[Access]:
    operands = split_arguments(words).operands
    if not operands or operands[0].text == "-":
        return []
    return [Access(AccessKind.CHANGE_DIR, operands[0])]


def _make(words: Sequence[Word]) -> list[Access]:
    found = split_arguments(words, valued="CfIjlo", valued_long=names("--directory --file"))
    return [
        *each(AccessKind.PLACE, found.values("-C", "--directory")),
        *each(AccessKind.READ, found.values("-f", "--file", "--makefile")),
    ]


def _cargo(words: Sequence[Word]) -> list[Access]:
    found = split_arguments(words, valued="CZFpj", valued_long=names("--name --vcs --edition"))
    made = found.operands[:1] and found.operands[0].text in ("new", "init", "vendor")
    return [
        *(output_accesses("cargo", words) or ()),
        *each(AccessKind.WRITE, found.operands[1:2] if made else ()),
    ]


def _make_temporary(words: Sequence[Word]) -> list[Access]:
    found = split_arguments(words, valued="p", valued_long=names("--suffix"))
    folders = found.values("-p", "--tmpdir")
    if folders or found.has("-t", "--tmpdir"):
        return each(AccessKind.WRITE, folders)
    return each(AccessKind.WRITE, found.operands)


def _editor(words: Sequence[Word]) -> list[Access]:
    """Read what `vim -c 'w file'` writes beside the files it opens."""
    found = split_arguments(words, valued="cSuiT", valued_long=names("--cmd"))
    written: list[Word] = []
    for value in (*found.values("-c", "--cmd"), *(Word(w.raw, w.text[1:]) for w in words)):
        match = _EDITOR_WRITE.match(value.text)
        if match:
            written.append(Word(value.raw, match[1]))
    operands = [word for word in found.operands if not word.plain.startswith("+")]
    return each(AccessKind.WRITE, [*operands, *written])


_EDITOR_WRITE = re.compile(r":?\s*(?:w|wq|write|sav|saveas|up|update|x)!?\s+(?:>>\s*)?(\S+)")


def _environment(words: Sequence[Word]) -> list[Access]:
    """Read variables that say where git works."""
    found: list[Access] = []
    for word in words:
        name, equals, _ = word.plain.partition("=")
        if equals and name in GIT_PLACES:
            found.append(Access(AccessKind.PLACE, Word(word.raw, word.text[len(name) + 1 :])))
    return found


GIT_PLACES = names("GIT_DIR GIT_WORK_TREE GIT_OBJECT_DIRECTORY GIT_INDEX_FILE")
"""Variables that move git elsewhere."""

_SPECIAL: dict[str, _Reader] = {
    "rm": _remove,
    "unlink": _remove,
    "perl": _in_place_interpreter,
    "ruby": _in_place_interpreter,
    "xxd": _hex_dump,
    "rmdir": _remove,
    "cp": _copy,
    "mv": _move,
    "install": _install,
    "ln": _link,
    "link": _link,
    "dd": _disk_dump,
    "touch": _touch,
    "sort": sort,
    "uniq": uniq,
    "tree": tree,
    "grep": grep,
    "egrep": grep,
    "fgrep": grep,
    "zgrep": grep,
    "rg": ripgrep,
    "ag": searcher,
    "ack": searcher,
    "jq": json_query,
    "yq": yaml_query,
    "sed": sed,
    "gsed": sed,
    "awk": awk,
    "gawk": awk,
    "mawk": awk,
    "nawk": awk,
    "find": find,
    "fd": fd,
    "fdfind": fd,
    "cargo": _cargo,
    "cpio": copy_in_out,
    "ffmpeg": converter,
    "convert": converter,
    "magick": converter,
    "tar": tar,
    "gtar": tar,
    "bsdtar": tar,
    "unzip": unzip,
    "jar": java_archive,
    **dict.fromkeys(("7z", "7za", "7zr"), seven_zip),
    "zip": zip_archive,
    "curl": curl,
    "wget": wget,
    "rsync": synchronise,
    "scp": remote_copy,
    "split": split_file,
    "patch": patch,
    "cd": _change_dir,
    "pushd": _change_dir,
    "make": _make,
    "gmake": _make,
    "git": git,
    **dict.fromkeys(("vi", "vim", "nvim", "ex", "view"), _editor),
    **dict.fromkeys(("env", "export", "declare", "typeset"), _environment),
    "mktemp": _make_temporary,
    "docker": container,
    "podman": container,
    "kubectl": container,
}
