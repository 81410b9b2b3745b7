"""File accesses of archivers and of programs that copy over the network."""

from __future__ import annotations

import re
from collections.abc import Sequence

from permissions.base.text.star_pattern import UNKNOWN
from permissions.shell.access import HERE, Access, AccessKind, attached_values, each, names
from permissions.shell.arguments import Arguments, split_arguments
from permissions.shell.syntax import Word

_TAR_VALUED = "fCbTXKNgVLHFI"
_TAR_VALUED_LONG = names(
    "--file --directory --exclude --files-from --exclude-from --transform --xform --owner --group "
    "--strip-components --listed-incremental --use-compress-program --to-command --index-file "
    "--info-script --new-volume-script --rsh-command --rmt-command"
)
_TAR_LONG = _TAR_VALUED_LONG | names(
    "--extract --get --list --create --to-stdout --one-top-level --absolute-names --remove-files "
    "--checkpoint --checkpoint-action --append --update --delete --concatenate --diff --compare"
)


def tar_arguments(words: Sequence[Word]) -> Arguments:
    """Split tar's arguments; old style and shortened names are spelt out."""
    first = words[0].plain if words else ""
    rewritten = list(words)
    if first and not first.startswith("-") and re.fullmatch(r"[A-Za-z]+", first):
        # `tar xzf a.tgz`: old style, the letters take their values from the following words.
        order = [letter for letter in first if letter in _TAR_VALUED]
        values = list(words[1 : 1 + len(order)])
        rewritten = [Word(first, "-" + letter) for letter in first if letter not in order]
        for letter, value in zip(order, values, strict=False):
            rewritten.extend((Word(first, f"-{letter}"), value))
        rewritten.extend(words[1 + len(order) :])
    return split_arguments(
        [_spelt_out(word) for word in rewritten], valued=_TAR_VALUED, valued_long=_TAR_VALUED_LONG
    )


def _spelt_out(word: Word) -> Word:
    name, equals, _ = word.plain.partition("=")
    if not name.startswith("--") or len(name) < 4 or name in _TAR_LONG:
        return word
    meant = [option for option in sorted(_TAR_LONG) if option.startswith(name)]
    if not meant:
        return word
    return Word(word.raw, meant[0] + word.text[len(name) :] if equals else meant[0], word.splits)


def tar(words: Sequence[Word]) -> list[Access]:
    """Return what tar reads, writes and where it unpacks."""
    found = tar_arguments(words)
    lists = found.values("-g", "--listed-incremental", "--index-file")
    return [*_tar(found), *each(AccessKind.WRITE, lists)]


def _tar(found: Arguments) -> list[Access]:
    archives = [word for word in found.values("-f", "--file") if word.text != "-"]
    folders = found.values("-C", "--directory", "--one-top-level")
    listing = found.values("-T", "--files-from", "-X", "--exclude-from")
    if found.has("-x", "--extract", "--get"):
        to_output = found.has("-O", "--to-stdout")
        places = each(AccessKind.WRITE, folders or (() if to_output else (HERE,)))
        if found.has("-P", "--absolute-names") and not to_output:
            # The archive alone says where.
            places.append(Access(AccessKind.WRITE, Word("tar -P", UNKNOWN)))
        return [*each(AccessKind.READ, archives), *places, *each(AccessKind.READ, listing)]
    if found.has("-t", "--list"):
        return [*each(AccessKind.READ, archives), *each(AccessKind.READ, folders)]
    members = () if folders else found.operands
    kind = AccessKind.REMOVE if found.has("--remove-files") else AccessKind.READ
    return [
        *each(AccessKind.WRITE, archives),
        *each(AccessKind.READ, folders),
        *each(kind, members),
        *each(AccessKind.READ, listing),
    ]


def unzip(words: Sequence[Word]) -> list[Access]:
    """Return what unzip reads and where it unpacks."""
    found = split_arguments(words, valued="dxP")
    archives = each(AccessKind.READ, found.operands[:1])
    if found.has("-l", "-t", "-Z", "-p", "-v") and not takes_back(words):
        return archives
    return [*archives, *each(AccessKind.WRITE, found.values("-d") or (HERE,))]


def takes_back(words: Sequence[Word]) -> bool:
    """Does a second dash take an option of unzip back, as in `-l --l` and `-l-l`?"""
    return any(word.plain.startswith("-") and "-" in word.plain[1:] for word in words)


def zip_archive(words: Sequence[Word]) -> list[Access]:
    """Return what zip reads and writes."""
    found = split_arguments(words, valued="xibtn")
    kind = AccessKind.REMOVE if found.has("-m", "--move") else AccessKind.READ
    return [*each(AccessKind.WRITE, found.operands[:1]), *each(kind, found.operands[1:])]


def seven_zip(words: Sequence[Word]) -> list[Access]:
    """Return what 7z reads, writes and where it unpacks; capital letters mean the same to it."""
    folders = [
        Word(word.raw, word.text[2:], word.splits)
        for word in words
        if word.plain.startswith(("-o", "-O"))
    ]
    command, *operands = [word for word in words if not word.plain.startswith("-")] or [
        Word("", "")
    ]
    letters = command.text.lower()
    if letters in ("l", "t", "b", "i", "h") or (not letters and not folders):
        return each(AccessKind.READ, operands[:1])
    if letters in ("a", "d", "u", "rn"):
        return [*each(AccessKind.WRITE, operands[:1]), *each(AccessKind.READ, operands[1:])]
    places = each(AccessKind.WRITE, folders or (HERE,))
    return [*each(AccessKind.READ, operands[:1]), *places]


def java_archive(words: Sequence[Word]) -> list[Access]:
    """Return what jar reads and writes; its letters are those of an old tar."""
    letters = words[0].plain.lstrip("-") if words else ""
    archive = words[1:2] if "f" in letters else ()
    if "x" in letters:
        places = attached_values(words, frozenset({"-C", "--dir"}))
        return [*each(AccessKind.READ, archive), *each(AccessKind.WRITE, places or (HERE,))]
    kind = AccessKind.READ if "t" in letters else AccessKind.WRITE
    return each(kind, archive)


def compressor(words: Sequence[Word]) -> list[Access]:
    """Return what gzip and its like read or replace."""
    found = split_arguments(words, valued="SbT")
    if found.has("-c", "--stdout", "-t", "--test", "-l", "--list"):
        return each(AccessKind.READ, found.operands)
    return each(AccessKind.WRITE, found.operands)


_CURL_VALUED = "AbcCdDeEFhHKmoPQrtTuUwxXyYz"


_CURL_VALUED_LONG = names(
    "--output --dump-header --cookie-jar --trace --trace-ascii --stderr --libcurl --hsts --alt-svc "
    "--etag-save --output-dir --config --cookie --data --data-binary --data-raw --data-urlencode "
    "--form --header --request --url --user --user-agent --upload-file --proxy --max-time --retry "
    "--cacert --cert --key --referer --write-out --connect-timeout --resolve --range --json"
)


def curl_arguments(words: Sequence[Word]) -> Arguments:
    """Split curl's arguments."""
    return split_arguments(words, valued=_CURL_VALUED, valued_long=_CURL_VALUED_LONG)


def curl(words: Sequence[Word]) -> list[Access]:
    """Return the files that curl writes and sends."""
    found = curl_arguments(words)
    written = found.values(
        *("-o", "--output", "-D", "--dump-header", "-c", "--cookie-jar", "--trace"),
        *("--trace-ascii", "--stderr", "--libcurl", "--hsts", "--alt-svc", "--etag-save"),
        "--output-dir",
    )
    writes = [word for word in written if word.text != "-"]
    if found.has("-O", "--remote-name", "--remote-name-all", "-J", "--remote-header-name"):
        writes.append(HERE)
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
        *each(AccessKind.WRITE, writes),
        *each(AccessKind.READ, [word for word in reads if word.text not in ("-", ".")]),
    ]


def wget(words: Sequence[Word]) -> list[Access]:
    """Return the files that wget writes and sends."""
    found = split_arguments(
        words,
        valued="oaeBtOTwQPUlARDIiX",
        valued_long=names("--output-document --directory-prefix --output-file --input-file"),
    )
    if found.has("--spider"):
        return []
    documents = found.values("-O", "--output-document")
    writes = [word for word in documents if word.text != "-"]
    if not documents:
        writes.extend(found.values("-P", "--directory-prefix") or (HERE,))
    writes.extend(found.values("-o", "--output-file", "-a", "--append-output"))
    return [
        *each(AccessKind.WRITE, writes),
        *each(AccessKind.READ, found.values("-i", "--input-file", "--post-file", "--body-file")),
    ]


_RSYNC_VALUED_LONG = names(
    "--rsh --rsync-path --exclude --include --filter --files-from --exclude-from --include-from "
    "--temp-dir --backup-dir --suffix --log-file --log-file-format --partial-dir --compare-dest "
    "--copy-dest --link-dest --password-file --port --bwlimit --timeout --contimeout --max-size "
    "--min-size --chmod --chown --usermap --groupmap --out-format --info --debug --block-size "
    "--modify-window --compress-level --skip-compress --max-delete --address --sockopts --iconv "
    "--remote-option --checksum-choice --compress-choice --write-batch --read-batch --max-alloc "
    "--only-write-batch --protocol --stop-after --stop-at --copy-as --early-input --outbuf"
)


def synchronise(words: Sequence[Word]) -> list[Access]:
    """Return the local files of rsync, most of whose letters are switches."""
    return _copied(split_arguments(words, valued="efTBM@", valued_long=_RSYNC_VALUED_LONG))


def remote_copy(words: Sequence[Word]) -> list[Access]:
    """Return the local files of scp."""
    return _copied(split_arguments(words, valued="cDFiJloPSX"))


def _copied(found: Arguments) -> list[Access]:
    operands = found.operands

    def is_local(word: Word) -> bool:
        return ":" not in word.text.partition("/")[0]

    sources = AccessKind.REMOVE if found.has("--remove-source-files") else AccessKind.READ
    return [
        *each(sources, [word for word in operands[:-1] if is_local(word)]),
        *each(AccessKind.WRITE, [word for word in operands[-1:] if is_local(word)]),
    ]


def split_file(words: Sequence[Word]) -> list[Access]:
    """Return what split reads and where it writes."""
    found = split_arguments(words, valued="abClnt", valued_long=_SPLIT_VALUED_LONG)
    operands = found.operands
    return [
        *each(AccessKind.READ, operands[:1]),
        *each(AccessKind.WRITE, operands[1:2] or (HERE,)),
    ]


_SPLIT_VALUED_LONG = names(
    "--bytes --lines --line-bytes --number --suffix-length --filter --additional-suffix --separator"
)


def patch(words: Sequence[Word]) -> list[Access]:
    """Return what patch reads and changes."""
    found = split_arguments(
        words, valued="BdDFgiopVxYzr", valued_long=names("--input --output --directory")
    )
    if found.has("--dry-run"):
        return [
            *each(AccessKind.READ, [*found.values("-i", "--input"), *found.operands[:2]]),
            *each(AccessKind.WRITE, found.values("-o", "--output")),
        ]
    places = (*found.values("-d", "--directory", "-o", "--output"), *found.operands[:1])
    return [
        *each(AccessKind.READ, (*found.values("-i", "--input"), *found.operands[1:2])),
        # The patch itself names the files; all of them may be below here.
        *each(AccessKind.WRITE, places or (HERE,)),
    ]


def copy_in_out(words: Sequence[Word]) -> list[Access]:
    """Return what cpio reads and where it unpacks."""
    found = split_arguments(words, valued="DOFHIRMEC", valued_long=names("--directory --file"))
    if found.has("-i", "--extract", "-p", "--pass-through"):
        places = (*found.values("-D", "--directory"), *found.operands[:1])
        return each(AccessKind.WRITE, places or (HERE,))
    return each(AccessKind.WRITE, found.values("-O", "-F", "--file"))


def converter(words: Sequence[Word]) -> list[Access]:
    """Return what a converter of pictures or films writes: its last operand, and maybe others."""
    operands = split_arguments(words, valued="i").operands
    paths = [word for word in operands[:-1] if "/" in word.text and word.is_literal]
    return each(AccessKind.WRITE, [*paths, *operands[-1:]])
