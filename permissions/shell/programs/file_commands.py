"""Program records of commands that copy, move, create and remove files."""

from __future__ import annotations

from collections.abc import Sequence

from permissions.base.text.late_pattern import compile_late
from permissions.shell.access import HERE, Access, AccessKind, each, names
from permissions.shell.arguments import Arguments, split_arguments
from permissions.shell.program import Program, Risk
from permissions.shell.programs.common_arguments import listed_files, local_copy, writes
from permissions.shell.syntax import Word


def remove(words: Sequence[Word]) -> list[Access]:
    return each(AccessKind.REMOVE, split_arguments(words).operands)


def copy(words: Sequence[Word]) -> list[Access]:
    links = any(_HARD_LINKS.match(word.plain) for word in words)
    # The file can be changed through its second name.
    return _transfer(words, AccessKind.WRITE if links else AccessKind.READ)


_HARD_LINKS = compile_late(r"-[A-Za-z]*l|--l")
"""Options of cp that create hard links to files instead of copies."""


def move(words: Sequence[Word]) -> list[Access]:
    return _transfer(words, AccessKind.REMOVE)


def _transfer(words: Sequence[Word], source: AccessKind) -> list[Access]:
    arguments = split_arguments(words, value_letters="tSmog", value_options=_TRANSFER_VALUED_LONG)
    targets = arguments.values("-t", "--target-directory")
    has_source_path = arguments.has("--parents")
    if targets:
        directories = [Word(one.raw, f"{one.text}/", one.splits) for one in targets]
        return [
            *each(source, arguments.operands),
            *each(AccessKind.WRITE, targets),
            *(
                one
                for directory in directories
                for one in _accesses_into(arguments.operands, directory, has_source_path)
            ),
        ]
    if len(arguments.operands) < 2:
        return each(AccessKind.WRITE, arguments.operands)
    destinations = _destinations(arguments, words)
    return [
        *each(source, arguments.operands[:-1]),
        *each(AccessKind.WRITE, destinations),
        # In a directory, the copy has the name of its source.
        *_accesses_into(arguments.operands[:-1], arguments.operands[-1], has_source_path),
    ]


_TRANSFER_VALUED_LONG = names(
    "--target-directory --suffix --mode --owner --group --strip-program --sparse --no-preserve"
)


def _destinations(arguments: Arguments, words: Sequence[Word]) -> Sequence[Word]:
    """Return the last operand, and the one before it if the last may expand to nothing."""
    operands = arguments.operands
    short_names = {
        word.plain
        for word in words
        if word.plain.startswith("--") and word.plain not in _TRANSFER_VALUED_LONG
    }
    # The word after `--suf` is its value, and the target precedes it.
    is_value = any(one.value is not None and one.name in short_names for one in arguments.options)
    is_open = len(operands) > 2 and operands[-1].splits
    return operands[-2:] if is_value or is_open else operands[-1:]


def _accesses_into(
    sources: Sequence[Word], directory: Word, has_source_path: bool = False
) -> list[Access]:
    is_directory = directory.text.endswith(("/", ".")) or has_source_path
    if not is_directory and not directory.is_literal:
        return []
    results: list[Access] = []
    kind = AccessKind.WRITE if is_directory else AccessKind.INTO
    for source in sources:
        path = source.text.rstrip("/")
        name = path.lstrip("/") if has_source_path else path.rpartition("/")[2]
        if name not in ("", ".", "..") and (is_directory or not source.is_unknown):
            target = f"{directory.text.rstrip('/')}/{name}"
            results.append(Access(kind, Word(source.raw, target, source.splits)))
    return results


def install(words: Sequence[Word]) -> list[Access]:
    arguments = split_arguments(
        words, value_letters="mogtS", value_options=names("--mode --owner --group")
    )
    if arguments.has("-d", "--directory"):
        return each(AccessKind.WRITE, arguments.operands)
    return copy(words)


def link(words: Sequence[Word]) -> list[Access]:
    arguments = split_arguments(
        words, value_letters="tS", value_options=names("--target-directory --suffix")
    )
    is_symbolic = arguments.has("-s", "--symbolic")
    targets = arguments.values("-t", "--target-directory")
    operands = arguments.operands
    sources, places = operands[:-1], _destinations(arguments, words)
    if targets or len(operands) < 2:
        sources, places = operands, targets or (HERE,)
    # The file can be changed through its second name.
    kind = AccessKind.READ if is_symbolic else AccessKind.WRITE
    inner_accesses = (
        _accesses_into(sources, places[-1]) if len(places) == 1 and places[0] is not HERE else []
    )
    if is_symbolic and len(places) == 1 and not arguments.has("-r", "--relative"):
        end = "/" if targets else ""
        leads = [_seen_from(f"{places[0].text}{end}", source) for source in sources]
        return [*each(kind, leads), *each(AccessKind.WRITE, places), *inner_accesses]
    return [*each(kind, sources), *each(AccessKind.WRITE, places), *inner_accesses]


def _seen_from(link: str, source: Word) -> Word:
    """Return the target of a symbolic link; a relative one starts from the link's directory."""
    directory, slash, _ = link.rpartition("/")
    if not slash or not source.is_literal or source.text.startswith("/") or not link.isascii():
        return source
    return Word(source.raw, f"{directory}/{source.text}")


def disk_dump(words: Sequence[Word]) -> list[Access]:
    results: list[Access] = []
    for word in words:
        key, _, value = word.text.partition("=")
        piece = Word(word.raw, value, word.splits)
        if key == "of":
            results.append(Access(AccessKind.WRITE, piece))
        elif key == "if":
            results.append(Access(AccessKind.READ, piece))
        elif word.is_unknown and not value:
            results.append(Access(AccessKind.WRITE, word))
    return results


def touch(words: Sequence[Word]) -> list[Access]:
    arguments = split_arguments(
        words, value_letters="dtr", value_options=names("--reference --date --time")
    )
    return [
        *each(AccessKind.READ, arguments.values("-r", "--reference")),
        *each(AccessKind.WRITE, arguments.operands),
    ]


def make_temporary(words: Sequence[Word]) -> list[Access]:
    arguments = split_arguments(words, value_letters="p", value_options=names("--suffix"))
    directories = arguments.values("-p", "--tmpdir")
    if directories or arguments.has("-t", "--tmpdir"):
        return each(AccessKind.WRITE, directories)
    return each(AccessKind.WRITE, arguments.operands)


_RSYNC_VALUED_LONG = names(
    "--rsh --rsync-path --exclude --include --filter --files-from --exclude-from --include-from "
    "--temp-dir --backup-dir --suffix --log-file --log-file-format --partial-dir --compare-dest "
    "--copy-dest --link-dest --password-file --port --bwlimit --timeout --contimeout --max-size "
    "--min-size --chmod --chown --usermap --groupmap --out-format --info --debug --block-size "
    "--modify-window --compress-level --skip-compress --max-delete --address --sockopts --iconv "
    "--remote-option --checksum-choice --compress-choice --write-batch --read-batch --max-alloc "
    "--only-write-batch --protocol --stop-after --stop-at --copy-as --early-input --outbuf"
)


def synchronize(words: Sequence[Word]) -> list[Access]:
    """Return the local files of rsync; most of its letters are switches."""
    arguments = split_arguments(words, value_letters="efTBM@", value_options=_RSYNC_VALUED_LONG)
    return [*local_copy(arguments), *listed_files(arguments)]


def split_file(words: Sequence[Word]) -> list[Access]:
    """Return what split reads and where it writes."""
    arguments = split_arguments(words, value_letters="abClnt", value_options=_SPLIT_VALUED_LONG)
    operands = arguments.operands
    return [*each(AccessKind.READ, operands[:1]), *each(AccessKind.WRITE, operands[1:2] or (HERE,))]


_SPLIT_VALUED_LONG = names(
    "--bytes --lines --line-bytes --number --suffix-length --filter --additional-suffix --separator"
)


def patch(words: Sequence[Word]) -> list[Access]:
    """Return what patch reads and changes."""
    arguments = split_arguments(
        words,
        value_letters="BdDFgiopVxYzr",
        value_options=names("--input --output --directory") | _PATCH_KEEPS,
    )
    if arguments.has("--dry-run"):
        return [
            *each(AccessKind.READ, [*arguments.values("-i", "--input"), *arguments.operands[:2]]),
            *each(AccessKind.WRITE, arguments.values("-o", "--output")),
        ]
    places = (*arguments.values("-d", "--directory", "-o", "--output"), *arguments.operands[:1])
    return [
        *each(AccessKind.READ, (*arguments.values("-i", "--input"), *arguments.operands[1:2])),
        # The patch names the files; all of them may be below the current directory.
        *each(AccessKind.WRITE, places or (HERE,)),
        *each(AccessKind.WRITE, arguments.values("-r", "-B", "-Y", *_PATCH_KEEPS)),
    ]


_PATCH_KEEPS = names("--reject-file --prefix --basename-prefix")
"""Options that say where patch keeps what it rejects and replaces."""


PROGRAMS = (
    Program("cp", accesses=copy, edits=True),
    Program("mv", accesses=move, edits=True),
    Program("ln link", accesses=link),
    Program("install", accesses=install, risk=Risk(long="--strip-program", value_letters="mogtS")),
    Program("rm rmdir", accesses=remove, edits=True),
    Program("unlink", accesses=remove),
    Program("mkdir", accesses=writes("mZ"), edits=True),
    Program("touch", accesses=touch, edits=True),
    Program("dd", accesses=disk_dump),
    Program("tee sponge", accesses=writes()),
    Program("truncate", accesses=writes("s")),
    Program("mkfifo", accesses=writes("mZ")),
    Program("chmod", accesses=writes("", 1, modes=r"-[cfvR]*[rwxXstugo].*")),
    Program("chown chgrp rename", accesses=writes("", 1)),
    Program("chattr", accesses=writes("vp", 1, modes=r"-[RVf]*[aAcCdDeFijmPsStTu].*")),
    Program("setfacl", accesses=writes("mxMX")),
    Program("setfattr", accesses=writes("nvx")),
    Program("shred", accesses=writes("ns")),
    Program("mknod", accesses=writes("m")),
    Program("mktemp", accesses=make_temporary),
    Program("split", accesses=split_file, risk=Risk(long="--filter", value_letters="abClnt",
        value_options="--additional-suffix"), command_options="--filter"),
    Program("patch", accesses=patch),
    Program("rsync", accesses=synchronize, risk=Risk("eTM", "--backup-dir --daemon --log-file "
        "--only-write-batch --partial-dir  --remote-option --rsh --rsync-path --temp-dir "
        "--write-batch", value_letters="fB"), command_options="-e --rsh --rsync-path", network="*",
        logs_in=True),
)  # fmt: skip
