"""The script that replaces git in a confined command.

A confined git cannot write protected names and would fail in the middle of a checkout. The script
is mounted over git, so that every caller gets it, and lets `checked_git` check first.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Final

from agent.sandbox.git.git_stops import MAKES_TREE, REAL_GIT
from agent.sandbox.policy import SandboxPolicy
from agent.sandbox.protected.protected_names import is_repository
from permissions.base.process.program_path import path_outside
from permissions.base.process.run_program import run_blocking
from permissions.base.process.spawn import CannotStart, Launch
from permissions.paths.resolve import is_below

_PACKAGES: Final = str(Path(__file__).resolve().parents[3])
"""Directory of this program's packages; `-I -S` ignores environment variables and site packages."""
PROGRAM_DIRECTORIES: Final = (_PACKAGES, sys.prefix, sys.base_prefix)
"""Directories that the script must be able to read."""
_TIMEOUT_S: Final = 5.0
_SCRIPT: Final = """\
#!/bin/sh
case ${0##*/} in git-*) name=${0##*/}; set -- "${name#git-}" "$@";; esac
[ -z "${@MAKES_TREE@-}" ] || exec @REAL_GIT@ "$@"
: "${GIT_EXEC_PATH:=@EXEC_PATH@}"; export GIT_EXEC_PATH
value=
for word do
    if [ -n "$value" ]; then value=; continue; fi
    case $word in
    -C | -c | --git-dir | --work-tree | --namespace | --config-env | --attr-source) value=1 ;;
    -*) ;;
    @PLAIN@) exec @REAL_GIT@ "$@" ;;
    *) exec @PYTHON@ -I -S -c @PROGRAM@ @TREES@ "$@" ;;
    esac
done
exec @REAL_GIT@ "$@"
"""


def git_mounts(policy: SandboxPolicy, search_path: str) -> tuple[tuple[str, ...], bytes]:
    """Return the canonical paths of git, and the script that is mounted over them.

    Both are empty if there is no git, or nothing may be written.
    """
    writable = (*policy.write_roots, *policy.caches, policy.temp_dir)
    for root in writable:
        search_path = path_outside(search_path, Path(root))
    program = shutil.which("git", path=search_path)
    if program is None or not policy.write_roots:
        return (), b""
    # `_exec_path` runs it unconfined, so one that a command could have planted is rejected.
    if any(is_below(os.path.realpath(program), root) for root in writable):
        return (), b""
    exec_path = _exec_path(program)
    places = (program, *((f"{exec_path}/git",) if exec_path else ()))
    real_paths = tuple(
        dict.fromkeys(os.path.realpath(one) for one in places if os.path.exists(one))
    )
    return real_paths, _script(exec_path, _known_trees(policy)).encode("utf-8", "surrogateescape")


@lru_cache(maxsize=8)
def _exec_path(program: str) -> str:
    """Return the output of `git --exec-path`, git's directory of subcommands; "" if that fails."""
    try:
        result = run_blocking(
            Launch((program, "--exec-path"), {"PATH": os.defpath}, Path("/")), timeout_s=_TIMEOUT_S
        )
    except CannotStart:
        return ""
    return os.fsdecode(result.stdout).removesuffix("\n") if result.exit_code == 0 else ""


def _known_trees(policy: SandboxPolicy) -> list[str]:
    """Return the work trees that existed before the command, and the directories it may write.

    A repository that the command itself clones affects nothing else.
    """
    names = [path for directory in policy.found_names.values() for path in directory.names]
    trees = [os.path.dirname(path) for path in names if is_repository(path)]
    return list(dict.fromkeys((*policy.write_roots, *trees)))


def _script(exec_path: str, trees: Iterable[str]) -> str:
    # Imported with the first command that writes: the command parser is slow to import.
    from agent.sandbox.git.checked_git import main
    from permissions.shell.programs.git.tree_changes import CHANGES_NO_TREE

    program = (
        f"import sys; sys.path.append({_PACKAGES!r}); from {main.__module__} import main; main()"
    )
    values = {
        "MAKES_TREE": MAKES_TREE,
        "REAL_GIT": REAL_GIT,
        "EXEC_PATH": shlex.quote(exec_path),
        "PLAIN": " | ".join(sorted(CHANGES_NO_TREE)),
        "PYTHON": shlex.quote(sys.executable),
        "PROGRAM": shlex.quote(program),
        "TREES": shlex.quote(json.dumps(list(trees))),
    }
    return re.sub("@([A-Z_]+)@", lambda match: values[match[1]], _SCRIPT)
