"""Parses a command into `syntax` from the tree-sitter tree, and checks it against the lexer. Fails
closed: an unsupported node type, gap or quoting raises `Unparsable`.
"""

from __future__ import annotations

import re
from functools import lru_cache

import tree_sitter_bash
from msgspec.structs import replace
from tree_sitter import Language, Parser

from permissions.base.text.late_pattern import compile_late
from permissions.shell.parse.cross_check import verify
from permissions.shell.parse.grammar_workarounds import respell
from permissions.shell.parse.lexer import Lexer, Marks
from permissions.shell.parse.statements import StatementReader
from permissions.shell.parse.words import only_uses_temp_dir
from permissions.shell.syntax import PRIVATE_MARKS, Script, Unparsable

MAX_CHARACTERS = 10_000
"""Longer commands are never allowed (a documented limit)."""

SHORT_CHARACTERS = 500
"""Maximum length of a command that goes into the large cache."""

_ONE_WORD = compile_late(r"/[\w./+@%=-]*", re.ASCII)
"""A path that the shell does not split and that has no pattern."""
_CONTROL = compile_late(r"[\x00-\x08\x0b-\x1f\x7f\x80-\x9f]")

_LANGUAGE = Language(tree_sitter_bash.language())
_PARSER = Parser(_LANGUAGE)


def parse(command: str, temp_dir: str = "") -> Script | Unparsable:
    """Return the parsed command, or the error (returned, so that it is cached).

    `temp_dir` is the value of TMPDIR when the command starts, empty if it is not known. It is
    inserted if nothing in the command could set the variable.
    """
    if temp_dir and only_uses_temp_dir(command) and _ONE_WORD.fullmatch(temp_dir):
        script = _parse_with_temp_dir(command, temp_dir)
        if isinstance(script, Script) and not (script.may_set_any or script.taints_variables):
            return script
    return _parse_short(command) if len(command) <= SHORT_CHARACTERS else _parse_long(command)


def _read(command: str, temp_dir: str = "") -> Script | Unparsable:
    if len(command) > MAX_CHARACTERS:
        return Unparsable(f"the command has more than {MAX_CHARACTERS:,} characters")
    if _CONTROL.search(command):
        return Unparsable("the command contains control characters")
    if not command.isascii() and any(mark in PRIVATE_MARKS for mark in command):
        return Unparsable("the command contains private-use characters")
    try:
        source = command.encode("utf-8")
    except UnicodeEncodeError:
        return Unparsable("the command is not valid text")
    try:
        marks = Lexer(source.decode("latin-1")).scan()
    except Unparsable as error:
        return error
    except RecursionError:
        return Unparsable("nested too deeply")
    result = _parse_verified(source, marks, temp_dir)
    if isinstance(result, Script):
        return result
    plainer = respell(source, marks.here_documents)
    if plainer is None:
        return result
    plainer_result = _parse_bytes(plainer, temp_dir)
    return (
        replace(plainer_result, raw=command.strip())
        if isinstance(plainer_result, Script)
        else result
    )


def _parse_verified(source: bytes, marks: Marks, temp_dir: str) -> Script | Unparsable:
    try:
        # One node object: it caches its children for the second reader.
        root = _PARSER.parse(source).root_node
        verify(root, source, marks)
        return StatementReader(source, temp_dir).script(root)
    except Unparsable as error:
        return error
    except RecursionError:
        return Unparsable("nested too deeply")


def _parse_bytes(source: bytes, temp_dir: str) -> Script | Unparsable:
    try:
        return _parse_verified(source, Lexer(source.decode("latin-1")).scan(), temp_dir)
    except Unparsable as error:
        return error
    except RecursionError:
        return Unparsable("nested too deeply")


# The caches stay small: many short commands, and a few long ones.
_parse_short = lru_cache(maxsize=512)(_read)
_parse_long = lru_cache(maxsize=4)(_read)
_parse_with_temp_dir = lru_cache(maxsize=16)(_read)
