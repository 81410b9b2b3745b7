"""What a command names below `/tmp` and `/run`, where the sandbox shows directories of its own."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from typing import Final

from agent.sandbox.policy import OVERLAID
from permissions.confinement import Confinement
from permissions.context import PermissionContext
from permissions.decision import Behavior
from permissions.evaluate.cascade import decide
from permissions.paths.resolve import is_below, relative_to
from permissions.request import PermissionRequest
from permissions.rule import RuleBehavior

_MAX_PATHS: Final = 50
_ABSOLUTE: Final = re.compile(r"(?:^|[=:@,])(/[^:,]+)")
_PUNCTUATION: Final = frozenset("();<>|&")


def readable_names(
    command: str, confinement: Confinement, context: PermissionContext
) -> tuple[str, ...]:
    """Return the absolute paths of a shell command that stay visible there, each once.

    Those that a rule lets it read; under `project_files` also programs that it runs, and what the
    text of a rule names. What the session has under the same name is not hidden.
    """
    names = dict.fromkeys(
        (path, is_program)
        for path, is_program in _absolute_paths(command)
        if any(is_below(os.path.realpath(path), one) for one in OVERLAID)
        and os.path.exists(path)
        and not _is_own(path, context)
    )
    runs = confinement is Confinement.PROJECT_FILES
    return tuple(
        path
        for path, is_program in list(names)[:_MAX_PATHS]
        if (runs and (is_program or _is_in_rule(path, context))) or _may_read(path, context)
    )


def _is_own(path: str, context: PermissionContext) -> bool:
    """Did a command of this session write a file of that name?"""
    relative = relative_to(path, "/tmp")
    if relative is None or context.scratch_dir is None:
        return False
    own = os.path.join(context.scratch_dir, relative)
    # An empty one is what an earlier mount stood on.
    return os.path.isfile(own) and os.path.getsize(own) > 0


def _is_in_rule(path: str, context: PermissionContext) -> bool:
    rules = context.rules.rules
    return any(
        rule.behavior is RuleBehavior.ALLOW and rule.tool.matches("Bash") and path in rule.text
        for rule in rules
    )


def _may_read(path: str, context: PermissionContext) -> bool:
    request = PermissionRequest("Read", {"file_path": path})
    return decide(request, context).behavior is Behavior.ALLOW


def _absolute_paths(command: str) -> Iterator[tuple[str, bool]]:
    """Yield each with whether it stands where a program does; not what is written to."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split, lexer.commenters = True, ""
    last_word = ";"
    try:
        for word in lexer:
            is_joined = _PUNCTUATION.issuperset(last_word)
            if ">" not in last_word or not is_joined:
                for path in _ABSOLUTE.findall(word):
                    is_program = is_joined and "<" not in last_word and word.startswith("/")
                    yield os.path.normpath(path), is_program
            last_word = word
    except ValueError:
        # A quote that is not closed belongs to a here-document, as a rule.
        return
