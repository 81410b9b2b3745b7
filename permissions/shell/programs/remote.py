"""Program records of programs that fetch files or work on other machines, forges and clouds."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from permissions.base.text.late_pattern import compile_late
from permissions.shell.access import HERE, Access, AccessKind, each, names
from permissions.shell.arguments import Arguments, split_arguments
from permissions.shell.program import Program, Risk, Wrapper
from permissions.shell.programs.common_arguments import STANDARD_OUTPUT, local_copy, settings_after
from permissions.shell.programs.git.git_risk import git_risk
from permissions.shell.syntax import Word


def remote_copy(words: Sequence[Word]) -> list[Access]:
    """Return the local files of scp."""
    return local_copy(split_arguments(words, value_letters="cDFiJloPSX"))


_SOCAT = compile_late(r"(?:EXEC|SYSTEM|SHELL):([^,]+)", re.IGNORECASE)


def socat_commands(words: Sequence[Word]) -> Iterator[str]:
    """Yield the commands in the addresses of socat."""
    for word in words:
        yield from _SOCAT.findall(word.text)


_CURL_VALUED = "AbcCdDeEFhHKmoPQrtTuUwxXyYz"


_CURL_VALUED_LONG = names(
    "--output --dump-header --cookie-jar --trace --trace-ascii --stderr --libcurl --hsts --alt-svc "
    "--etag-save --output-dir --config --cookie --data --data-binary --data-raw --data-urlencode "
    "--form --header --request --url --user --user-agent --upload-file --proxy --max-time --retry "
    "--data-ascii --variable --url-query --proxy-header --expand-data --form-string "
    "--cacert --cert --key --referer --write-out --connect-timeout --resolve --range --json"
)


def curl_arguments(words: Sequence[Word]) -> Arguments:
    """Split curl's arguments."""
    return split_arguments(words, value_letters=_CURL_VALUED, value_options=_CURL_VALUED_LONG)


_CURL_DATA = (
    *("-d", "--data", "--data-ascii", "--data-binary", "--data-urlencode", "--json", "-H"),
    *("--header", "--variable", "--url-query", "--proxy-header", "--expand-data"),
)


def curl(words: Sequence[Word]) -> list[Access]:
    """Return the files that curl writes and sends."""
    arguments = curl_arguments(words)
    output_files = arguments.values(
        *("-o", "--output", "-D", "--dump-header", "-c", "--cookie-jar", "--trace"),
        *("--trace-ascii", "--stderr", "--libcurl", "--hsts", "--alt-svc", "--etag-save"),
        "--output-dir",
    )
    writes = [word for word in output_files if word.text != "-"]
    if arguments.has("-O", "--remote-name", "--remote-name-all", "-J", "--remote-header-name"):
        writes.append(HERE)
    reads = list(arguments.values("-T", "--upload-file", "-K", "--config"))
    for value in arguments.values(*_CURL_DATA):
        name, separator, path = value.text.partition("@")
        if separator and re.fullmatch(r"[\w%{}.-]*", name):
            reads.append(Word(value.raw, path, value.splits))
    for value in arguments.values("-F", "--form"):
        match = re.match(r"[^=]*=[@<]([^;]*)", value.text)
        if match:
            reads.append(Word(value.raw, match[1], value.splits))
    return [
        *each(AccessKind.WRITE, writes),
        *each(AccessKind.READ, [word for word in reads if word.text not in ("-", ".")]),
    ]


_WGET_VALUED = "oaeBtOTwQPUlARDIiX"
_WGET_VALUED_LONG = names(
    "--output-document --directory-prefix --output-file --input-file --tries --timeout --header "
    "--user-agent --wait --post-data --method --body-data --append-output"
)
_WGET_KNOWN = _WGET_VALUED_LONG | names(
    "-q -c -N -S -v -t -T -U -w -O -P -nv -nc --quiet --continue --timestamping --server-response "
    "--no-verbose --no-clobber --spider --no-check-certificate --show-progress --progress "
    "--max-redirect --retry-connrefused --https-only --compression --version --help"
)
"""Options with which the file's name is the end of its address."""


def _wget_arguments(words: Sequence[Word]) -> Arguments:
    """Split wget's arguments; its switches that start with `n` are one option each."""
    return split_arguments(
        [Word(one.raw, f"-{one.text}") if one.text[:2] == "-n" else one for one in words],
        value_letters=_WGET_VALUED,
        value_options=_WGET_VALUED_LONG,
    )


def wget(words: Sequence[Word]) -> list[Access]:
    """Return the files that wget writes and sends."""
    arguments = _wget_arguments(words)
    if arguments.has("--spider"):
        return []
    documents = arguments.values("-O", "--output-document")
    writes = [word for word in documents if word.text != "-"]
    if not documents:
        directories = arguments.values("-P", "--directory-prefix") or (HERE,)
        files = list(filter(None, (_saved_as(one.text) for one in arguments.operands)))
        writes.extend(directories if len(files) < len(arguments.operands) or not files else ())
        writes.extend(
            Word(file, f"{one.text}/{file}", one.splits) for one in directories for file in files
        )
    writes.extend(arguments.values("-o", "--output-file", "-a", "--append-output"))
    return [
        *each(AccessKind.WRITE, writes),
        *each(
            AccessKind.READ, arguments.values("-i", "--input-file", "--post-file", "--body-file")
        ),
    ]


def _saved_as(address: str) -> str:
    """Return the file name at the end of an address; "" if there is none."""
    return (
        re.split("[?#]", address.partition("://")[2] or address)[0]
        .partition("/")[2]
        .rpartition("/")[2]
    )


def wget_risk(_program: str, words: Sequence[Word]) -> str:
    """Return which option lets the server choose what is written."""
    for option in _wget_arguments(words).options:
        if option.name.removeprefix("-") not in _WGET_KNOWN | {"-nv", "-nc"} and (
            option.name not in _WGET_KNOWN
        ):
            return f"wget {option.name} is not understood"
    return ""


_CURL_HARMLESS = names(
    "-s -S -L -f -i -I -v -k -N -G -# -4 -6 -0 -X -H -d -m -A -u -w -e -r -x -b -F -z -g -q -V -h "
    "-n -p -a -j -l -y -Y -C -t --silent --show-error --location --fail --fail-with-body --include "
    "--head --verbose --insecure --no-buffer --get --request --header --data --data-raw --form "
    "--data-binary --data-urlencode --data-ascii --json --max-time --connect-timeout --user-agent "
    "--user --write-out --referer --range --proxy --cookie --compressed --retry --retry-delay "
    "--retry-connrefused --retry-all-errors --resolve --url --version --help --progress-bar "
    "--no-progress-meter --ipv4 --ipv6 --http1.1 --http2 --http3 --tlsv1.2 --tlsv1.3 --globoff "
    "--location-trusted --max-redirs --path-as-is --form-string --url-query --cacert --netrc"
)
"""Options with which nothing is written, and nothing is sent except the words themselves."""


def curl_risk(_program: str, words: Sequence[Word]) -> str:
    """Return which option of curl writes or sends a file."""
    arguments = curl_arguments(words)
    for option in arguments.options:
        if option.name in ("-w", "--write-out") and _may_write(option.value):
            return "curl -w can write a file"
        to_output = option.name in ("-o", "--output") and option.value is not None
        if to_output and option.value is not None and option.value.text in STANDARD_OUTPUT:
            continue
        if option.name not in _CURL_HARMLESS:
            return f"curl {option.name} is not understood: it could write or send a file"
    if any(word.splits for word in words) or arguments.injectable:
        return "a word that is not known could be an option of curl"
    return ""


def _may_write(form: Word | None) -> bool:
    if form is None:
        return False
    return "%output" in form.text or form.text.startswith("@") or not form.is_literal


def github_risk(_program: str, words: Sequence[Word]) -> str:
    """Return which subcommand decides what gh or git runs; "" if none does."""
    operands = [word.plain for word in words if not word.plain.startswith("-")]
    if operands[:2] in _RUNS:
        return f"gh {' '.join(operands[:2])} decides what gh runs"
    if operands[:2] == ["repo", "clone"]:
        position = next((i for i, word in enumerate(words) if word.plain == "--"), len(words))
        return git_risk("git", [Word("clone", "clone"), *words[position + 1 :]])
    return ""


_RUNS = (
    *(["alias", "set"], ["alias", "import"], ["config", "set"]),
    *(["extension", "install"], ["extension", "exec"], ["extension", "upgrade"]),
)


PROGRAMS = (
    Program("ssh", risk=Risk("oFEJI", value_letters="BbcDeiLlmOpQRSWw"),
        wrapper=Wrapper("BbcDEeFIiJLlmOoPpQRSWw", operands=1), command_options="-o", network="*",
        logs_in=True, exact_only=True),
    Program("mosh", network="*", logs_in=True),
    Program("telnet ftp lftp ping nslookup host dig rclone az httpie http https glab", network="*"),
    Program("scp", accesses=remote_copy, risk=Risk("oFSJD", value_letters="cilPX"),
        command_options="-o",
        network="*", logs_in=True),
    Program("sftp", risk=Risk("oFSbD", value_letters="BcilPRs"), command_options="-o", network="*",
        logs_in=True),
    Program("ssh-keygen", risk=Risk("D", value_letters="aAbCEFfGgIJKLlMmNnOPRrSsTtUVvWwYZz")),
    Program("ssh-add", risk=Risk("sS", value_letters="tE")),
    Program("nc ncat netcat", risk=Risk("ec", "--exec --lua-exec --sh-exec",
        value_letters="GgipqswxIMmOoPTVWX"),
        command_options="-c -e --exec --sh-exec", network="*"),
    Program("socat", risky_words=r"(?i)(?:EXEC|SYSTEM|SHELL):", command_words=socat_commands,
        network="*"),
    Program("aws", changes_settings=settings_after("~/.aws/config", "configure set"), network="*"),
    Program("gcloud", changes_settings=settings_after("~/.config/gcloud/properties", "config set",
        "config  unset"), network="*"),
    Program("curl", accesses=curl, risk_check=curl_risk, shows_version=True, network="*"),
    Program("wget", accesses=wget, risk=Risk("OoaPei", "--append-output --body-file --config "
        "--directory-prefix --execute --hsts-file --output-document --output-file --post-file "
        "--rejected-log --save-cookies --use-askpass --warc-file", value_letters="BtTwQUlARDIX",
        to_output="-O --output-document"), risk_check=wget_risk, network="*"),
    Program("gh", changes_settings=settings_after("~/.config/gh/config.yml", "config set",
        "alias set", "alias import"),
        risk_check=github_risk, global_valued="R", network="*", has_subcommands=True,
        exact_subcommands="alias api auth extension repo secret", exact_third="close delete edit "
        "merge reopen run transfer"),
    Program("svn", global_valued=""),
    Program("hg", global_valued="R"),
)  # fmt: skip
