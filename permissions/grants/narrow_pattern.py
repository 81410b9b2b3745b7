"""The narrowest useful pattern for one simple command, and what it allows beyond that command.

A wildcard follows a program and its subcommand at a word boundary, but never an interpreter, or a
command that runs foreign code or discards work.
"""

from __future__ import annotations

import shlex
from typing import Final

from permissions.shell.access import names
from permissions.shell.program import Program
from permissions.shell.programs.registry import program_named


def pattern_for(command: str) -> str | None:
    """Return the narrowest useful pattern for one simple command, or None where none is safe."""
    words = _plain_words(command)
    if not words:
        return None
    program = words[0]
    program_record = program_named(program)
    if program_record.exact_only or "/" in program or len(words) == 1:
        return command.strip()
    if program_record.has_subcommands:
        return _subcommand_pattern(program_record, words, command)
    return f"{program} *" if program_record.checks_project else command.strip()


def _plain_words(command: str) -> list[str]:
    """Return the words of a command; [] if they cannot be taken literally."""
    if any(mark in command for mark in "\n*$`"):
        return []
    try:
        words = shlex.split(command)
    except ValueError:
        return []
    return [] if not words or "=" in words[0] else words


def _subcommand_pattern(program_record: Program, words: list[str], command: str) -> str:
    program, sub = words[:2]
    if sub.startswith("-") or sub in names(program_record.exact_subcommands):
        return command.strip()
    if sub == "run" and len(words) > 2:
        return f"{program} run {words[2]} *"
    if program_record.exact_third:
        return _after_two(program_record, words, command)
    return f"{program} {sub} *"


def _after_two(program_record: Program, words: list[str], command: str) -> str:
    """Return the pattern of a program whose second and third word together determine its action."""
    has_third = len(words) > 2 and not words[2].startswith("-")
    if not has_third or words[2] in names(program_record.exact_third):
        return command.strip()
    return f"{words[0]} {words[1]} {words[2]} *"


def beyond(pattern: str) -> str:
    """Return what a pattern allows beyond its command, in words; empty for an exact one."""
    if not pattern.endswith(" *"):
        return ""
    stem = pattern[:-2]
    caution = _CAUTIONS.get(stem)
    return f"{stem} with any arguments" + (f", {caution}" if caution else "")


_CAUTIONS: Final = {
    "git push": "--force included",
    "git commit": "--amend included",
    "git merge": "into any branch",
    "git pull": "from any remote",
}
