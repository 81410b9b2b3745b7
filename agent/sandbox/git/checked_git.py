"""Replaces git inside the sandbox: runs git only if it can write everything that it would change.

Arguments: a JSON list of work trees and writable directories, then git's own arguments.
"""

from __future__ import annotations

import json
import os
import shlex
import stat
import sys
from collections.abc import Iterable, Sequence
from typing import Final, NoReturn

from agent.sandbox.git.git_stops import (
    MAKES_TREE,
    MAX_STOPS,
    REAL_GIT,
    UNKNOWN_STOP,
    stop_line,
)
from permissions.base.process.run_inside import run_inside
from permissions.paths.protected_paths import Protection, protection_of
from permissions.shell.programs.git.tree_changes import (
    CHANGES_NO_TREE,
    MAKES_TREES,
    ChangesUnknown,
    changed_names,
    patched_names,
    patches,
    split_git,
)

_EXIT: Final = 128
_MAX_ALIASES: Final = 10


def main() -> NoReturn:
    """Replace this process by git, or print the reason to standard error and exit with 128."""
    trees, arguments = json.loads(sys.argv[1]), sys.argv[2:]
    command = _Git(*split_git(arguments)).without_aliases()
    env = dict(os.environ)
    if command.subcommand in MAKES_TREES:
        env[MAKES_TREE] = "1"
    else:
        for line in list(_stops(command, trees))[:MAX_STOPS]:
            print(line, file=sys.stderr)
            env.clear()
    if not env:
        sys.exit(_EXIT)
    os.execve(REAL_GIT, ("git", *arguments), env)


class _Git:
    """One call of git."""

    def __init__(self, own: Sequence[str], subcommand: str, rest: Sequence[str]) -> None:
        self.own = tuple(own)
        self.subcommand = subcommand
        self.rest = tuple(rest)

    def ask(self, arguments: tuple[str, ...], stdin: bytes) -> bytes | None:
        """Run git with this call's global options; return its output, or None if it fails."""
        env = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
        argv = (REAL_GIT, *self.own, "--no-pager", *arguments)
        return run_inside(argv, env, stdin)

    def without_aliases(self) -> _Git:
        """Return the call with aliases expanded; a shell alias (`!…`) is left as it is."""
        call = self
        for _ in range(_MAX_ALIASES):
            if call.subcommand in CHANGES_NO_TREE or not call.subcommand:
                break
            answer = call.ask(("config", "--get", f"alias.{call.subcommand}"), b"")
            text = os.fsdecode(answer or b"").strip()
            if not text or text.startswith("!"):
                break
            own, subcommand, rest = split_git(shlex.split(text))
            call = _Git((*call.own, *own), subcommand, (*rest, *call.rest))
        return call


def _stops(call: _Git, trees: Sequence[str]) -> Iterable[str]:
    """Yield a message for each path that git would change but cannot write."""
    answer = call.ask(("rev-parse", "--show-toplevel"), b"")
    if answer is None and call.subcommand != "apply":
        return
    top = os.getcwd() if answer is None else os.fsdecode(answer).removesuffix("\n")
    # A work tree around a directory that may be written counts as well; so does a patch that is
    # applied below one, without any work tree.
    is_known = any(_is_within(one, top) for one in trees)
    is_inside = any(_is_within(top, one) for one in trees)
    if not is_known and (answer is not None or not is_inside):
        return
    try:
        names = changed_names(call.subcommand, call.rest, call.ask)
        for patch in patches(call.subcommand, call.rest, call.ask):
            names |= patched_names(_patch(patch))
    except (ChangesUnknown, OSError) as error:
        yield UNKNOWN_STOP.format(top=top, reason=error)
        return
    for name in sorted(names):
        path = os.path.join(top, name)
        if protection_of(name) is not Protection.NONE or _is_read_only(path):
            yield stop_line(path)


def _is_within(path: str, directory: str) -> bool:
    """Whether a canonical path is a directory or below it."""
    return path == directory or path.startswith(f"{directory.rstrip('/')}/")


def _is_read_only(path: str) -> bool:
    """Return whether the path, or the directory that it would be made in, is mounted read-only."""
    while os.path.islink(path) or not os.path.exists(path):
        path = os.path.dirname(path)
    return bool(os.statvfs(path).f_flag & os.ST_RDONLY)


def _patch(name: str) -> bytes:
    if name != "-":
        from pathlib import Path  # few calls have a patch in a file, and all wait for imports

        path = Path(name)
        files = [path] if not path.is_dir() else sorted(path.rglob("*"))
        return b"\n".join(one.read_bytes() for one in files if one.is_file())
    if os.isatty(0):
        return b""
    with os.fdopen(os.dup(0), "rb") as stream:
        offset = stream.tell() if stat.S_ISREG(os.fstat(0).st_mode) else None
        content = stream.read()
    if offset is not None:
        os.lseek(0, offset, os.SEEK_SET)
    else:
        with os.fdopen(os.memfd_create("patch"), "wb") as copy:
            copy.write(content)
            copy.seek(0)
            os.dup2(copy.fileno(), 0)
    return content
