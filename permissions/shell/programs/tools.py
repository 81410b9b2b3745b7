"""Program records of other tools: editors, documents, images, keys, mail, and system tools."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from permissions.base.text.late_pattern import compile_late
from permissions.shell.access import Access, AccessKind, each, names
from permissions.shell.arguments import Arguments, split_arguments
from permissions.shell.program import Code, Program, ReadOnly, Risk, Wrapper
from permissions.shell.programs.common_arguments import after_option, command_in, reads, writes
from permissions.shell.syntax import Word


def pandoc_risk(_program: str, words: Sequence[Word]) -> str:
    """Return the risk if a word is a Lua script; "" otherwise."""
    has_script = any(word.plain.endswith(".lua") for word in words)
    return "pandoc runs a script in Lua" if has_script else ""


def whole_words(words: Sequence[Word]) -> Iterator[str]:
    """Yield the command in every word."""
    for word in words:
        yield from command_in(word.text)


def editor(words: Sequence[Word]) -> list[Access]:
    """Return the files that vim opens, and those that `vim -c 'w file'` writes."""
    arguments = split_arguments(words, value_letters="cSuiT", value_options=names("--cmd"))
    output_files: list[Word] = []
    for value in (*arguments.values("-c", "--cmd"), *(Word(w.raw, w.text[1:]) for w in words)):
        match = _EDITOR_WRITE.match(value.text)
        if match:
            output_files.append(Word(value.raw, match[1]))
    operands = [word for word in arguments.operands if not word.plain.startswith("+")]
    return each(AccessKind.WRITE, [*operands, *output_files])


_EDITOR_WRITE = compile_late(r":?\s*(?:w|wq|write|sav|saveas|up|update|x)!?\s+(?:>>\s*)?(\S+)")


_EDITOR_HARMLESS = compile_late(r"--?|-[RndoOpbyZ]+\d*|\+(?:\d*|/.*)", re.DOTALL)
"""Options of vim that only affect how files are opened; any other option is a risk."""


def editor_risk(program: str, words: Sequence[Word]) -> str:
    """Return which option of vim may run a command."""
    for word in words:
        if word.text.startswith(("-", "+")) and not _EDITOR_HARMLESS.fullmatch(word.plain):
            return f"{program} {word.plain[:20]} is not understood"
    return ""


def tree(words: Sequence[Word]) -> list[Access]:
    """Return what tree lists and writes."""
    arguments = split_arguments(words, value_letters="LPIoHT")
    return [
        *each(AccessKind.READ, arguments.operands),
        *each(AccessKind.WRITE, arguments.values("-o")),
    ]


_SHOWS_ENVIRONMENT = compile_late(r"[a-zA-Z]*[eE]")
"""`ps auxe`, without a dash: prints the environment of each process, which may have secrets."""


def cron_tables(words: Sequence[Word]) -> str:
    return "" if any(word.text == "-l" for word in words) else "/var/spool/cron/crontabs"


def shows_date(_words: Sequence[Word], arguments: Arguments) -> bool:
    """Return whether every operand starts with a plus; any other would set the clock."""
    return all(word.plain.startswith("+") for word in arguments.operands)


def no_operand(_words: Sequence[Word], arguments: Arguments) -> bool:
    """Return whether there is no operand, which would set the name of the machine."""
    return not arguments.operands


def hides_environment(_words: Sequence[Word], arguments: Arguments) -> bool:
    """Return whether ps omits the environment of processes, which may have secrets."""
    return not any(_SHOWS_ENVIRONMENT.match(word.plain) for word in arguments.operands)


PROGRAMS = (
    Program("convert magick", risky_words=r"(?i)\||(?:msl|mvg|ephemeral):"),
    Program("dot", risk=Risk("oO", value_letters="TKGNE")),
    Program("fzf", risk=Risk(long="--bind --listen --listen-unsafe --preview --with-shell",
        value_letters="qfdn")),
    Program("gpg", risk=Risk("o", "--agent-program --exec-path --options --output  --photo-viewer",
        value_letters="ru")),
    Program("hyperfine", command_words=whole_words),
    Program("nix", commands=after_option("--args -c --command")),
    Program("nix-shell", command_options="--command --run"),
    Program("openssl",
        risk=Risk(long="-config -engine -keyout -out -provider -writerand", single_dash=True)),
    Program("pandoc", risk=Risk("oFd", "--defaults --filter --lua-filter --output --pdf-engine",
        value_letters="frtwVMTHBAcm"), risk_check=pandoc_risk),
    Program("rspec rubocop", checks_project=True),
    Program("tmux", command_words=whole_words, exact_only=True),
    Program("vi vim nvim ex view", accesses=editor, code=Code.EDITOR,
        code_starts=r"(?:^\+?|\n|\|)[: \t]*[\d$%,]*!([^\n]+)", risk_check=editor_risk,
        command_options="-c --cmd"),
    Program("vimdiff", accesses=reads(), risk_check=editor_risk),
    Program("gvim", risk_check=editor_risk),
    Program("ed", accesses=writes("p"), code=Code.EDITOR,
        code_starts=r"(?:^\+?|\n|\|)[: \t]*[\d$%,]*!([^\n]+)"),
    Program("nano micro", accesses=writes()),
    Program("emacs", accesses=writes("lf")),
    Program("ls", accesses=reads("IwT"), read_only=ReadOnly("aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ1",
        "IwT", "--all --almost-all --color --directory --full-time --group-directories-first "
        "--human-readable --inode --recursive --reverse --si --size --sort --time")),
    Program("dir vdir", accesses=reads("IwT")),
    Program("tree", accesses=tree, risk=Risk("o", "--output", value_letters="LPIHT"),
        read_only=ReadOnly("adfilpsughDFrtxNQACnJXS", "LPI", "--dirsfirst --du --gitignore "
        "--noreport"), follows_links="-l"),
    Program("pwd", read_only=ReadOnly("LP")),
    Program("whoami expr groups sleep", read_only=ReadOnly()),
    Program("id", read_only=ReadOnly("ugGnr")),
    Program("uname", read_only=ReadOnly("asnrvmpio")),
    Program("arch", read_only=ReadOnly(), wrapper=Wrapper()),
    Program("nproc", read_only=ReadOnly("", "", "--all")),
    Program("lscpu", read_only=ReadOnly("abceJpxy")),
    Program("cal", read_only=ReadOnly("13jmsy", "ABn")),
    Program("getconf", read_only=ReadOnly("a")),
    Program("uptime", read_only=ReadOnly("ps", "", "--pretty --since")),
    Program("free", read_only=ReadOnly("bkmghtlw", "", "--giga --human --mega --total")),
    Program("hostname", read_only=ReadOnly("sI", check=no_operand)),
    Program("lsb_release", read_only=ReadOnly("aidrcs")),
    Program("date", risk=Risk("s", "--set", value_letters="drfI"), read_only=ReadOnly("uIR", "d",
        "--date --iso-8601 --rfc-3339 --utc", check=shows_date)),
    Program("basename", read_only=ReadOnly("az", "s")),
    Program("dirname", read_only=ReadOnly("z")),
    Program("which", read_only=ReadOnly("as")),
    Program("ps", shows="processes", read_only=ReadOnly("aAdefFjlLmTuvwxyHZ", "pCoGUtq",
        "--forest --no-headers --pid --ppid --sort", check=hides_environment)),
    Program("seq", read_only=ReadOnly("w", "fs")),
    Program("ss", shows="ports", read_only=ReadOnly("tulnpasxi46OH")),
    Program("pgrep pidof pstree top htop", shows="processes"),
    Program("netstat lsof fuser", shows="ports"),
    Program("journalctl",
        risk=Risk(long="--rotate --vacuum-files " "--vacuum-size --vacuum-time",
        value_letters="unpo")),
    Program("systemctl", global_valued="HMt"),
    Program("crontab", code=Code.OTHER,
        code_starts=r"(?:^|\n)[ \t]*(?:@\w+[ \t]+|(?:[^\s#]\S*[ \t]+){5})([^\n]+)",
        changes_settings=cron_tables),
    Program("man", risk=Risk("PHC", "--config-file --html --pager --preprocessor",
        value_letters="RLmMSseEpT"), command_options="-P --pager"),
    Program("tcpdump", risk=Risk("zw", value_letters="cCFGijrsTWy")),
)  # fmt: skip
