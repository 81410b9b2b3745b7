"""Program records of archivers and compressors."""

from __future__ import annotations

import re
from collections.abc import Sequence

from permissions.base.text.star_pattern import UNKNOWN
from permissions.shell.access import HERE, Access, AccessKind, each, names
from permissions.shell.arguments import Arguments, could_be_option, split_arguments
from permissions.shell.program import Program, ReadOnly, Risk
from permissions.shell.programs.common_arguments import (
    compressor,
    listed_files,
    option_risk,
    reads,
)
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
    """Split tar's arguments; old-style and abbreviated options are normalized."""
    first = words[0].plain if words else ""
    rewritten = list(words)
    if first and not first.startswith("-") and re.fullmatch(r"[A-Za-z]+", first):
        # `tar xzf a.tgz`: in the old style, the letters take their values from the following words.
        order = [letter for letter in first if letter in _TAR_VALUED]
        values = list(words[1 : 1 + len(order)])
        rewritten = [Word(first, "-" + letter) for letter in first if letter not in order]
        for letter, value in zip(order, values, strict=False):
            rewritten.extend((Word(first, f"-{letter}"), value))
        rewritten.extend(words[1 + len(order) :])
    return split_arguments(
        [_spelled_out(word) for word in rewritten],
        value_letters=_TAR_VALUED,
        value_options=_TAR_VALUED_LONG,
    )


def _spelled_out(word: Word) -> Word:
    name, equals, _ = word.plain.partition("=")
    if not name.startswith("--") or len(name) < 4 or name in _TAR_LONG:
        return word
    full_names = [option for option in sorted(_TAR_LONG) if option.startswith(name)]
    if not full_names:
        return word
    return Word(
        word.raw, full_names[0] + word.text[len(name) :] if equals else full_names[0], word.splits
    )


def tar(words: Sequence[Word]) -> list[Access]:
    """Return what tar reads and writes, and where it unpacks."""
    arguments = tar_arguments(words)
    lists = arguments.values("-g", "--listed-incremental", "--index-file")
    return [*_tar(arguments), *each(AccessKind.WRITE, lists)]


def _tar(arguments: Arguments) -> list[Access]:
    archives = [word for word in arguments.values("-f", "--file") if word.text != "-"]
    directories = arguments.values("-C", "--directory", "--one-top-level")
    listing = arguments.values("-T", "--files-from", "-X", "--exclude-from")
    if arguments.has("-x", "--extract", "--get"):
        to_output = arguments.has("-O", "--to-stdout")
        places = each(AccessKind.WRITE, directories or (() if to_output else (HERE,)))
        if arguments.has("-P", "--absolute-names") and not to_output:
            # Only the archive determines where.
            places.append(Access(AccessKind.WRITE, Word("tar -P", UNKNOWN)))
        return [*each(AccessKind.READ, archives), *places, *each(AccessKind.READ, listing)]
    if arguments.has("-t", "--list"):
        return [*each(AccessKind.READ, archives), *each(AccessKind.READ, directories)]
    members = () if directories else arguments.operands
    kind = AccessKind.REMOVE if arguments.has("--remove-files") else AccessKind.READ
    return [
        *each(AccessKind.WRITE, archives),
        *each(AccessKind.READ, directories),
        *each(kind, members),
        *each(AccessKind.READ, listing),
        *listed_files(arguments, "-T"),
    ]


def unzip(words: Sequence[Word]) -> list[Access]:
    """Return what unzip reads and where it unpacks."""
    arguments = split_arguments(words, value_letters="dxP")
    archives = each(AccessKind.READ, arguments.operands[:1])
    if arguments.has("-l", "-t", "-Z", "-p", "-v") and not takes_back(words):
        return archives
    return [*archives, *each(AccessKind.WRITE, arguments.values("-d") or (HERE,))]


def takes_back(words: Sequence[Word]) -> bool:
    """Return whether a second dash negates an option of unzip, as in `-l --l` and `-l-l`."""
    return any(word.plain.startswith("-") and "-" in word.plain[1:] for word in words)


_TAR_LISTS = names(
    "-t --list -f --file -v --verbose -z --gzip -j --bzip2 -J --xz -a --auto-compress -C "
    "--directory --wildcards --strip-components --full-time"
)


_RISK = Risk(
    "IFP",
    "--checkpoint-action --to-command --use-compress-program --rsh-command --info-script "
    "--new-volume-script --rmt-command --absolute-names --transform --xform",
)


def tar_risk(_program: str, words: Sequence[Word]) -> str:
    """Return which option of tar runs a program or leaves the directory."""
    return option_risk("tar", _RISK, words, tar_arguments(words))


def lists_tar(words: Sequence[Word]) -> bool:
    """Return whether tar only lists a local archive. A colon in its name means another machine."""
    arguments = tar_arguments(words)
    archives = arguments.values("-f", "--file")
    return (
        arguments.has("-t", "--list")
        and not arguments.injectable
        and all(option.name in _TAR_LISTS for option in arguments.options)
        and all(word.is_literal and ":" not in word.text for word in archives)
    )


def lists_zip(words: Sequence[Word]) -> bool:
    """Return whether unzip only lists an archive."""
    lists = any(word.plain in ("-l", "-Z", "-Z1", "-t", "-v") for word in words[:1])
    return lists and not takes_back(words) and not any(map(could_be_option, words))


PROGRAMS = (
    Program("tar", accesses=tar, risk_check=tar_risk, read_only=lists_tar, shows_version=True,
        command_options="-F -I --checkpoint-action --info-script "
        "--new-volume-script --rsh-command --to-command --use-compress-program"),
    Program("gtar bsdtar", accesses=tar, risk_check=tar_risk,
        command_options="-F -I --checkpoint-action --info-script --new-volume-script --rsh-command "
        "--to-command --use-compress-program"),
    Program("unzip", accesses=unzip, read_only=lists_zip),
    Program("zip", risk=Risk("T", "--test --unzip-command", value_letters="xibtn")),
    Program("7z 7za 7zr jar", builds=True),
    Program("cpio", builds=True, risk=Risk(long="--rsh-command", value_letters="DOFHIRMEC")),
    Program("zipinfo", accesses=reads(), read_only=ReadOnly("12slmvhtzT")),
    Program("gzip gunzip bzip2 bunzip2 xz unxz lzma unlzma unzstd compress uncompress",
        accesses=compressor),
    Program("zstd lz4", accesses=compressor),
)  # fmt: skip
