"""What a repository's own git configuration would make git run: read as text, before any git runs.

A clone never contains these, a copied or unpacked repository may. They wait for trust like hooks
do.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from agent.settings.trust import TrustItem, item
from permissions.base.files.plain_file import read_plain, read_start

MAX_BYTES: Final = 1_000_000

_RUNS_PROGRAMS: Final = re.compile(
    r"^(core\.(fsmonitor|sshcommand|hookspath|pager|editor|askpass|gitproxy|alternaterefscommand)"
    r"|filter\..+\.(clean|smudge|process)|diff\.external|diff\..+\.(command|textconv)"
    r"|merge\..+\.driver|gpg\.(.+\.)?program|credential\.(.+\.)?helper|sequence\.editor"
    r"|uploadpack\.packobjectshook|remote\..+\.(uploadpack|receivepack|vcs)|submodule\..+\.update"
    r"|include\.path|includeif\..+\.path|(diff|merge)tool\..+\.cmd|pager\..+|interactive\.difffilter)$"
)
_HARMLESS_VALUES: Final = frozenset({"", "true", "false", "yes", "no", "checkout", "rebase"})
_SECTION = re.compile(r'^\s*\[\s*([\w.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]')
_ENTRY = re.compile(r"^\s*([A-Za-z][\w-]*)\s*(?:=\s*(.*?))?\s*$")


def git_items(project_root: Path) -> Iterator[TrustItem]:
    """Yield one item per entry that makes git run a program; nothing outside a repository."""
    for path in _config_files(project_root):
        try:
            text = read_start(path, MAX_BYTES).decode("utf-8", "replace")
        except OSError:
            continue
        for line, name, value in _entries(text):
            if _RUNS_PROGRAMS.match(name.lower()) and value.lower() not in _HARMLESS_VALUES:
                label = f"git {name} = {value}"
                yield item("setting", label, label, file=path, line=line)


def _config_files(project_root: Path) -> tuple[Path, ...]:
    git_dir = project_root / ".git"
    if os.path.isfile(git_dir):
        try:
            target = read_plain(git_dir).decode("utf-8").strip().removeprefix("gitdir:").strip()
        except (OSError, UnicodeDecodeError):
            return ()
        git_dir = (project_root / target).resolve()
    common = git_dir / "commondir"
    roots = [git_dir]
    if os.path.isfile(common):
        try:
            roots.append((git_dir / read_plain(common).decode("utf-8").strip()).resolve())
        except (OSError, UnicodeDecodeError):
            return ()
    return tuple(root / name for root in roots for name in ("config", "config.worktree"))


def _entries(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield `(line, section.key, value)`; an entry on its section's line applies too."""
    section = ""
    for number, line in enumerate(text.replace("\\\n", " ").splitlines(), start=1):
        found = _SECTION.match(line)
        if found is not None:
            section = f"{found[1]}.{found[2]}" if found[2] is not None else found[1]
            line = line[found.end() :]
        entry = _ENTRY.match(line.split("#", 1)[0] if '"' not in line else line)
        if entry is not None and section:
            yield number, f"{section}.{entry[1]}", (entry[2] or "true").strip().strip('"')
