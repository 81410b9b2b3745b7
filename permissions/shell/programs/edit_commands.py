"""The file commands that acceptEdits allows on operands inside the scope."""

from __future__ import annotations

from permissions.shell.access import names
from permissions.shell.programs.sed_script import sed_script_risk
from permissions.shell.programs.text_tools import sed_arguments
from permissions.shell.syntax import Word

EDIT_PROGRAMS = names("mkdir touch rm rmdir mv cp sed")


def is_edit(program: str, arguments: tuple[Word, ...], risk: str) -> bool:
    """Is it one of them, with nothing among its arguments that runs or writes something else?"""
    if program not in EDIT_PROGRAMS:
        return False
    if program != "sed":
        return not risk
    found = sed_arguments(arguments)
    if found.has("-f", "--file") or found.injectable:
        return False
    scripts = found.values("-e", "--expression") or found.operands[:1]
    return all(word.is_literal and not sed_script_risk(word.text) for word in scripts)
