"""Options that run programs or write files: outside every wildcard rule.

An exact rule or a rule for all of Bash covers them (readings on options that execute or write). The
answer is a reason for users, "" when nothing risky was found. Unknown words count when they could
turn out to be such an option.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from permissions.shell.access import attached_values
from permissions.shell.arguments import Arguments, Option, is_listed, split_arguments
from permissions.shell.parse.assignments import SETTERS, setting_risk
from permissions.shell.programs.archives_and_copies import curl_arguments, tar_arguments
from permissions.shell.programs.database_shells import escapes
from permissions.shell.programs.git_risks import git_risk
from permissions.shell.programs.sed_script import sed_script_risk
from permissions.shell.programs.text_tools import sed_arguments
from permissions.shell.syntax import Word


class _Table(Struct, frozen=True):
    short: str = ""
    """Letters of risky short options."""
    long: frozenset[str] = frozenset()
    """Risky long options; an abbreviation of one counts too."""
    valued: str = ""
    """Letters of other short options that take a value."""
    single_dash: bool = False
    valued_long: frozenset[str] = frozenset()
    takes_unknown: bool = False
    """Runs the project's own code anyway, so that a word that is not known is let pass."""


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_TABLES = {
    "find": _Table(
        long=_set("-exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls"),
        single_dash=True,
    ),
    "sort": _Table("oT", _set("--output --compress-program --temporary-directory"), "kSt"),
    "tar": _Table(
        "IFP",
        _set(
            "--checkpoint-action --to-command --use-compress-program --rsh-command --info-script "
            "--new-volume-script --rmt-command --absolute-names --transform --xform"
        ),
        "fCbTXKNgVLH",
    ),
    "rg": _Table("z", _set("--pre --hostname-bin --search-zip"), "efgtTmABCjMrdE"),
    "ag": _Table("z", _set("--pager --search-zip"), "ABCGgm"),
    "ack": _Table("", _set("--pager"), "ABCm"),
    "man": _Table("PHC", _set("--pager --html --preprocessor --config-file"), "RLmMSseEpT"),
    "ssh": _Table("oFEJI", frozenset(), "BbcDeiLlmOpQRSWw"),
    "scp": _Table("oFSJD", frozenset(), "cilPX"),
    "sftp": _Table("oFSbD", frozenset(), "BcilPRs"),
    "rsync": _Table(
        "eTM",
        _set(
            "--rsh --rsync-path --temp-dir --log-file --write-batch --only-write-batch "
            "--backup-dir --partial-dir --remote-option --daemon"
        ),
        "fB",
    ),
    "ssh-keygen": _Table("D", frozenset(), "aAbCEFfGgIJKLlMmNnOPRrSsTtUVvWwYZz"),
    "ssh-add": _Table("sS", frozenset(), "tE"),
    "npm": _Table(
        "",
        _set("--script-shell --node-options --shell --git --editor --viewer --browser"),
        "wC",
        takes_unknown=True,
    ),
    "make": _Table("E", _set("--eval"), "CfIjlo", takes_unknown=True),
    "gmake": _Table("E", _set("--eval"), "CfIjlo", takes_unknown=True),
    "cargo": _Table("", _set("--config"), "CZFpj", takes_unknown=True),
    "fd": _Table("xX", _set("--exec --exec-batch"), "edtESojc"),
    "fdfind": _Table("xX", _set("--exec --exec-batch"), "edtESojc"),
    "wget": _Table(
        "OoaPei",
        _set(
            "--output-document --output-file --append-output --directory-prefix --execute --config "
            "--use-askpass --save-cookies --hsts-file --warc-file --post-file --body-file "
            "--rejected-log"
        ),
        "BtTwQUlARDIX",
    ),
    "less": _Table(
        "oOkK",
        _set("--log-file --lesskey-file --lesskey-src --lesskey-content"),
        "pPtTxyzbhj",
    ),
    "date": _Table("s", _set("--set"), "drfI"),
    "yq": _Table("i", _set("--inplace --in-place"), "oIps"),
    "perl": _Table("i", frozenset(), "eEIMmFlCDx"),
    "ruby": _Table("i", frozenset(), "eIrCFEKTWx"),
    "xxd": _Table("r", frozenset(), "clsogR"),
    "shuf": _Table("o", _set("--output"), "ein"),
    "tree": _Table("o", _set("--output"), "LPIHT"),
    "zip": _Table("T", _set("--test --unzip-command"), "xibtn"),
    "strace": _Table("o", _set("--output"), "eps"),
    "file": _Table("C", _set("--compile"), "FfmPe"),
    "pandoc": _Table(
        "oFd", _set("--output --filter --lua-filter --pdf-engine --defaults"), "frtwVMTHBAcm"
    ),
    "uniq": _Table(valued="fsw"),
    "env": _Table("S", _set("--split-string"), "uC"),
    "go": _Table(long=_set("-exec -toolexec -vettool --exec --toolexec"), single_dash=True),
    "ctags": _Table("", _set("--options"), "f"),
    "journalctl": _Table("", _set("--vacuum-size --vacuum-time --vacuum-files --rotate"), "unpo"),
    "gdb": _Table(
        long=_set(
            "-x -ex --ex -ix -iex --iex --eval-command --command --init-command --init-eval-command"
        ),
        single_dash=True,
    ),
    "lldb": _Table("osSOQ", _set("--one-line --source --one-line-before-file"), "pnafc"),
    **dict.fromkeys(
        ("bat", "batcat"), _Table("", _set("--pager --config-file --lessopen"), "lrmHp")
    ),
    "delta": _Table("", _set("--pager")),
    "split": _Table("", _set("--filter"), "abClnt", valued_long=_set("--additional-suffix")),
    "install": _Table("", _set("--strip-program"), "mogtS"),
    "cpio": _Table("", _set("--rsh-command"), "DOFHIRMEC"),
    "tcpdump": _Table("zw", frozenset(), "cCFGijrsTWy"),
    "fzf": _Table("", _set("--preview --bind --with-shell --listen --listen-unsafe"), "qfdn"),
    "gpg": _Table("o", _set("--output --photo-viewer --exec-path --agent-program --options"), "ru"),
    "openssl": _Table(
        long=_set("-out -keyout -config -engine -provider -writerand"), single_dash=True
    ),
    **dict.fromkeys(
        ("gcc", "cc", "g++", "c++", "clang", "clang++"),
        _Table(
            long=_set("-wrapper -fplugin -specs --specs -load -fpass-plugin -B"),
            single_dash=True,
            takes_unknown=True,
        ),
    ),
    "ld": _Table(long=_set("-plugin --plugin"), single_dash=True, takes_unknown=True),
    "expect": _Table("c", frozenset(), "f"),
    "psql": _Table("oL", _set("--output --log-file"), "cdhpUvfF"),
    "sqlite3": _Table("", _set("-cmd -init --cmd --init"), single_dash=True),
    "dot": _Table("oO", frozenset(), "TKGNE"),
    "nl": _Table(),
    "mapfile": _Table("C", frozenset(), "dnOsuc"),
    "readarray": _Table("C", frozenset(), "dnOsuc"),
    "compgen": _Table("CFW", frozenset(), "oAGXPS"),
    "complete": _Table("CFW", frozenset(), "oAGXPS"),
    "hash": _Table("p", frozenset()),
    "helm": _Table("", _set("--post-renderer"), takes_unknown=True),
    **dict.fromkeys(
        ("nc", "ncat", "netcat"),
        _Table("ec", _set("--exec --sh-exec --lua-exec"), "GgipqswxIiMmOoPTVWX"),
    ),
    **dict.fromkeys(
        ("pdflatex", "xelatex", "lualatex", "latex", "tex", "pdftex", "luatex"),
        _Table(
            long=_set("-shell-escape --shell-escape -enable-write18 --enable-write18"),
            single_dash=True,
            takes_unknown=True,
        ),
    ),
    "latexmk": _Table(
        long=_set("-e -r -latex -pdflatex -shell-escape --shell-escape"),
        single_dash=True,
        takes_unknown=True,
    ),
    "mypy": _Table("", _set("--python-executable"), "cmp", takes_unknown=True),
    "java": _Table(
        long=_set("-XX:OnOutOfMemoryError -XX:OnError"), single_dash=True, takes_unknown=True
    ),
    **dict.fromkeys(
        ("pip", "pip3"), _Table("", _set("--python --editor"), "rctie", takes_unknown=True)
    ),
    **dict.fromkeys(("docker", "podman"), _Table("", _set("--privileged"), takes_unknown=True)),
}
_ADDRESS_RUNS = {
    "socat": re.compile(r"(?:EXEC|SYSTEM|SHELL):", re.IGNORECASE),
    **dict.fromkeys(("convert", "magick"), re.compile(r"\||(?:msl|mvg|ephemeral):", re.IGNORECASE)),
    **dict.fromkeys(("docker", "podman"), re.compile(r"--(?:pid|ipc|userns|uts)=host")),
}
"""What the beginning of a word makes these programs run, or lets run outside a container."""
_SAME_AS = {"gtar": "tar", "bsdtar": "tar", "gsed": "sed", "gawk": "awk", "mawk": "awk"}

_AWK_RISK = re.compile(
    r"system|getline|(?<!\|)\|(?!\|)|print.*>|>>|@\s*(?:load|include|namespace)|@[a-z]|/inet|close\s*\(|fflush|ARG[CV]\b",
    re.DOTALL,
)


_MAKE_RISK = re.compile(
    r"^(?:MAKEFLAGS|GNUMAKEFLAGS|SHELL|\.SHELLFLAGS|MAKEFILES)\s*[:+?!]*=|\$[({](?:shell|eval|file|guile)\b"
)
_MAKEFILE = _set("-f --file --makefile")
_YQ_READS = re.compile(r"\bload(?:_\w+)?\s*\(|^-s|^--split-exp|^--from-file")
_LINKER = re.compile(r"-extld\b|\blinker=|\brustc-wrapper\b")


def risk_of(program: str, words: Sequence[Word]) -> str:
    """Return why a wildcard rule does not cover these arguments; "" when it may."""
    program = _SAME_AS.get(program, program)
    match program:
        case "sed":
            return _sed(words)
        case "awk":
            return _awk(words)
        case "git":
            return git_risk(words)
        case "curl":
            return _curl(words)
        case "tar":
            return _by_table(program, _TABLES["tar"], words, tar_arguments(words))
        case "find":
            # What stands behind `--` are folders, and then tests and actions all the same.
            return _by_table("find", _TABLES["find"], [one for one in words if one.text != "--"])
        case "xargs":
            return ""
        case "make" | "gmake" if any(_MAKE_RISK.search(word.plain) for word in words):
            return "the words decide what make runs"
        case "make" | "gmake" if "-" in [one.plain for one in attached_values(words, _MAKEFILE)]:
            return "make -f - runs what it is given on its input"
        case "vi" | "vim" | "nvim" | "ex" | "view" | "vimdiff" | "gvim":
            return _editor(program, words)
        case "gh":
            return _github(words)
        case "yq" if any(_YQ_READS.search(word.plain) for word in words):
            return "the yq expression reads or writes other files"
        case "go" | "rustc" | "cargo" if any(_LINKER.search(word.plain) for word in words):
            return f"{program} runs the linker that it is given"
        case "pandoc" if any(word.plain.endswith(".lua") for word in words):
            return "pandoc runs a script in Lua"
        case "psql" | "mysql" | "mariadb" | "sqlite3" if escapes(program, words):
            return f"a command of {program} that runs a program or writes a file"
        case "less" if any(word.plain.startswith("+") for word in words):
            return "less + runs a command of its own"
        case "watch" | "setsid" | "ionice" | "flock":
            return f"{program} runs any program"
        case _ if program in _ADDRESS_RUNS and any(
            _ADDRESS_RUNS[program].match(word.plain) for word in words
        ):
            return f"the words decide what {program} runs, or where"
        case _ if program in SETTERS and (risk := setting_risk(program, words)):
            return risk
        case _:
            table = _TABLES.get(program)
            return "" if table is None else _by_table(program, table, words)


def _by_table(
    program: str, table: _Table, words: Sequence[Word], found: Arguments | None = None
) -> str:
    if not table.short and not table.long:
        return ""
    found = found or split_arguments(
        words,
        valued=table.valued + ("" if table.single_dash else table.short),
        valued_long=table.valued_long,
        single_dash=table.single_dash,
    )
    if found.injectable and not table.takes_unknown:
        return f"a word that is not known could be an option of {program}"
    for option in found.options:
        if program == "wget" and option.name in ("-O", "--output-document") and _is_dash(option):
            continue
        if is_listed(option.name, table.short, table.long, exact=table.single_dash):
            return f"{program} {option.name} runs a program or writes a file"
    return ""


def _is_dash(option: Option) -> bool:
    return option.value is not None and option.value.text in ("-", "/dev/null", "/dev/stdout")


def _sed(words: Sequence[Word]) -> str:
    found = sed_arguments(words)
    if found.has("-i", "--in-place") or any(
        "--in-place".startswith(option.name) and len(option.name) > 3 for option in found.options
    ):
        return "sed -i writes its files"
    if found.has("-f", "--file"):
        return "sed -f runs a script that is not shown"
    scripts = found.values("-e", "--expression") or found.operands[:1]
    for script in scripts:
        if not script.is_literal:
            return "a sed script that is not known before"
        risk = sed_script_risk(script.text)
        if risk:
            return risk
    if found.injectable:
        return "a word that is not known could be an option of sed"
    return ""


def _awk(words: Sequence[Word]) -> str:
    found = split_arguments(
        words,
        valued="FvfileEW",
        valued_long=_set("--file --assign --include --load --source --exec --field-separator"),
    )
    for option in found.options:
        if is_listed(option.name, "filEeodpDW", _AWK_LONG, exact=False):
            return f"awk {option.name} runs a program that is not shown, or writes a file"
    if found.injectable:
        return "a word that is not known could be an option of awk"
    for program in found.operands[:1]:
        if not program.is_literal or _AWK_RISK.search(program.text):
            return "the awk program may run commands or write files"
    return ""


_AWK_LONG = _set(
    "--file --include --load --exec --source --dump-variables --pretty-print --profile --debug"
)


def _editor(program: str, words: Sequence[Word]) -> str:
    for word in words:
        text = word.plain
        if text == "--":
            break
        if text.startswith("+") and not re.fullmatch(r"\+(?:\d*|/.*)", text):
            return f"{program} + runs a command of its own"
        if text.startswith("--") and text.partition("=")[0] in _EDITOR_LONG:
            return f"{program} {text.partition('=')[0]} runs a command of its own"
        letter = re.match(r"-[A-Za-z]*?([cSsuUwWVlq])", text)
        if letter:
            return f"{program} -{letter[1]} runs commands or writes a file"
    return ""


_EDITOR_LONG = _set("--cmd --remote-expr --remote-send --startuptime --listen --servername")


def _github(words: Sequence[Word]) -> str:
    operands = [word.plain for word in words if not word.plain.startswith("-")]
    if operands[:2] in _GITHUB_RUNS:
        return f"gh {' '.join(operands[:2])} decides what gh runs"
    if operands[:2] == ["repo", "clone"]:
        position = next((i for i, word in enumerate(words) if word.plain == "--"), len(words))
        return git_risk([Word("clone", "clone"), *words[position + 1 :]])
    return ""


_GITHUB_RUNS = (
    *(["alias", "set"], ["alias", "import"], ["config", "set"]),
    *(["extension", "install"], ["extension", "exec"], ["extension", "upgrade"]),
)

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


def _curl(words: Sequence[Word]) -> str:
    found = curl_arguments(words)
    for option in found.options:
        name, value = option.name, option.value
        harmless = value is not None and value.text in ("-", "/dev/null", "/dev/stdout")
        # Settings from the input may name files, too.
        harmless = harmless and name not in ("-K", "--config")
        if name in _CURL_RISKY and not harmless:
            return f"curl {name} writes or sends a file"
        if (
            name in ("-w", "--write-out")
            and value is not None
            and ("%output" in value.text or value.text.startswith("@") or not value.is_literal)
        ):
            return "curl -w can write a file"
        if (
            name.startswith("--")
            and len(name) > 4
            and name not in _CURL_KNOWN
            and any(risky.startswith(name) for risky in _CURL_RISKY if risky.startswith("--"))
        ):
            return f"curl {name} writes or sends a file"
    if any(word.splits for word in words) or found.injectable:
        return "a word that is not known could be an option of curl"
    return ""


_CURL_KNOWN = _set("--cookie --header --head --data --user --url --request --form --output-null")
