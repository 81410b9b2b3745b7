"""Finds commands that code in arguments starts: `python -c "os.system('rm x')"`.

Only commands that are literal text are found. Deny and ask rules and the scope apply to them; they
never help an allow rule. What code starts in another way is not found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from shlex import quote

from permissions.shell.program import Code
from permissions.shell.programs.registry import program_named

_MAX_COMMANDS = 50
"""Maximum number of commands in one piece of code; further ones are ignored."""

_TEXT = r"""(?:"(?:[^"\\\n]|\\.){1,2000}"|'(?:[^'\\\n]|\\.){1,2000}'|`[^`\n]{1,2000}`)"""
_SPACE = r"\s*(?!\s)"
"""All the whitespace, so that a long run is read only once."""
_STARTS = (
    r"\b(?:os\.(?:system|popen|exec\w+|spawn\w+|execute)|subprocess\.\w+|popen|Popen|run|call"
    r"|getoutput|getstatusoutput|check_call|check_output|exec|execSync|execFile|execFileSync"
    r"|spawn|spawnSync|system|shell_exec|passthru|proc_open|pcntl_exec|do shell script)"
    rf"{_SPACE}\(?{_SPACE}\[?{_SPACE}({_TEXT}(?:{_SPACE},{_SPACE}\[?{_SPACE}{_TEXT})*)"
)
"""A call that starts a program, with its first text arguments; compiled when used."""
_BACKTICKS = (
    r"`([^`]{1,500})`|\b(?:qx|%x)\s?\{([^}]{1,500})\}|(?:\bqx|%x)\(([^)]{1,500})\)"
    r"""|["']\|([^"'|]{1,500})["']|["']([^"'|]{1,500})\|["']"""
)
"""Text that Perl, PHP and Ruby run as a command or open as a pipe."""


def commands_in_code(program: str, text: str) -> Iterator[str]:
    """Yield the commands that `text` starts when `program` runs it as code."""
    return islice(_find_commands(program, text), _MAX_COMMANDS)


def _find_commands(program: str, text: str) -> Iterator[str]:
    program_record = program_named(program)
    if program_record.code_starts:
        yield from (match[1] for match in re.finditer(program_record.code_starts, text))
    if program_record.code is not Code.LANGUAGE:
        return
    if program in ("perl", "php", "ruby"):
        for match in re.finditer(_BACKTICKS, text):
            yield next(filter(None, match.groups()))
    for match in re.finditer(_STARTS, text):
        # Python's `exec` runs Python code.
        if not (match[0].startswith("exec") and program.startswith(("python", "pypy"))):
            yield from _call_commands(match[1])


def _call_commands(texts: str) -> Iterator[str]:
    """Yield the command in the arguments of a call: one text or several."""
    pieces = [re.sub(r"\\(.)", r"\1", piece[1:-1]) for piece in re.findall(_TEXT, texts)]
    if len(pieces) == 1:
        yield pieces[0]
        return
    yield " ".join(map(quote, pieces))
    # `os.execvp("rm", ["rm", "x"])` has the program's name twice.
    yield " ".join(map(quote, pieces[1:]))
