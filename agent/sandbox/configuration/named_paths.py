"""Paths that a command names below `/tmp` and `/run`, which the sandbox replaces by its own."""

from __future__ import annotations

import os
import re
import shlex
import stat
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

from agent.sandbox.policy import OVERLAID
from permissions.base.text.late_pattern import compile_late
from permissions.confinement import Confinement
from permissions.context import PermissionContext
from permissions.decision import Behavior
from permissions.evaluate.cascade import decide
from permissions.paths.resolve import is_below, relative_to
from permissions.request import PermissionRequest
from permissions.rule import RuleBehavior
from permissions.shell.analyze import analyze
from permissions.shell.syntax import Unparsable

_MAX_PATHS: Final = 50
_ABSOLUTE: Final = compile_late(r"(?:^|[=:@,])(/[^:,]+)")
_PUNCTUATION: Final = frozenset("();<>|&")


def readable_names(
    command: str, confinement: Confinement, context: PermissionContext
) -> tuple[str, ...]:
    """Return the absolute paths of a shell command that stay visible there, each once.

    These are paths that a rule allows it to read; under `project_files` also programs that it runs,
    and paths in the text of a rule. A path is left out if the session's own `/tmp` has a file of
    that name, which a mount would hide, and if it is a socket: permission to read does not permit a
    connection.
    """
    names = [
        path
        for path in dict.fromkeys(_absolute_paths(command))
        if any(is_below(os.path.realpath(path), one) for one in OVERLAID)
        and os.path.exists(path)
        and not _is_socket(path)
        and not _is_own(path, context)
    ]
    if not names:
        return ()
    runs = confinement is Confinement.PROJECT_FILES
    programs = _programs(command, context) if runs else frozenset[str]()
    return tuple(
        path
        for path in names[:_MAX_PATHS]
        if path in programs or (runs and _is_in_rule(path, context)) or _may_read(path, context)
    )


def without_sockets(paths: Iterable[str]) -> tuple[str, ...]:
    """Return the paths that exist, sockets left out."""
    return tuple(path for path in paths if os.path.exists(path) and not _is_socket(path))


def _is_socket(path: str) -> bool:
    try:
        return stat.S_ISSOCK(os.stat(path).st_mode)
    except OSError:
        return False


def _programs(command: str, context: PermissionContext) -> frozenset[str]:
    """Return the files that the command runs, by their absolute paths."""
    facts = analyze(command, str(context.launch_dir), str(context.home))
    if isinstance(facts, Unparsable):
        return frozenset()
    parts = chain.from_iterable(one.with_inner() for one in facts)
    heads = {os.path.normpath(form.head) for one in parts for form in one.deny_forms}
    return frozenset(path for path in heads if os.path.isabs(path) and os.path.isfile(path))


def _is_own(path: str, context: PermissionContext) -> bool:
    """Did a command of this session write a file of that name?"""
    relative = relative_to(path, "/tmp")
    if relative is None or context.scratch_dir is None:
        return False
    own = os.path.join(context.scratch_dir, relative)
    # An empty file is the mount point of an earlier run.
    return os.path.isfile(own) and os.path.getsize(own) > 0


def _is_in_rule(path: str, context: PermissionContext) -> bool:
    whole_path = re.compile(rf"(?<![\w./-]){re.escape(path)}(?![\w.-]|/(?!\*))")
    return any(
        rule.behavior is RuleBehavior.ALLOW
        and rule.tool.matches("Bash")
        and whole_path.search(rule.text) is not None
        for rule in context.rules.rules
    )


def _may_read(path: str, context: PermissionContext) -> bool:
    request = PermissionRequest("Read", {"file_path": path})
    return decide(request, context).behavior is Behavior.ALLOW


def _absolute_paths(command: str) -> Iterator[str]:
    """Yield the absolute paths in a command, except for targets of redirections."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split, lexer.commenters = True, ""
    last_word = ";"
    try:
        for word in lexer:
            if ">" not in last_word or not _PUNCTUATION.issuperset(last_word):
                yield from map(os.path.normpath, _ABSOLUTE.findall(word))
            last_word = word
    except ValueError:
        # An unclosed quote is usually part of a here-document.
        return
