"""What is known of programs that list directories, and tell about the machine."""

from __future__ import annotations

import re
from collections.abc import Sequence

from permissions.shell.access import Access, AccessKind, each
from permissions.shell.arguments import (
    Arguments,
    split_arguments,
)
from permissions.shell.programs.common_arguments import (
    reads,
)
from permissions.shell.programs.program import (
    Code,
    Program,
    ReadOnly,
    Risk,
    Wrapper,
)
from permissions.shell.syntax import (
    Word,
)


def tree(words: Sequence[Word]) -> list[Access]:
    """Return what tree lists and writes."""
    found = split_arguments(words, valued="LPIoHT")
    return [
        *each(AccessKind.READ, found.operands),
        *each(AccessKind.WRITE, found.values("-o")),
    ]


_SHOWS_ENVIRONMENT = re.compile(r"[a-zA-Z]*[eE]")
"""`ps auxe`, without a dash: with the environment of each process, and the secrets in it."""


def cron_tables(words: Sequence[Word]) -> str:
    return "" if any(word.text == "-l" for word in words) else "/var/spool/cron/crontabs"


def shows_date(words: Sequence[Word], arguments: Arguments) -> bool:
    """Is there no operand without a plus, which sets the clock?"""
    del words
    return all(word.plain.startswith("+") for word in arguments.operands)


def no_operand(words: Sequence[Word], arguments: Arguments) -> bool:
    """Is there no operand, which sets the name of the machine?"""
    del words
    return not arguments.operands


def hides_environment(words: Sequence[Word], arguments: Arguments) -> bool:
    """Does ps leave the environment of processes out, with the secrets in it?"""
    del words
    return not any(_SHOWS_ENVIRONMENT.match(word.plain) for word in arguments.operands)


PROGRAMS = (
    Program("ls", accesses=reads("IwT"), read_only=ReadOnly("aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ1",
        "IwT", "--all --almost-all --color --directory --full-time --group-directories-first "
        "--human-readable --inode --recursive --reverse --si --size --sort --time")),
    Program("dir vdir", accesses=reads("IwT")),
    Program("tree", accesses=tree, risk=Risk("o", "--output", valued="LPIHT"),
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
    Program("date", risk=Risk("s", "--set", valued="drfI"), read_only=ReadOnly("uIR", "dr",
        "--date --iso-8601 --reference --rfc-3339 --utc", check=shows_date)),
    Program("basename", read_only=ReadOnly("az", "s")),
    Program("dirname", read_only=ReadOnly("z")),
    Program("which", read_only=ReadOnly("as")),
    Program("ps", read_only=ReadOnly("aAdefFjlLmTuvwxyHZ", "pCoGUtq", "--forest --no-headers --pid "
        "--ppid --sort", check=hides_environment)),
    Program("seq", read_only=ReadOnly("w", "fs")),
    Program("ss", read_only=ReadOnly("tulnpasxi46OH")),
    Program("journalctl", read_options="--file", risk=Risk(long="--rotate --vacuum-files "
        "--vacuum-size --vacuum-time", valued="unpo")),
    Program("systemctl", global_valued="HMt"),
    Program("crontab", code=Code.OTHER,
        code_starts=r"(?:^|\n)[ \t]*(?:@\w+[ \t]+|(?:[^\s#]\S*[ \t]+){5})([^\n]+)",
        changes_settings=cron_tables),
    Program("mount", output_operands={"": 1}),
    Program("man", risk=Risk("PHC", "--config-file --html --pager --preprocessor",
        valued="RLmMSseEpT"), command_options="-P --pager"),
    Program("tcpdump", output_files="-o -w", read_options="-r", risk=Risk("zw",
        valued="cCFGijrsTWy")),
    Program("dig", read_options="-f", network="*"),
    Program("nmap", output_files="-oA -oG -oN -oX"),
    Program("logrotate", output_files="-l --log -s --state"),
    Program("history", output_files="-a -w"),
)  # fmt: skip
