"""Which files a known program reads, writes or removes, from its arguments alone.

Covers the programs people and models use on files every day; an unknown program has no entry
and touches whatever it likes, which is why only a rule or a person can allow it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

from permissions.shell.arguments import Arguments, split_arguments
from permissions.shell.syntax import Word


class AccessKind(Enum):
    """What happens to the file."""

    READ = "read"
    WRITE = "write"
    REMOVE = "remove"
    """Deleted or moved away, with everything below it."""
    CHANGE_DIR = "cd"
    PLACE = "place"
    """A folder in which a program changes files of its own choice (git's work tree)."""


@dataclass(frozen=True, slots=True)
class Access:
    """One file that a command touches."""

    kind: AccessKind
    path: Word


_HERE = Word(".", ".")

_Reader = Callable[[Sequence[Word]], list[Access]]


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _all(kind: AccessKind, words: Sequence[Word]) -> list[Access]:
    return [Access(kind, word) for word in words]


def accesses(program: str, words: Sequence[Word]) -> list[Access]:
    """Return what `program` touches when it is given `words`; [] for programs not known."""
    reader = _SPECIAL.get(program)
    if reader is not None:
        return reader(words)
    if program in _READERS:
        valued, skip = _READERS[program]
        operands = split_arguments(words, valued=valued).operands
        return _all(AccessKind.READ, operands[skip:])
    if program in _WRITERS:
        valued, skip = _WRITERS[program]
        found = split_arguments(words, valued=valued, valued_long=_WRITER_LONG)
        skipped = 0 if found.has("--reference") else skip
        return [
            *_all(AccessKind.READ, found.values("--reference")),
            *_all(AccessKind.WRITE, found.operands[skipped:]),
        ]
    if program in _OUTPUT_OPTION:
        return _all(AccessKind.WRITE, _attached(words, _OUTPUT_OPTION[program]))
    if program in _COMPRESSORS:
        return _compressor(words)
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
_WRITER_LONG = _set("--reference --mode --size --date --time")

_OUTPUT_OPTION = {
    **dict.fromkeys(
        ("gcc", "cc", "g++", "c++", "clang", "clang++", "ld", "rustc", "as", "tcc", "ghc"),
        _set("-o"),
    ),
    "go": _set("-o"),
    "pandoc": _set("-o --output"),
    "openssl": _set("-out"),
    "ssh-keygen": _set("-f"),
    "shuf": _set("-o --output"),
    "protoc": _set("-o"),
    "strace": _set("-o"),
    "dot": _set("-o"),
}
_COMPRESSORS = _set(
    "gzip gunzip bzip2 bunzip2 xz unxz lzma unlzma zstd unzstd lz4 compress uncompress"
)
_INTERPRETERS = _set(
    "bash sh zsh dash ksh python python2 python3 node ruby perl php lua Rscript deno bun"
)


def _attached(words: Sequence[Word], names: frozenset[str]) -> list[Word]:
    """Return values of options that take theirs attached, after `=`, or in the next word."""
    found: list[Word] = []
    for position, word in enumerate(words):
        text = word.plain
        if text in names:
            found.extend(words[position + 1 : position + 2])
            continue
        for name in names:
            if text.startswith(f"{name}="):
                found.append(Word(word.raw, word.text[len(name) + 1 :], word.splits))
            elif len(name) == 2 and text.startswith(name):
                found.append(Word(word.raw, word.text[2:], word.splits))
    return found


def _remove(words: Sequence[Word]) -> list[Access]:
    return _all(AccessKind.REMOVE, split_arguments(words).operands)


def _copy(words: Sequence[Word]) -> list[Access]:
    return _transfer(words, AccessKind.READ)


def _move(words: Sequence[Word]) -> list[Access]:
    return _transfer(words, AccessKind.REMOVE)


def _transfer(words: Sequence[Word], source: AccessKind) -> list[Access]:
    found = split_arguments(
        words, valued="tSmog", valued_long=_set("--target-directory --suffix --mode")
    )
    targets = found.values("-t", "--target-directory")
    if targets:
        return [*_all(source, found.operands), *_all(AccessKind.WRITE, targets)]
    if len(found.operands) < 2:
        return _all(AccessKind.WRITE, found.operands)
    return [
        *_all(source, found.operands[:-1]),
        *_all(AccessKind.WRITE, found.operands[-1:]),
        # Into a folder, the copy keeps the name of its source.
        *_into(found.operands[:-1], found.operands[-1]),
    ]


def _into(sources: Sequence[Word], folder: Word) -> list[Access]:
    found: list[Access] = []
    for source in sources:
        name = source.text.rstrip("/").rpartition("/")[2]
        if name and name not in (".", "..") and folder.text.endswith(("/", ".")):
            joined = f"{folder.text.rstrip('/')}/{name}"
            found.append(Access(AccessKind.WRITE, Word(source.raw, joined, source.splits)))
    return found


def _install(words: Sequence[Word]) -> list[Access]:
    found = split_arguments(words, valued="mogtS", valued_long=_set("--mode --owner --group"))
    if found.has("-d", "--directory"):
        return _all(AccessKind.WRITE, found.operands)
    return _copy(words)


def _link(words: Sequence[Word]) -> list[Access]:
    found = split_arguments(words, valued="tS", valued_long=_set("--target-directory --suffix"))
    is_symbolic = found.has("-s", "--symbolic")
    targets = found.values("-t", "--target-directory")
    operands = found.operands
    sources, places = (operands[:-1], operands[-1:]) if len(operands) > 1 else (operands, (_HERE,))
    if targets:
        sources, places = operands, targets
    # A second name for a file lets it be changed from here.
    kind = AccessKind.READ if is_symbolic else AccessKind.WRITE
    return [*_all(kind, sources), *_all(AccessKind.WRITE, places)]


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
    found = split_arguments(words, valued="dtr", valued_long=_set("--reference --date --time"))
    return [
        *_all(AccessKind.READ, found.values("-r", "--reference")),
        *_all(AccessKind.WRITE, found.operands),
    ]


def _sort(words: Sequence[Word]) -> list[Access]:
    found = split_arguments(
        words, valued="kStoT", valued_long=_set("--output --key --files0-from --field-separator")
    )
    return [
        *_all(AccessKind.READ, found.operands),
        *_all(AccessKind.READ, found.values("--files0-from")),
        *_all(AccessKind.WRITE, found.values("-o", "--output", "-T", "--temporary-directory")),
    ]


def _uniq(words: Sequence[Word]) -> list[Access]:
    operands = split_arguments(words, valued="fsw").operands
    return [*_all(AccessKind.READ, operands[:1]), *_all(AccessKind.WRITE, operands[1:2])]


def _tree(words: Sequence[Word]) -> list[Access]:
    found = split_arguments(words, valued="LPIoHT")
    return [
        *_all(AccessKind.READ, found.operands),
        *_all(AccessKind.WRITE, found.values("-o")),
    ]


_GREP_VALUED_LONG = _set(
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
        *_all(AccessKind.READ, found.values("-f", "--file")),
        *_all(AccessKind.READ, operands),
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
            found.extend(_all(AccessKind.READ, words[position + 2 : position + 3]))
            position += 3
        elif text in ("--args", "--jsonargs"):
            break
        else:
            kept.append(words[position])
            position += 1
    arguments = split_arguments(kept, valued="fL", valued_long=_set("--from-file --indent --tab"))
    files = arguments.values("-f", "--from-file")
    operands = arguments.operands if files else arguments.operands[1:]
    return [*found, *_all(AccessKind.READ, files), *_all(AccessKind.READ, operands)]


def _yaml_query(words: Sequence[Word]) -> list[Access]:
    found = split_arguments(words, valued="oIps")
    kind = AccessKind.WRITE if found.has("-i", "--inplace", "--in-place") else AccessKind.READ
    operands = found.operands
    if operands and operands[0].text in ("eval", "eval-all", "e", "ea"):
        operands = operands[1:]
    return _all(kind, operands[1:])


def _sed(words: Sequence[Word]) -> list[Access]:
    found = sed_arguments(words)
    has_script = found.has("-e", "--expression", "-f", "--file")
    operands = found.operands if has_script else found.operands[1:]
    in_place = found.has("-i", "--in-place")
    return [
        *_all(AccessKind.READ, found.values("-f", "--file")),
        *_all(AccessKind.WRITE if in_place else AccessKind.READ, operands),
    ]


def sed_arguments(words: Sequence[Word]) -> Arguments:
    """Split sed's arguments; `-i` has its suffix attached only."""
    plain: list[Word] = []
    for word in words:
        # `-i.bak` and `-n -i` alike: what follows the letter in the same word is the suffix.
        match = re.match(r"(-[nErsuz]*i)[^-]", word.plain)
        plain.append(Word(word.raw, match[1], word.splits) if match else word)
    return split_arguments(
        plain, valued="efl", valued_long=_set("--expression --file --line-length")
    )


def _awk(words: Sequence[Word]) -> list[Access]:
    found = split_arguments(words, valued="Fvfil", valued_long=_set("--file --assign --include"))
    files = found.values("-f", "--file")
    operands = found.operands if files else found.operands[1:]
    data = [word for word in operands if not re.match(r"[A-Za-z_]\w*=", word.text)]
    in_place = any(value.text.startswith("inplace") for value in found.values("-i", "--include"))
    return [
        *_all(AccessKind.READ, files),
        *_all(AccessKind.WRITE if in_place else AccessKind.READ, data),
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
    found = _all(kind, roots or [_HERE])
    for position, text in enumerate(texts):
        if text in ("-fprint", "-fprint0", "-fprintf", "-fls"):
            found.extend(_all(AccessKind.WRITE, words[position + 1 : position + 2]))
        elif text in ("-newer", "-samefile", "-files0-from") or text.startswith("-newer"):
            found.extend(_all(AccessKind.READ, words[position + 1 : position + 2]))
    return found


def _fd(words: Sequence[Word]) -> list[Access]:
    found = split_arguments(words, valued="edtExXSojC", valued_long=_set("--extension --max-depth"))
    return [
        *_all(AccessKind.READ, found.operands[1:]),
        *_all(AccessKind.READ, found.values("-C", "--base-directory")),
    ]


def _tar(words: Sequence[Word]) -> list[Access]:
    first = words[0].plain if words else ""
    rewritten = list(words)
    if first and not first.startswith("-") and re.fullmatch(r"[A-Za-z]+", first):
        # `tar xzf a.tgz`: old style, the letters take their values from the following words.
        order = [letter for letter in first if letter in "fCbTXKNgVLHFI"]
        values = list(words[1 : 1 + len(order)])
        rewritten = [Word(first, "-" + letter) for letter in first if letter not in order]
        for letter, value in zip(order, values, strict=False):
            rewritten.extend((Word(first, f"-{letter}"), value))
        rewritten.extend(words[1 + len(order) :])
    found = split_arguments(
        rewritten,
        valued="fCbTXKNgVLHFI",
        valued_long=_set(
            "--file --directory --exclude --files-from --exclude-from --transform --owner --group "
            "--strip-components --listed-incremental --one-top-level --use-compress-program"
        ),
    )
    archives = [word for word in found.values("-f", "--file") if word.text != "-"]
    folders = found.values("-C", "--directory", "--one-top-level")
    listing = found.values("-T", "--files-from", "-X", "--exclude-from")
    if found.has("-x", "--extract", "--get"):
        to_output = found.has("-O", "--to-stdout")
        places = _all(AccessKind.WRITE, folders or (() if to_output else (_HERE,)))
        return [*_all(AccessKind.READ, archives), *places, *_all(AccessKind.READ, listing)]
    if found.has("-t", "--list"):
        return [*_all(AccessKind.READ, archives), *_all(AccessKind.READ, folders)]
    members = () if folders else found.operands
    kind = AccessKind.REMOVE if found.has("--remove-files") else AccessKind.READ
    return [
        *_all(AccessKind.WRITE, archives),
        *_all(AccessKind.READ, folders),
        *_all(kind, members),
        *_all(AccessKind.READ, listing),
    ]


def _unzip(words: Sequence[Word]) -> list[Access]:
    found = split_arguments(words, valued="dxP")
    archives = _all(AccessKind.READ, found.operands[:1])
    if found.has("-l", "-t", "-Z", "-p", "-v"):
        return archives
    return [*archives, *_all(AccessKind.WRITE, found.values("-d") or (_HERE,))]


def _zip(words: Sequence[Word]) -> list[Access]:
    operands = split_arguments(words, valued="xibtn").operands
    return [*_all(AccessKind.WRITE, operands[:1]), *_all(AccessKind.READ, operands[1:])]


def _compressor(words: Sequence[Word]) -> list[Access]:
    found = split_arguments(words, valued="SbT")
    if found.has("-c", "--stdout", "-t", "--test", "-l", "--list"):
        return _all(AccessKind.READ, found.operands)
    return _all(AccessKind.WRITE, found.operands)


_CURL_VALUED = "AbcCdDeEFhHKmoPQrtTuUwxXyYz"
_CURL_VALUED_LONG = _set(
    "--output --dump-header --cookie-jar --trace --trace-ascii --stderr --libcurl --hsts --alt-svc "
    "--etag-save --output-dir --config --cookie --data --data-binary --data-raw --data-urlencode "
    "--form --header --request --url --user --user-agent --upload-file --proxy --max-time --retry "
    "--cacert --cert --key --referer --write-out --connect-timeout --resolve --range --json"
)


def curl_arguments(words: Sequence[Word]) -> Arguments:
    """Split curl's arguments."""
    return split_arguments(words, valued=_CURL_VALUED, valued_long=_CURL_VALUED_LONG)


def _curl(words: Sequence[Word]) -> list[Access]:
    found = curl_arguments(words)
    written = found.values(
        *("-o", "--output", "-D", "--dump-header", "-c", "--cookie-jar", "--trace"),
        *("--trace-ascii", "--stderr", "--libcurl", "--hsts", "--alt-svc", "--etag-save"),
        "--output-dir",
    )
    writes = [word for word in written if word.text != "-"]
    if found.has("-O", "--remote-name", "--remote-name-all", "-J", "--remote-header-name"):
        writes.append(_HERE)
    reads = list(found.values("-T", "--upload-file", "-K", "--config"))
    for value in found.values("-d", "--data", "--data-binary", "--data-urlencode", "--json", "-H"):
        _, at, name = value.text.partition("@")
        if at and value.text.startswith("@"):
            reads.append(Word(value.raw, name, value.splits))
    for value in found.values("-F", "--form"):
        match = re.match(r"[^=]*=[@<]([^;]*)", value.text)
        if match:
            reads.append(Word(value.raw, match[1], value.splits))
    return [
        *_all(AccessKind.WRITE, writes),
        *_all(AccessKind.READ, [word for word in reads if word.text not in ("-", ".")]),
    ]


def _wget(words: Sequence[Word]) -> list[Access]:
    found = split_arguments(
        words,
        valued="oaeBtOTwQPUlARDIiX",
        valued_long=_set("--output-document --directory-prefix --output-file --input-file"),
    )
    if found.has("--spider"):
        return []
    documents = found.values("-O", "--output-document")
    writes = [word for word in documents if word.text != "-"]
    if not documents:
        writes.extend(found.values("-P", "--directory-prefix") or (_HERE,))
    writes.extend(found.values("-o", "--output-file", "-a", "--append-output"))
    return [
        *_all(AccessKind.WRITE, writes),
        *_all(AccessKind.READ, found.values("-i", "--input-file", "--post-file", "--body-file")),
    ]


def _remote_copy(words: Sequence[Word]) -> list[Access]:
    found = split_arguments(words, valued="efTBcFiJloPSDX", valued_long=_set("--rsh --exclude"))
    operands = found.operands

    def is_local(word: Word) -> bool:
        return ":" not in word.text.partition("/")[0]

    sources = AccessKind.REMOVE if found.has("--remove-source-files") else AccessKind.READ
    return [
        *_all(sources, [word for word in operands[:-1] if is_local(word)]),
        *_all(AccessKind.WRITE, [word for word in operands[-1:] if is_local(word)]),
    ]


def _split(words: Sequence[Word]) -> list[Access]:
    operands = split_arguments(words, valued="abClnt").operands
    return [
        *_all(AccessKind.READ, operands[:1]),
        *_all(AccessKind.WRITE, operands[1:2] or (_HERE,)),
    ]


def _patch(words: Sequence[Word]) -> list[Access]:
    found = split_arguments(
        words, valued="BdDFgiopVxYzr", valued_long=_set("--input --output --directory")
    )
    if found.has("--dry-run"):
        return _all(AccessKind.READ, found.values("-i", "--input"))
    places = (*found.values("-d", "--directory", "-o", "--output"), *found.operands[:1])
    return [
        *_all(AccessKind.READ, (*found.values("-i", "--input"), *found.operands[1:2])),
        # The patch itself names the files; all of them may be below here.
        *_all(AccessKind.WRITE, places or (_HERE,)),
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
    found = split_arguments(words, valued="CfIjlo", valued_long=_set("--directory --file"))
    return _all(AccessKind.READ, found.values("-C", "--directory", "-f", "--file", "--makefile"))


_GIT_READ_ONLY = _set(
    "status log diff show rev-parse ls-files ls-tree blame describe shortlog cat-file rev-list "
    "merge-base name-rev for-each-ref show-ref grep diff-tree diff-index diff-files whatchanged "
    "count-objects check-ignore check-attr var version help annotate cherry range-diff"
)
_GIT_VALUED_LONG = _set("--git-dir --work-tree --namespace --exec-path --config-env")


def git_parts(words: Sequence[Word]) -> tuple[Arguments, str, tuple[Word, ...]]:
    """Return git's own options, its subcommand ("" when unknown) and what follows it."""
    found = split_arguments(words, valued="Cc", valued_long=_GIT_VALUED_LONG, stops_at_operand=True)
    if not found.operands or not found.operands[0].is_literal:
        return found, "", ()
    return found, found.operands[0].text, found.operands[1:]


def _git(words: Sequence[Word]) -> list[Access]:
    found, subcommand, rest = git_parts(words)
    places = found.values("-C", "--git-dir", "--work-tree")
    kind = AccessKind.READ if subcommand in _GIT_READ_ONLY else AccessKind.PLACE
    result = [
        # Git changes its own folder; what counts is where the work tree is.
        Access(kind, Word(place.raw, place.text.removesuffix("/.git").removesuffix(".git") or "."))
        for place in places
    ]
    if kind is AccessKind.PLACE and not places and subcommand not in ("", "clone", "init"):
        result.append(Access(AccessKind.PLACE, _HERE))
    if subcommand in ("diff", "log", "show", "archive", "format-patch"):
        outputs = _attached(rest, _set("--output -o --output-directory"))
        result.extend(_all(AccessKind.WRITE, outputs))
    if subcommand == "diff" and any(word.text == "--no-index" for word in rest):
        result.extend(_all(AccessKind.READ, split_arguments(rest).operands))
    if subcommand in ("clone", "init"):
        operands = split_arguments(rest, valued="bocujC", valued_long=_GIT_CLONE_LONG).operands
        place = operands[1:2] if subcommand == "clone" else operands[:1]
        result.extend(_all(AccessKind.WRITE, place or (_HERE,)))
    if subcommand == "worktree" and rest[:1] and rest[0].text == "add":
        operands = split_arguments(rest[1:], valued="bB").operands
        result.extend(_all(AccessKind.WRITE, operands[:1]))
    if subcommand in ("rm", "mv") and not places:
        result.extend(_all(AccessKind.REMOVE, split_arguments(rest).operands))
    return result


_GIT_CLONE_LONG = _set(
    "--branch --depth --origin --config --template --reference --separate-git-dir"
)

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
    "tar": _tar,
    "gtar": _tar,
    "bsdtar": _tar,
    "unzip": _unzip,
    "zip": _zip,
    "curl": _curl,
    "wget": _wget,
    "rsync": _remote_copy,
    "scp": _remote_copy,
    "split": _split,
    "csplit": _split,
    "patch": _patch,
    "cd": _change_dir,
    "pushd": _change_dir,
    "make": _make,
    "gmake": _make,
    "git": _git,
}
