"""What is known of programs that fetch files over the network."""

from __future__ import annotations

import re
from collections.abc import Sequence

from permissions.shell.access import HERE, Access, AccessKind, each, names
from permissions.shell.arguments import (
    Arguments,
    Option,
    split_arguments,
)
from permissions.shell.programs.common_arguments import (
    STANDARD_OUTPUT,
)
from permissions.shell.programs.program import (
    Program,
    Risk,
)
from permissions.shell.syntax import (
    Word,
)

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


_CURL_RISKY = (
    *("-o", "--output", "-O", "--remote-name", "--remote-name-all", "-J", "-K", "--config"),
    *("-D", "--dump-header", "-c", "--cookie-jar", "--trace", "--trace-ascii", "--stderr"),
    *(
        "--libcurl",
        "--ssl-sessions",
        "--hsts",
        "--alt-svc",
        "--etag-save",
        "--output-dir",
        "-T",
        "--upload-file",
    ),
    *("--remote-header-name", "--engine", "-E", "--unix-socket", "--abstract-unix-socket"),
)


_CURL_KNOWN = names("--cookie --header --head --data --user --url --request --form --output-null")


def curl_risk(program: str, words: Sequence[Word]) -> str:
    """Return which option of curl writes or sends a file."""
    del program
    found = curl_arguments(words)
    for option in found.options:
        name, value = option.name, option.value
        if name in _CURL_RISKY and not _is_to_output(option):
            return f"curl {name} writes or sends a file"
        if (
            name in ("-w", "--write-out")
            and value is not None
            and ("%output" in value.text or value.text.startswith("@") or not value.is_literal)
        ):
            return "curl -w can write a file"
        is_shortened = name.startswith("--") and len(name) > 4 and name not in _CURL_KNOWN
        if is_shortened and any(one.startswith(name) for one in _CURL_RISKY):
            return f"curl {name} writes or sends a file"
    if any(word.splits for word in words) or found.injectable:
        return "a word that is not known could be an option of curl"
    return ""


def _is_to_output(option: Option) -> bool:
    # Settings from the input may name files, too.
    is_output = option.value is not None and option.value.text in STANDARD_OUTPUT
    return is_output and option.name not in ("-K", "--config")


PROGRAMS = (
    Program("curl", accesses=curl, read_options="-b --cacert --cert --cookie --etag-compare --key "
        "--netrc-file", reads_at_files=True, risk_check=curl_risk, tells_version=True, network="*"),
    Program("wget", accesses=wget, read_options="--ca-certificate --certificate --load-cookies "
        "--private-key", risk=Risk("OoaPei", "--append-output --body-file --config "
        "--directory-prefix --execute --hsts-file --output-document --output-file --post-file "
        "--rejected-log --save-cookies --use-askpass --warc-file", valued="BtTwQUlARDIX",
        to_output="-O --output-document"), network="*"),
    Program("httpie", network="*"),
    Program("aria2c", output_files="-l --log -o --out", output_directories="-d --dir"),
    Program("youtube-dl", output_files="-o --output"),
    Program("yt-dlp", output_files="-o --output", output_directories="-P --paths"),
    Program("http https", output_files="-o --output", reads_at_files=True, network="*"),
    Program("xh", output_files="-o --output", reads_at_files=True),
    Program("ab", reads_at_files=True),
)  # fmt: skip
