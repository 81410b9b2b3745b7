"""Which files a known program reads, writes or removes, from its arguments alone.

Covers the programs people and models use on files every day; an unknown program has no entry
and touches whatever it likes, which is why only a rule or a person can allow it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from permissions.shell.access import HERE, Access, AccessKind, attached_values, each, names
from permissions.shell.arguments import Arguments, split_arguments
from permissions.shell.git_command import git
from permissions.shell.syntax import Word
from permissions.shell.transfers import (
    compressor,
    curl,
    patch,
    remote_copy,
    split_file,
    tar,
    unzip,
    wget,
    zip_archive,
)

_Reader = Callable[[Sequence[Word]], list[Access]]


def accesses(program: str, words: Sequence[Word]) -> list[Access]:
    """Return what `program` touches when it is given `words`; [] for programs not known."""
    reader = _SPECIAL.get(program)
    if reader is not None:
        return reader(words)
    if program in _READERS:
        valued, skip = _READERS[program]
        operands = split_arguments(words, valued=valued).operands
        return each(AccessKind.READ, operands[skip:])
    if program in _WRITERS:
        valued, skip = _WRITERS[program]
        found = split_arguments(words, valued=valued, valued_long=_WRITER_LONG)
        skipped = 0 if found.has("--reference") else skip
        return [
            *each(AccessKind.READ, found.values("--reference")),
            *each(AccessKind.WRITE, found.operands[skipped:]),
        ]
    if program in _OUTPUT_OPTION:
        return each(AccessKind.WRITE, attached_values(words, _OUTPUT_OPTION[program]))
    if program in _COMPRESSORS:
        return compressor(words)
    if program in _INTERPRETERS:
        return _interpreter(words)
    return []


# Programs whose operands are all read: letters of options with values, operands to skip.
_READERS = {
    **dict.fromkeys("cat tac rev nl wc cksum sum md5sum sha1sum sha224sum".split(), ("", 0)),
    **dict.fromkeys("sha256sum sha384sum sha512sum b2sum comm cmp".split(), ("in", 0)),
    **dict.fromkeys("head tail".split(), ("ncs", 0)),
    **dict.fromkeys("less more most bat batcat".split(), ("pPtTxyzl", 0)),
    **dict.fromkeys("od xxd hexdump hd strings".split(), ("AjNtwSnscelog", 0)),
    **dict.fromkeys("base64 base32 fold fmt expand unexpand column pr".split(), ("wtsdlN", 0)),
    **dict.fromkeys("cut paste join".split(), ("bcdfo12tjae", 0)),
    **dict.fromkeys("ls dir vdir".split(), ("IwT", 0)),
    **dict.fromkeys("stat readlink realpath".split(), ("cft", 0)),
    **dict.fromkeys("du df".split(), ("dtXB", 0)),
    **dict.fromkeys("file zcat bzcat xzcat zless".split(), ("FfmPe", 0)),
    **dict.fromkeys("diff colordiff sdiff diff3".split(), ("UCIxXFSWD", 0)),
    "getfacl": ("", 0),
    "lsattr": ("", 0),
    "source": ("", 0),
    ".": ("", 0),
}  # fmt: skip

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
    "shred": ("ns", 0),
    "mknod": ("m", 0),
    "vi": ("cSuiT", 0),
    "vim": ("cSuiT", 0),
    "nvim": ("cSui", 0),
    "nano": ("", 0),
    "ed": ("p", 0),
}
_WRITER_LONG = names("--reference --mode --size --date --time")

_OUTPUT_OPTION = {
    **dict.fromkeys(
        ("gcc", "cc", "g++", "c++", "clang", "clang++", "ld", "rustc", "as", "tcc", "ghc"),
        names("-o"),
    ),
    "go": names("-o"),
    "pandoc": names("-o --output"),
    "openssl": names("-out"),
    "ssh-keygen": names("-f"),
    "shuf": names("-o --output"),
    "protoc": names("-o"),
    "strace": names("-o"),
    "dot": names("-o"),
}
_COMPRESSORS = names(
    "gzip gunzip bzip2 bunzip2 xz unxz lzma unlzma zstd unzstd lz4 compress uncompress"
)
_INTERPRETERS = names(
    "bash sh zsh dash ksh python python2 python3 node ruby perl php lua Rscript deno bun"
)


def _remove(words: Sequence[Word]) -> list[Access]:
    return each(AccessKind.REMOVE, split_arguments(words).operands)


def _copy(words: Sequence[Word]) -> list[Access]:
    return _transfer(words, AccessKind.READ)


def _move(words: Sequence[Word]) -> list[Access]:
    return _transfer(words, AccessKind.REMOVE)


def _transfer(words: Sequence[Word], source: AccessKind) -> list[Access]:
    found = split_arguments(
        words, valued="tSmog", valued_long=names("--target-directory --suffix --mode")
    )
    targets = found.values("-t", "--target-directory")
    if targets:
        return [*each(source, found.operands), *each(AccessKind.WRITE, targets)]
    if len(found.operands) < 2:
        return each(AccessKind.WRITE, found.operands)
    return [
        *each(source, found.operands[:-1]),
        *each(AccessKind.WRITE, _destinations(found.operands)),
        # Into a folder, the copy keeps the name of its source.
        *_into(found.operands[:-1], found.operands[-1]),
    ]


def _destinations(operands: Sequence[Word]) -> Sequence[Word]:
    """Return the last operand, and the one before it where the last may turn out empty."""
    count = 2 if len(operands) > 2 and operands[-1].splits else 1
    return operands[-count:]


def _into(sources: Sequence[Word], folder: Word) -> list[Access]:
    found: list[Access] = []
    for source in sources:
        name = source.text.rstrip("/").rpartition("/")[2]
        if name and name not in (".", "..") and folder.text.endswith(("/", ".")):
            joined = f"{folder.text.rstrip('/')}/{name}"
            found.append(Access(AccessKind.WRITE, Word(source.raw, joined, source.splits)))
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
    sources, places = operands[:-1], _destinations(operands)
    if len(operands) < 2:
        sources, places = operands, (HERE,)
    if targets:
        sources, places = operands, targets
    # A second name for a file lets it be changed from here.
    kind = AccessKind.READ if is_symbolic else AccessKind.WRITE
    return [*each(kind, sources), *each(AccessKind.WRITE, places)]


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


def _touch(words: Sequence[Word]) -> list[Access]:
    found = split_arguments(words, valued="dtr", valued_long=names("--reference --date --time"))
    return [
        *each(AccessKind.READ, found.values("-r", "--reference")),
        *each(AccessKind.WRITE, found.operands),
    ]


def _sort(words: Sequence[Word]) -> list[Access]:
    found = split_arguments(
        words, valued="kStoT", valued_long=names("--output --key --files0-from --field-separator")
    )
    return [
        *each(AccessKind.READ, found.operands),
        *each(AccessKind.READ, found.values("--files0-from")),
        *each(AccessKind.WRITE, found.values("-o", "--output", "-T", "--temporary-directory")),
    ]


def _uniq(words: Sequence[Word]) -> list[Access]:
    operands = split_arguments(words, valued="fsw").operands
    return [*each(AccessKind.READ, operands[:1]), *each(AccessKind.WRITE, operands[1:2])]


def _tree(words: Sequence[Word]) -> list[Access]:
    found = split_arguments(words, valued="LPIoHT")
    return [
        *each(AccessKind.READ, found.operands),
        *each(AccessKind.WRITE, found.values("-o")),
    ]


_GREP_VALUED_LONG = names(
    "--regexp --file --max-count --after-context --before-context --context --include --exclude "
    "--exclude-dir --color --glob --type --type-not --replace --iglob --max-depth --sort --threads"
)


def _grep(words: Sequence[Word]) -> list[Access]:
    return _search(words, "efmABCdD")


def _ripgrep(words: Sequence[Word]) -> list[Access]:
    return _search(words, "efgtTmABCjMrdE")


def _search(words: Sequence[Word], valued: str) -> list[Access]:
    found = split_arguments(words, valued=valued, valued_long=_GREP_VALUED_LONG)
    has_pattern = found.has("-e", "--regexp", "-f", "--file", "--files")
    operands = found.operands if has_pattern else found.operands[1:]
    return [
        *each(AccessKind.READ, found.values("-f", "--file")),
        *each(AccessKind.READ, operands),
    ]


def _json_query(words: Sequence[Word]) -> list[Access]:
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
    arguments = split_arguments(kept, valued="fL", valued_long=names("--from-file --indent --tab"))
    files = arguments.values("-f", "--from-file")
    operands = arguments.operands if files else arguments.operands[1:]
    return [*found, *each(AccessKind.READ, files), *each(AccessKind.READ, operands)]


def _yaml_query(words: Sequence[Word]) -> list[Access]:
    found = split_arguments(words, valued="oIps")
    kind = AccessKind.WRITE if found.has("-i", "--inplace", "--in-place") else AccessKind.READ
    operands = found.operands
    if operands and operands[0].text in ("eval", "eval-all", "e", "ea"):
        operands = operands[1:]
    return each(kind, operands[1:])


def _sed(words: Sequence[Word]) -> list[Access]:
    found = sed_arguments(words)
    has_script = found.has("-e", "--expression", "-f", "--file")
    operands = found.operands if has_script else found.operands[1:]
    in_place = found.has("-i", "--in-place")
    return [
        *each(AccessKind.READ, found.values("-f", "--file")),
        *each(AccessKind.WRITE if in_place else AccessKind.READ, operands),
    ]


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


def _awk(words: Sequence[Word]) -> list[Access]:
    found = split_arguments(words, valued="Fvfil", valued_long=names("--file --assign --include"))
    files = found.values("-f", "--file")
    operands = found.operands if files else found.operands[1:]
    data = [word for word in operands if not re.match(r"[A-Za-z_]\w*=", word.text)]
    in_place = any(value.text.startswith("inplace") for value in found.values("-i", "--include"))
    return [
        *each(AccessKind.READ, files),
        *each(AccessKind.WRITE if in_place else AccessKind.READ, data),
    ]


def _find(words: Sequence[Word]) -> list[Access]:
    roots: list[Word] = []
    for word in words:
        text = word.plain
        if text in ("-H", "-L", "-P") or text.startswith("-O"):
            continue
        if text.startswith(("-", "(", "!", ",")):
            break
        roots.append(word)
    texts = [word.plain for word in words]
    # Tests choose what is deleted below the roots; the roots themselves are only a place.
    kind = AccessKind.WRITE if "-delete" in texts else AccessKind.READ
    found = each(kind, roots or [HERE])
    for position, text in enumerate(texts):
        if text in ("-fprint", "-fprint0", "-fprintf", "-fls"):
            found.extend(each(AccessKind.WRITE, words[position + 1 : position + 2]))
        elif text in ("-newer", "-samefile", "-files0-from") or text.startswith("-newer"):
            found.extend(each(AccessKind.READ, words[position + 1 : position + 2]))
    return found


def _fd(words: Sequence[Word]) -> list[Access]:
    found = split_arguments(
        words, valued="edtExXSojC", valued_long=names("--extension --max-depth")
    )
    return [
        *each(AccessKind.READ, found.operands[1:]),
        *each(AccessKind.READ, found.values("-C", "--base-directory")),
    ]


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
    return each(AccessKind.READ, found.values("-C", "--directory", "-f", "--file", "--makefile"))


_SPECIAL: dict[str, _Reader] = {
    "rm": _remove,
    "unlink": _remove,
    "rmdir": _remove,
    "cp": _copy,
    "mv": _move,
    "install": _install,
    "ln": _link,
    "link": _link,
    "dd": _disk_dump,
    "touch": _touch,
    "sort": _sort,
    "uniq": _uniq,
    "tree": _tree,
    "grep": _grep,
    "egrep": _grep,
    "fgrep": _grep,
    "zgrep": _grep,
    "rg": _ripgrep,
    "ag": _ripgrep,
    "ack": _ripgrep,
    "jq": _json_query,
    "yq": _yaml_query,
    "sed": _sed,
    "gsed": _sed,
    "awk": _awk,
    "gawk": _awk,
    "mawk": _awk,
    "nawk": _awk,
    "find": _find,
    "fd": _fd,
    "fdfind": _fd,
    "tar": tar,
    "gtar": tar,
    "bsdtar": tar,
    "unzip": unzip,
    "zip": zip_archive,
    "curl": curl,
    "wget": wget,
    "rsync": remote_copy,
    "scp": remote_copy,
    "split": split_file,
    "csplit": split_file,
    "patch": patch,
    "cd": _change_dir,
    "pushd": _change_dir,
    "make": _make,
    "gmake": _make,
    "git": git,
}
