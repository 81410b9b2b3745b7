"""Program records of database shells: besides SQL they run programs, and read and write files."""

from __future__ import annotations

import re
from collections.abc import Sequence

from permissions.base.text.late_pattern import compile_late
from permissions.shell.access import names
from permissions.shell.program import Code, Program, Risk
from permissions.shell.programs.common_arguments import writes
from permissions.shell.syntax import Word

_SHELLS = names("sqlite3 psql mysql mariadb")
_COMMAND = compile_late(
    r"\.(?:tab(?:les)?|schema|dump|mode|headers|indexes|databases|quit|exit)(?:[ \t]+[\w.]+)*"
    r"|\\(?:d\w*|l|x|q|timing|conninfo)\+?(?:[ \t]+[\w.]+)*"
)
"""A command of the database shell that only shows something."""
_STATEMENT = compile_late(
    r"(?:select|insert|update|delete|explain|show|describe|desc|with|begin|commit|rollback|values"
    r"|(?:create|drop|alter)\s+(?:table|index|view|unique\s+index)|truncate)\b",
    re.IGNORECASE,
)
_UNSAFE = compile_late(
    r"\b(?:attach|vacuum|\w*file|copy|program|load|system|source|tee|pager)\b|/\*|^[.\\]",
    re.IGNORECASE | re.MULTILINE,
)
_FUNCTION = compile_late(r"([\w\"`\]]+)\s*\(")
_FUNCTIONS = names(
    "count sum avg min max lower upper length coalesce round abs replace regexp_replace substr "
    "trim concat now date in as and or not exists over values key references table on using from "
    "where select unique check varchar char numeric decimal int by distinct group_concat"
)


def _only_queries(text: str) -> bool:
    """Return whether it is common SQL or commands that only show something."""
    lines = (line.strip() for line in text.splitlines())
    sql = "\n".join(line for line in lines if not _COMMAND.fullmatch(line))
    if _UNSAFE.search(sql) or not _calls_known(sql):
        return False
    plain = re.sub(r"'[^']*'", "''", sql)
    if "\\" in plain or ("\\" in sql and re.search(r"\\'|[\"$]", sql)):
        return False
    return all(_STATEMENT.match(one.strip()) for one in plain.split(";") if one.strip())


def _calls_known(sql: str) -> bool:
    return all(match[1].lower() in _FUNCTIONS for match in _FUNCTION.finditer(sql))


def input_risk(words: Sequence[Word], text: str | None) -> str:
    """Return why a wildcard does not cover the input of a database shell; "" if it may."""
    program = words[0].plain.rpartition("/")[2] if words else ""
    is_query = text is None or program not in _SHELLS or _only_queries(text)
    return "" if is_query else _risk(program)


def database_risk(program: str, words: Sequence[Word]) -> str:
    """Return the risk if an argument may do more than query; "" otherwise."""
    texts = [word.text for word in words if re.search(r"\s", word.text) or word.text[:1] in ".\\"]
    return "" if all(map(_only_queries, texts)) else _risk(program)


def _risk(program: str) -> str:
    return f"what {program} is given may run a program or write a file"


PROGRAMS = (
    Program("sqlite3", accesses=writes(), code=Code.DATABASE,
        code_starts=r"(?:^|\n)[ \t]*\.[ \t]*(?:shell|system)[ \t]+([^\n]+)", risk=Risk(long="--cmd "
        "-cmd --init -init -A -archive", single_dash=True), risk_check=database_risk),
    Program("psql", code=Code.DATABASE, code_starts=r"\\![ \t]*([^\n]+)",
        risk=Risk("oL", "--log-file --output", value_letters="cdhpUvfF"), risk_check=database_risk),
    Program("mysql mariadb", code=Code.DATABASE,
        code_starts=r"(?:\\!|(?:^|[\n;])[ \t]*system\b)[ \t]*([^\n;]+)", risk=Risk(long="--tee "
        "--pager --defaults-file --defaults-extra-file --plugin-dir  --init-command",
        value_letters="ehupPD"), risk_check=database_risk),
)  # fmt: skip
