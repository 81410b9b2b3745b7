"""Commands that provably only read: a table of programs with the options that are known harmless.

Reviewed for writing, for running other programs and for sending data away: nothing in it opens a
network connection. An option that is not listed makes the answer no.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from permissions.base.text.star_pattern import UNKNOWN
from permissions.shell.arguments import could_be_option, split_arguments
from permissions.shell.programs.archives_and_copies import takes_back, tar_arguments
from permissions.shell.programs.find_command import (
    exec_commands,
    exec_spans,
    finds_files_only,
    is_below_roots,
)
from permissions.shell.programs.git_command import git_parts
from permissions.shell.programs.risky_options import risk_of
from permissions.shell.syntax import Word


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_TABLE: dict[str, tuple[str, str, frozenset[str]]] = {
    # program: letters, letters with a value, long options
    "ls": (
        "aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ1",
        "IwT",
        _set("--all --almost-all --color --human-readable --recursive --reverse --time --sort "
             "--group-directories-first --full-time --si --size --inode --directory"),
    ),
    "cat": ("AbeEnstTuv", "", _set("--number --show-all --squeeze-blank --number-nonblank")),
    "head": ("qvz0123456789", "nc", _set("--lines --bytes --quiet --verbose")),
    "tail": ("qvz0123456789", "nc", _set("--lines --bytes --quiet --verbose")),
    "wc": ("clmLw", "", _set("--lines --words --bytes --chars --max-line-length")),
    "echo": ("neE", "", frozenset()),
    "printf": ("", "", frozenset()),
    "pwd": ("LP", "", frozenset()),
    "true": ("", "", frozenset()),
    "false": ("", "", frozenset()),
    ":": ("", "", frozenset()),
    "whoami": ("", "", frozenset()),
    "id": ("ugGnr", "", frozenset()),
    "uname": ("asnrvmpio", "", frozenset()),
    "arch": ("", "", frozenset()),
    "nproc": ("", "", _set("--all")),
    "expr": ("", "", frozenset()),
    "groups": ("", "", frozenset()),
    "lscpu": ("abceJpxy", "", frozenset()),
    "cal": ("13jmsy", "ABn", frozenset()),
    "getconf": ("a", "", frozenset()),
    "uptime": ("ps", "", _set("--pretty --since")),
    "free": ("bkmghtlw", "", _set("--human --mega --giga --total")),
    "hostname": ("sI", "", frozenset()),
    "lsb_release": ("aidrcs", "", frozenset()),
    "date": ("uIR", "dr", _set("--date --utc --iso-8601 --rfc-3339 --reference")),
    "basename": ("az", "s", frozenset()),
    "dirname": ("z", "", frozenset()),
    "realpath": ("emszLP", "", frozenset()),
    "readlink": ("femnqsvz", "", frozenset()),
    "which": ("as", "", frozenset()),
    "type": ("afptP", "", frozenset()),
    "stat": ("Lt", "cf", _set("--format --printf --terse")),
    "file": ("bikLhzrs", "", _set("--brief --mime --mime-type")),
    "du": ("abchHklLmPsSx0", "dB", _set("--max-depth --human-readable --summarize --total --si")),
    "df": ("ahHiklPT", "", frozenset()),
    "cut": ("sz", "bcdf", _set("--delimiter --fields --characters --output-delimiter")),
    "tr": ("cCdst", "", frozenset()),
    "rev": ("", "", frozenset()),
    "tac": ("br", "s", frozenset()),
    "nl": ("p", "bdfhilnsvw", frozenset()),
    "paste": ("sz", "d", frozenset()),
    "join": ("i", "aejotv12", frozenset()),
    "comm": ("123", "", frozenset()),
    "cmp": ("bls", "in", frozenset()),
    "diff": (
        "abBcdeEiNqrstTuwyZ",
        "UCIxW",
        _set("--unified --recursive --brief --ignore-all-space --side-by-side --color --stat"),
    ),
    "column": ("tnx", "sco", frozenset()),
    "fold": ("bs", "w", frozenset()),
    "fmt": ("cstu", "w", frozenset()),
    "expand": ("i", "t", frozenset()),
    "uniq": ("cdDiuz", "fsw", _set("--count --repeated --unique --ignore-case")),
    "sort": (
        "bcCdfghiMmnrRsuVz",
        "kSt",
        _set("--key --reverse --numeric-sort --unique --field-separator --human-numeric-sort "
             "--version-sort --ignore-case --stable"),
    ),
    "grep": (
        "EFGPivwxcLlqsobHhnTUzraR0123456789",
        "efmABCdD",
        _set("--regexp --count --color --colour --include --exclude --exclude-dir --line-number "
             "--files-with-matches --files-without-match --ignore-case --invert-match "
             "--word-regexp --extended-regexp --fixed-strings --recursive --max-count --context "
             "--after-context --before-context --only-matching --with-filename --no-filename "
             "--quiet --silent --no-messages --perl-regexp --text --line-regexp "
             "--dereference-recursive"),
    ),
    "rg": (
        "ivwxclLqsobHhnNSFUPu0a",
        "efgtTmABCjMrdE",
        _set("--regexp --count --color --colors --glob --type --type-not --ignore-case "
             "--line-number --no-line-number --files --files-with-matches --hidden --no-ignore "
             "--fixed-strings --max-count --context --after-context --before-context --json "
             "--only-matching --multiline --smart-case --heading --no-heading --with-filename "
             "--no-filename --stats --sort --sortr --max-depth --vimgrep --pretty --trim "
             "--word-regexp --invert-match --replace --type-list --iglob --pcre2 --follow"),
    ),
    "od": ("bcdfilosxv", "AjNtSw", frozenset()),
    "xxd": ("abeiEpu", "clsgo", frozenset()),
    "hexdump": ("bcCdovx", "ens", frozenset()),
    "strings": ("afow", "neTs", frozenset()),
    "md5sum": ("bctw", "", frozenset()),
    "sha1sum": ("bctw", "", frozenset()),
    "sha256sum": ("bctw", "", frozenset()),
    "sha512sum": ("bctw", "", frozenset()),
    "cksum": ("", "a", frozenset()),
    "base64": ("di", "w", _set("--decode --wrap")),
    "jq": (
        "ceMrnsSajCR",
        "",
        _set("--arg --argjson --raw-output --compact-output --slurp --null-input --exit-status "
             "--sort-keys --tab --indent --raw-input --join-output --slurpfile --rawfile"),
    ),
    "tree": ("adfilpsughDFrtxNQACnJXS", "LPI", _set("--dirsfirst --du --gitignore --noreport")),
    "ps": ("aAdefFjlLmTuvwxyHZ", "pCoGUtq", _set("--forest --sort --no-headers --pid --ppid")),
    "test": ("*", "", frozenset()),
    "[": ("*", "", frozenset()),
    "[[": ("*", "", frozenset()),
    "seq": ("w", "fs", frozenset()),
    "sleep": ("", "", frozenset()),
    "sed": ("nErsuz", "e", _set("--quiet --silent --expression --regexp-extended")),
    "awk": ("", "Fv", frozenset()),
    "find": ("", "", frozenset()),
    "tar": ("", "", frozenset()),
    "unzip": ("", "", frozenset()),
    "zipinfo": ("12slmvhtzT", "", frozenset()),
    "fd": (
        "HIusiglpLa01",
        "edtESc",
        _set("--hidden --no-ignore --unrestricted --extension --type --max-depth --exclude --glob "
             "--full-path --absolute-path --ignore-case --case-sensitive --follow --size --color"),
    ),
    "numfmt": ("", "d", _set("--to --from --suffix --padding --field --format --header")),
    "zcat": ("", "", frozenset()),
    "bzcat": ("", "", frozenset()),
    "xzcat": ("", "", frozenset()),
    "nm": ("aACDgnoPprsSuv", "", _set("--demangle --defined-only --undefined-only --dynamic")),
    "size": ("ABd", "", frozenset()),
    "readelf": ("hlSsdrnVWe", "", frozenset()),
    "objdump": ("aCdDfhprstTx", "jM", _set("--disassemble --demangle --syms")),
    "gofmt": ("dls", "", frozenset()),
    "shellcheck": ("", "sefSWoC", _set("--severity --shell --exclude --format")),
    "ss": ("tulnpasxi46OH", "", frozenset()),
    "cd": ("LP", "", frozenset()),
    "command": ("vV", "", frozenset()),
}  # fmt: skip

_TELLING_VERSION = _set(
    """
    python python3 node npm pip pip3 git ruby perl php lua gcc g++ clang cc make cmake bash docker
    jq curl tar java javac
    """
)
"""Programs that tell their version without looking at the project. Yarn, cargo, rustc and go are
not among them: each may load or download what a project's file names."""

_VERSION = (["--version"], ["-V"], ["-v"], ["-version"])

_FIND_TESTS = _set(
    "-name -iname -path -ipath -wholename -regex -iregex -type -size -mtime -atime -ctime -mmin "
    "-amin -cmin -newer -empty -maxdepth -mindepth -print -print0 -prune -not -and -or -a -o -perm "
    "-user -group -links -inum -printf -ls -xdev -mount -depth -follow -true -false -quit -H -L -P "
    "-readable -writable -executable -xtype -lname -regextype -samefile -daystart -noleaf"
)

_GIT: dict[str, frozenset[str] | None] = {
    # None: every option that risky_options lets pass is harmless.
    "status": None,
    "diff": None,
    "show": None,
    "log": None,
    "shortlog": None,
    "rev-parse": None,
    "rev-list": None,
    "ls-files": None,
    "ls-tree": None,
    "blame": None,
    "describe": None,
    "check-ignore": None,
    "check-attr": None,
    "merge-base": None,
    "name-rev": None,
    "for-each-ref": None,
    "show-ref": None,
    "cat-file": None,
    "grep": None,
    "whatchanged": None,
    "diff-tree": None,
    "diff-index": None,
    "diff-files": None,
    "range-diff": None,
    "cherry": None,
    "count-objects": None,
    "branch": _set(
        "-a -r -v -vv --list -l --show-current --all --remotes --contains --merged --no-merged "
        "--sort --format --verbose --no-color --color"
    ),
    "tag": _set("-l --list -n --sort --contains --points-at --format"),
    "remote": _set("-v --verbose get-url show -n"),
    "stash": _set("list show -p --stat"),
    "config": _set(
        "--get --get-all --list -l --get-regexp --show-origin --global --local get list"
    ),
    "worktree": _set("list --porcelain"),
    "reflog": _set("show -n"),
    "clean": frozenset(),
}
_GIT_DRY = re.compile(r"-[ndxXfq]+|--dry-run")


def is_read_only(program: str, words: Sequence[Word]) -> bool:
    """Does the command provably only read? Where it reads is judged elsewhere."""
    if program in _TELLING_VERSION and [word.text for word in words] in _VERSION:
        # `python -v` goes on to run what stands on its input, and so does `bash -v`.
        return words[0].text != "-v" or not program.startswith(("python", "bash"))
    if program == "find":
        return _find(words)
    entry = _TABLE.get(program)
    if (entry is None and program != "git") or risk_of(program, words):
        return False
    if program == "tar":
        return _tar(words)
    if program == "unzip":
        lists = any(word.plain in ("-l", "-Z", "-Z1", "-t", "-v") for word in words[:1])
        return lists and not takes_back(words) and not any(map(could_be_option, words))
    if entry is None:
        return _git(words)
    letters, valued, long = entry
    if letters == "*":
        return not any("[" in word.plain and word.is_unknown for word in words)
    if program == "command":
        return bool(words) and words[0].plain in ("-v", "-V")
    if program == "printf" and words[:1] and not words[0].is_literal:
        return False
    if program == "printf" and words[:1] and _SETS_VARIABLE.search(words[0].plain):
        return False
    if program in ("echo", "printf", ":", "true", "false"):
        return True
    if any(could_be_option(word) for word in words if not word.has_glob and not word.choices):
        return False
    found = split_arguments(words, valued=valued, valued_long=long - _SWITCHES)
    if program == "date" and any(not word.plain.startswith("+") for word in found.operands):
        # An operand without a plus sets the clock.
        return False
    if program == "hostname" and found.operands:
        # An operand sets the name.
        return False
    if program == "ps" and any(_SHOWS_ENVIRONMENT.match(word.plain) for word in found.operands):
        return False
    if program == "jq" and not all(map(_is_plain_jq, words)):
        return False
    if program == "awk" and any("ENVIRON" in word.text for word in words):
        return False
    if program in ("strings", "nm", "objdump", "size") and any(
        word.plain.startswith("@") for word in found.operands
    ):
        # A file with options.
        return False
    if program == "uniq" and len(found.operands) > 1:
        return False
    if program == "xxd" and len(found.operands) > 1:
        return False
    for option in found.options:
        if option.name.startswith("--"):
            if option.name not in long and option.name not in ("--help", "--version"):
                return False
        elif option.name[1:] not in letters + valued:
            return False
    return True


_SWITCHES = _set(
    "--utc --count --repeated --unique --ignore-case --forest --no-headers --raw-output --slurp "
    "--compact-output --null-input --exit-status --sort-keys --tab --raw-input --join-output"
)
"""Long options that take no value, where an operand behind them matters."""
_SHOWS_ENVIRONMENT = re.compile(r"[a-zA-Z]*[eE]")
"""`ps auxe`, without a dash: with the environment of each process, and the secrets in it."""
_SETS_VARIABLE = re.compile(r"-v|%[-+ #0-9.*]*n")
"""`printf -v x` and `printf %n x`."""
_JQ_READS = re.compile(r"\b(?:import|include|modulemeta)\b|\$ENV\b|(?<![.\w\"$])env\b")


def _is_plain_jq(word: Word) -> bool:
    """Is it no jq program that could read other files?"""
    return _JQ_READS.search(word.plain) is None


def _tar(words: Sequence[Word]) -> bool:
    """Does it only list an archive? One with a colon in its name is on another machine."""
    found = tar_arguments(words)
    archives = found.values("-f", "--file")
    return (
        found.has("-t", "--list")
        and not found.injectable
        and all(option.name in _TAR_LISTS for option in found.options)
        and all(word.is_literal and ":" not in word.text for word in archives)
    )


_TAR_LISTS = _set(
    "-t --list -f --file -v --verbose -z --gzip -j --bzip2 -J --xz -a --auto-compress -C "
    "--directory --wildcards --strip-components --full-time"
)


def _find(words: Sequence[Word]) -> bool:
    """Does it only look, and run only what reads the files that it finds?"""
    spans = list(exec_spans(words))
    inside = {position for start, end in spans for position in range(start, end + 1)}
    for position, word in enumerate(words):
        if position in inside:
            continue
        text = word.plain
        # A number after -mtime and its like also starts with a dash.
        is_number = text[1:].rstrip("cwbkMGd").isdigit()
        is_test = text in _FIND_TESTS or text.startswith("-newer") or is_number
        if text.startswith("-") and not is_test:
            return False
        may_be = [one.startswith("-") for one in word.choices] or [could_be_option(word)]
        if any(may_be):
            return False
    if any(words[start].text != "-exec" or end == len(words) for start, end in spans):
        return False
    commands = list(exec_commands(words))
    if not commands:
        return True
    return all(
        is_below_roots(words, command)
        and finds_files_only(words)
        and is_read_only(
            command[0].text,
            # Some name, which may be a program when it stands in the place of a script.
            [Word("{}", f"./{UNKNOWN}") if word.text == "{}" else word for word in command[1:]],
        )
        for command in commands
    )


def _git(words: Sequence[Word]) -> bool:
    found, subcommand, rest = git_parts(words)
    allowed_own = ("-C", "--no-pager", "--git-dir", "--work-tree", "--no-optional-locks", "-P")
    if any(option.name not in allowed_own for option in found.options):
        return False
    if found.has("--git-dir", "--work-tree"):
        return False
    if subcommand not in _GIT or any(word.splits for word in rest):
        return False
    options = _GIT[subcommand]
    if options is None:
        return True
    plain = [word.plain for word in rest]
    if subcommand == "clean":
        # `-f` beside `-n` deletes nothing.
        return any("n" in text for text in plain) and all(map(_GIT_DRY.fullmatch, plain))
    if subcommand in ("remote", "stash", "worktree", "reflog") and plain:
        first = plain[0]
        if subcommand == "remote" and first in ("-v", "--verbose"):
            # A subcommand may still follow.
            return len(plain) == 1
        if subcommand == "remote" and first == "show" and len(plain) > 1 and "-n" not in plain:
            # It asks the other side.
            return False
        return (
            first in options
            and (not first.startswith("-") or subcommand == "reflog")
            and all(not text.startswith("-") or text in options for text in plain)
        )
    if subcommand in ("stash", "worktree"):
        return False
    for text in plain:
        name = text.partition("=")[0]
        if text.startswith("-") and name not in options:
            return False
    if subcommand == "config":
        operands = [text for text in plain if not text.startswith("-")]
        return (len(operands) == 1 and "." in operands[0]) or any(
            text in ("--get", "--get-all", "--list", "-l", "--get-regexp", "get", "list")
            for text in plain
        )
    if subcommand in ("branch", "tag"):
        listing = {"--list", "-l", "--contains", "--merged", "--no-merged", "--points-at", "-n"}
        has_operand = any(not text.startswith("-") for text in plain)
        return not has_operand or any(text.partition("=")[0] in listing for text in plain)
    return True
