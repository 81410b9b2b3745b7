"""Programs all of whose operands are files that they read, with the options that take a value.

A letter that is wrongly listed as one with a value would hide the file behind it, so each program
has its own, as GNU and BSD agree on them; where they differ it is left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from permissions.shell.access import Access, AccessKind, each, names
from permissions.shell.arguments import split_arguments
from permissions.shell.syntax import Word


def _letters(table: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in table.strip().splitlines():
        programs, _, letters = line.partition(":")
        found.update(dict.fromkeys(programs.split(), letters.strip()))
    return found


READERS = _letters(
    """
    cat rev wc sum md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum comm:
    nl: bdfhilnsvw
    tac: s
    cmp: in
    head tail: ncs
    less more most: pPtxyz
    bat batcat: lHrm
    od: AjNtS
    hexdump hd: nse
    strings: neTsU
    base64 base32 fold: w
    fmt: wpg
    expand unexpand: t
    column: soc
    pr: hlNoDW
    cut: bcdf
    paste: d
    join: aejotv12
    ls dir vdir: IwT
    stat: c
    readlink realpath getfacl lsattr source .:
    du: dtB
    df: xtB
    file: FPe
    zcat bzcat xzcat zless zipinfo gzcat zstdcat lz4cat xzless bzless zmore:
    diff colordiff sdiff diff3: UCIxFSWD
    vimdiff delta nm readelf size ldd gofmt:
    shellcheck: sefSWoC
    json.tool:
    objdump: jMbm
    """
)
"""Program: letters of its options that take the next word and are no file."""
_NAMED = names(
    "--files0-from --from-file --to-file --exclude-from --reference --files-from --magic-file "
    "--format-file --lesskey-file"
)
"""Long options whose value is read."""


_FILE_LETTERS = {
    "file": "fm",
    "diff": "X",
    "du": "X",
    "hexdump": "f",
    "hd": "f",
    "less": "k",
}
"""Letters whose value is read."""
_COUNT = re.compile(r"[-+][0-9]")
_AWAITS_COUNT = re.compile(r"-[A-Za-z]*[ncs]")


def read_operands(program: str, words: Sequence[Word]) -> list[Access]:
    """Return the files that one of READERS is given."""
    if program in ("head", "tail"):
        # `head -5c file`: the number is the value. In `tail -n +5 file` it is one.
        words = [
            word
            for before, word in zip(("", *(one.plain for one in words)), words, strict=False)
            if _AWAITS_COUNT.fullmatch(before) or not _COUNT.match(word.plain)
        ]
    letters = _FILE_LETTERS.get(program, "")
    found = split_arguments(words, valued=READERS[program] + letters, valued_long=_NAMED)
    given = found.values(*_NAMED, *(f"-{letter}" for letter in letters))
    return each(AccessKind.READ, [*found.operands, *given])
