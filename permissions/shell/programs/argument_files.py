"""Files that tools are handed to read or to send: for rules about paths, not for the scope.

A tool that runs under a rule of its own is not asked about for each file it is given; a rule that
denies reading one is meant for these, too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from permissions.shell.access import Access, AccessKind, attached_values, each, names
from permissions.shell.programs.code_names import RUNS_CODE, code_accesses
from permissions.shell.syntax import Word

_NONE: frozenset[str] = frozenset()


def _options(table: str) -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for line in table.strip().splitlines():
        programs, _, options = line.partition(":")
        found.update(dict.fromkeys(programs.split(), names(options)))
    return found


_VALUES = _options(
    """
    openssl: -in -inkey -certfile -CAfile -passin
    ssh sftp scp: -F -i
    docker podman: --env-file -f --file --secret
    docker-compose: --env-file -f --file
    kubectl oc: -f --filename --from-file --from-env-file --kubeconfig
    helm: -f --values --set-file
    node deno bun: --env-file
    ffmpeg: -i
    xargs: -a --arg-file
    mail mutt: -a
    dotenv: -e -f
    psql: -f --file
    terraform tofu: -var-file
    az: -f --file
    conda mamba: -f --file
    ansible-playbook ansible: -i --inventory --vault-password-file
    gpg gpg2: --passphrase-file --import
    gh: -F --body-file --notes-file --input
    wget: --load-cookies --certificate --private-key --ca-certificate
    curl: --cert --key --cacert --netrc-file -b --cookie --etag-compare
    journalctl: --file
    dig: -f
    rsync: --files-from --exclude-from --include-from --password-file --early-input
    yq: --from-file
    pandoc: -H -B -A --include-in-header --include-before-body --include-after-body --metadata-file
    tcpdump: -r
    """
)
"""Options whose value is a file that is read."""
_READERS = names(
    "csplit shuf look m4 cpp bc dc pandoc iconv gpg gpg2 vimdiff column colrm convert magick gcc "
    "cc g++ clang enscript lpr lp mail mutt openssl basenc ptx tsort ul xmllint pygmentize glow "
    "highlight mdcat pico joe jed code open xdg-open uuencode age sops ansible-vault dialog "
    "whiptail catdoc pdftotext csvlook csvcut mlr dasel lolcat"
)
"""Programs all of whose operands are read."""
_SUBCOMMANDS = {
    "gh": {"gist create": 0, "release upload": 1, "secret set": 0},
    "aws": {"s3 cp": 0, "s3 mv": 0, "s3 sync": 0},
    "gsutil": {"cp": 0, "mv": 0, "rsync": 0},
    "gcloud": {"storage cp": 0, "storage rsync": 0, "compute scp": 0},
    "rclone": {"copy": 0, "copyto": 0, "sync": 0, "move": 0, "cat": 0},
    "git": {"stash show": 0, "stash push": 0}
    | dict.fromkeys(
        "add diff log show blame annotate grep hash-object cat-file archive whatchanged".split(), 0
    ),
}
_SENDERS = {
    program: {tuple(subcommand.split()): skip for subcommand, skip in table.items()}
    for program, table in _SUBCOMMANDS.items()
}
"""Programs that read what stands behind a subcommand, from that operand on."""
_AT_FILE = re.compile(r"(?:[\w.-]+=?)?@(.+)")
"""`@file` and `name=@file`, as curl and its like send files."""
_AT_PROGRAMS = names("curl http https xh gh ab")
_EDITORS = names("perl ruby")
_KNOWN = _VALUES.keys() | _READERS | _SENDERS.keys() | _AT_PROGRAMS | _EDITORS | RUNS_CODE


def mentions(program: str, words: Sequence[Word]) -> list[Access]:
    """Return the files among the arguments, of words that are written out only."""
    if program not in _KNOWN:
        return []
    found = attached_values(words, _VALUES[program]) if program in _VALUES else []
    operands = [word for word in words if not word.plain.startswith("-")]
    if program in _READERS:
        found.extend(operands)
    if program in _SENDERS:
        for length in (1, 2):
            subcommand = tuple([word.text for word in operands[:length]])
            skip = _SENDERS[program].get(subcommand) if len(subcommand) == length else None
            if skip is not None:
                found.extend(operands[length + skip :])
    if program in _EDITORS and any(re.match(r"-\w*[np]", word.plain) for word in words):
        found.extend(operands)
    if program in _AT_PROGRAMS:
        found.extend(_sent(words))
    named = code_accesses(program, words) if program in RUNS_CODE else ()
    return [
        *each(AccessKind.MENTIONED, [_path(word) for word in found if word.is_literal]),
        *named,
    ]


def _sent(words: Sequence[Word]) -> list[Word]:
    found: list[Word] = []
    for word in words:
        match = _AT_FILE.fullmatch(word.text)
        if match:
            found.append(Word(word.raw, match[1]))
        elif word.text.startswith("file://"):
            found.append(Word(word.raw, word.text.removeprefix("file://")))
    return found


def _path(word: Word) -> Word:
    """Return the file in `HEAD:file`, `key=file`, `id=x,src=file` and the like."""
    text = word.text
    if ",src=" in text or ",source=" in text:
        text = re.split(r",(?:src|source)=", text)[1].partition(",")[0]
    elif "=" in text:
        text = text.rpartition("=")[2]
    elif ":" in text:
        text = text.rpartition(":")[2]
    return Word(word.raw, text or ".")
