"""Missing programs of hooks: each is reported once in a session."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from itertools import takewhile
from typing import Final

from msgspec.structs import replace

from hooks.answers.response import HandlerResult, error_line
from hooks.config.spec import CommandHandler, HandlerSpec
from permissions.base.text.late_pattern import compile_late

NOT_FOUND: Final = compile_late(r"(?:^|: )(?P<program>[^\s:/]+): (?:command )?not found$", re.M)
"""What shells print with exit status 127."""
CANNOT_RUN: Final = (126, 127)
"""Exit statuses of a shell that cannot start a program."""
SHELL_WORDS: Final = frozenset(
    {"if", "for", "while", "case", "until", "{", "(", "[", "[[", "!", "function", "time", "exec"}
)


class MissingPrograms:
    """The missing programs that one session has reported."""

    def __init__(self) -> None:
        """Nothing was reported yet."""
        self._reported_names: set[str] = set()
        self._reported_files: set[object] = set()
        """Keys of handlers whose file cannot be started."""

    def is_reported(self, spec: HandlerSpec) -> bool:
        """Whether it was reported that the file of a handler cannot be started."""
        return spec.key in self._reported_files

    def add_file(self, spec: HandlerSpec) -> None:
        """Note that the file of a handler was reported."""
        self._reported_files.add(spec.key)

    def line(self, program: str, count: int, single: str) -> str:
        """Return the report of a program: `single` for one hook; empty after the first time."""
        if program in self._reported_names:
            return ""
        self._reported_names.add(program)
        return f"{program} is missing: {count} hooks" if count > 1 else single

    def report_once(self, result: HandlerResult, specs: Iterable[HandlerSpec]) -> HandlerResult:
        """Return a result of one of `specs` with a notice that reports a missing program only
        once."""
        if not result.is_not_found and result.exit_code not in CANNOT_RUN:
            self._reported_files.discard(result.spec.key)
            return result
        if self.is_reported(result.spec):
            return replace(result, notice="")
        if _names_own_file(result):
            self.add_file(result.spec)
            return result
        program = _missing_program(result)
        if not program or result.error is None:
            return result
        count = sum(leading_program(spec) == program for spec in specs)
        return replace(result, notice=self.line(program, count, error_line(result)))


def leading_program(spec: HandlerSpec) -> str:
    """Return the program that a handler starts, as written; empty if only a shell can tell."""
    handler = spec.handler
    if not isinstance(handler, CommandHandler):
        return ""
    words = leading_words(handler.command) if handler.args is None else (handler.command,)
    return words[0] if words else ""


def leading_words(command: str) -> tuple[str, ...]:
    """Return the words of the first simple command, or nothing if only a shell can tell."""
    for line in command.splitlines():
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
            lexer.whitespace_split = True
            words = list(lexer)
        except ValueError:
            return ()
        simple = list(takewhile(lambda word: not set(word) <= set("();<>|&"), words))
        while simple and "=" in simple[0].split("/")[0] and not simple[0].startswith("="):
            simple.pop(0)
        return () if not simple or simple[0] in SHELL_WORDS else tuple(simple)
    return ()


def _names_own_file(result: HandlerResult) -> bool:
    """Whether a handler failed because the file that it starts is missing or not executable."""
    program = leading_program(result.spec)
    if "/" not in program or result.is_not_found:
        return "/" in program
    name = re.escape(program.rpartition("/")[2])
    problem = rf"{name}: (?:No such file or directory|not found|Permission denied)$"
    return re.search(problem, result.stderr, re.M) is not None


def _missing_program(result: HandlerResult) -> str:
    if result.exit_code == 127:
        match = NOT_FOUND.search(result.stderr)
        return match["program"] if match is not None else ""
    return leading_program(result.spec) if result.is_not_found else ""
