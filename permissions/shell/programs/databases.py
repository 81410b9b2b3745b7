"""What is known of the shells of databases: beside SQL they run programs, read and write files."""

from __future__ import annotations

import re
from collections.abc import Sequence

from permissions.shell.access import names
from permissions.shell.arguments import (
    split_arguments,
)
from permissions.shell.program import (
    Code,
    Program,
    Risk,
)
from permissions.shell.programs.common_arguments import (
    writes,
)
from permissions.shell.syntax import (
    Word,
)

_PROGRAMS = names("sqlite3 psql mysql mariadb")


_SQLITE_HARMLESS = names(
    "bail binary changes databases dbinfo dump echo eqp exit explain expert fullschema headers "
    "help indexes limit lint mode nullvalue parameter print progress prompt quit schema separator "
    "sha3sum show stats tables timeout timer version vfsinfo vfslist width"
)


_SQLITE_OTHERS = names(
    "archive auth backup cd check clone connection crlf crnl dbconfig dbtotxt excel filectrl "
    "import imposter indices intck iotrace load log nonce once open output read recover restore "
    "save scanstats selecttest session shell system testcase testctrl trace unmodule vfsname www"
)


_SQLITE_COMMAND = re.compile(r"(?:^|\n)[^\S\n]*+\.\s*([A-Za-z0-9]+)")


_SQLITE_SQL = re.compile(
    r"\b(?:readfile|writefile|load_extension|fts3_tokenizer|lsdir|fsdir|attach)\b"
    r"|\bedit\b(?:[\]\"`\s]|/\*[^*]*\*/)*\(|\bvacuum\b[^;]{0,200}\binto\b",
    re.IGNORECASE,
)


_PSQL_COMMAND = re.compile(r"\\([A-Za-z_]+|!)\+?")


_PSQL_HARMFUL = names(
    "! o out w write copy i ir include include_relative e edit ef ev s lo_export lo_import setenv "
    "cd gexec c connect"
)


_PSQL_SQL = re.compile(
    r"\bprogram\b|\\g[x]?[ \t]+[^\s;]|\\(?:set|pset)\b[^\n]*pager|\bpg_read_\w*file\b"
    r"|\blo_(?:im|ex)port\s*\(|\bcopy\b[^;]*\b(?:to|from)\s+'",
    re.IGNORECASE,
)


_MYSQL = re.compile(
    r"\\[!TPeN.]|(?:^|[\n;])[^\S\n]*+(?:system|source|tee|pager|edit)\b|\b(?:out|dump)file\b"
    r"|\bload_file\s*\(|\binfile\b",
    re.IGNORECASE,
)


_OPTIONS = {
    "sqlite3": names("-A -archive"),
    "mysql": names("--tee --pager --defaults-file --defaults-extra-file --plugin-dir"),
}


def escapes(program: str, words: Sequence[Word]) -> bool:
    """Does an argument make the shell of a database do something else than SQL?"""
    options = _OPTIONS.get("mysql" if program == "mariadb" else program, frozenset())
    if any(_is_option(word.plain.partition("=")[0], options) for word in words):
        return True
    if program == "psql":
        return any(_psql_escapes(value.plain) for value in _psql_texts(words))
    return any(_input_escapes(program, word.plain) for word in words)


def _is_option(name: str, options: frozenset[str]) -> bool:
    """Is it one of the options? A long one may be shortened."""
    is_long = name.startswith("--") and len(name) > 3
    return name in options or (is_long and any(option.startswith(name) for option in options))


def _psql_escapes(text: str) -> bool:
    if text.lstrip().startswith("\\"):
        return _input_escapes("psql", text)
    # What does not begin with a backslash goes to the server as it stands.
    return _PSQL_SQL.search(text) is not None


def _psql_texts(words: Sequence[Word]) -> list[Word]:
    found = split_arguments(words, valued="cdfFhLopPRTUv", valued_long=_PSQL_VALUED)
    return [
        option.value
        for option in found.options
        if option.value is not None
        and (option.name == "-c" or (len(option.name) > 3 and "--command".startswith(option.name)))
    ]


_PSQL_VALUED = names("--co --com --comm --comma --comman --command")


def _input_escapes(program: str, text: str) -> bool:
    """Does a text that the shell of a database is given do something else than SQL?"""
    match program:
        case "sqlite3":
            return _SQLITE_SQL.search(text) is not None or any(
                not _is_harmless_dot(match[1].lower()) for match in _SQLITE_COMMAND.finditer(text)
            )
        case "psql":
            return (
                _PSQL_SQL.search(text) is not None
                or any(match[1] in _PSQL_HARMFUL for match in _PSQL_COMMAND.finditer(text))
                # What stands between backticks behind a command of its own runs in a shell.
                or any("`" in line.partition("\\")[2] for line in text.splitlines())
            )
        case _:
            return _MYSQL.search(text) is not None


def input_risk(words: Sequence[Word], text: str | None) -> str:
    """Return the commands beside SQL on the input of a database's shell; "" when it is none."""
    program = words[0].plain.rpartition("/")[2] if words else ""
    if text is None or program not in _PROGRAMS or not _input_escapes(program, text):
        return ""
    return f"a command of {program} that runs a program or writes a file"


def _is_harmless_dot(name: str) -> bool:
    """Is it surely one of the harmless commands? Each may be shortened."""
    if name in _SQLITE_HARMLESS:
        return True
    is_open = any(one.startswith(name) for one in _SQLITE_OTHERS)
    return not is_open and any(one.startswith(name) for one in _SQLITE_HARMLESS)


def database_risk(program: str, words: Sequence[Word]) -> str:
    """Return whether an argument does something else than SQL."""
    is_risky = escapes(program, words)
    return f"a command of {program} that runs a program or writes a file" if is_risky else ""


PROGRAMS = (
    Program("sqlite3", accesses=writes(), code=Code.DATABASE,
        code_starts=r"(?:^|\n)[ \t]*\.[ \t]*(?:shell|system)[ \t]+([^\n]+)", risk=Risk(long="--cmd "
        "-cmd --init -init", single_dash=True), risk_check=database_risk),
    Program("psql", output_files="-L --log-file -o --output", read_options="-f --file",
        code=Code.DATABASE, code_starts=r"\\![ \t]*([^\n]+)", risk=Risk("oL", "--log-file --output",
        valued="cdhpUvfF"), risk_check=database_risk),
    Program("mysql", output_files="--tee", code=Code.DATABASE,
        code_starts=r"(?:\\!|(?:^|[\n;])[ \t]*system\b)[ \t]*([^\n;]+)", risk_check=database_risk),
    Program("mariadb", code=Code.DATABASE,
        code_starts=r"(?:\\!|(?:^|[\n;])[ \t]*system\b)[ \t]*([^\n;]+)", risk_check=database_risk),
    Program("pg_dump pg_dumpall", output_files="-f --file"),
    Program("mysqldump", output_files="-r --result-file", output_directories="-T --tab"),
    Program("mongodump", output_directories="-o --out"),
    Program("redis-cli", output_files="--rdb"),
)  # fmt: skip
