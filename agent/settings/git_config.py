"""Programs that a repository's configuration and hooks would make git run, as items for trust.

Git itself is asked where the repository is and what its configuration contains, so that everything
is read as git reads it; git runs no program for that. A clone never contains such entries, a copied
or unpacked repository may.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from agent.settings.trust import TrustItem, item
from permissions.base.files.plain_file import read_plain, read_start
from permissions.base.process.reading_programs import ReadingPrograms
from permissions.base.process.run_program import ProcessResult, run_blocking
from permissions.base.process.spawn import CannotStart, Launch
from permissions.base.text.late_pattern import compile_late

MAX_BYTES: Final = 1_000_000
"""Largest configuration that is parsed; a larger one is a single item."""
TIMEOUT_S: Final = 3.0
_REPOSITORY_NAMES: Final = (".git", "HEAD")
"""A directory without any of these names is not a git repository."""
_CONFIGURATIONS: Final = ("config", "config.worktree")
_NO_REPOSITORY: Final = b"fatal: not a git repository"

_KNOWN_HARMLESS: Final = compile_late(
    r"core\.(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode"
    r"|symlinks|autocrlf|eol|safecrlf|quotepath|abbrev|compression|longpaths|untrackedcache"
    r"|splitindex|commitgraph|multipackindex|preloadindex|trustctime|checkstat|whitespace"
    r"|protecthfs|protectntfs|sparsecheckout|sparsecheckoutcone|hidedotfiles|sharedrepository"
    r"|commentchar|bigfilethreshold)"
    r"|extensions\.(worktreeconfig|objectformat|refstorage|partialclone|relativeworktrees)"
    r"|(user|author|committer)\.(name|email|signingkey|useconfigonly)"
    r"|branch\..+\.(remote|pushremote|merge|rebase|description|vscode-merge-base|gh-merge-base"
    r"|github-pr-owner-number)|branch\.(autosetupmerge|autosetuprebase|sort)"
    r"|remote\..+\.(url|pushurl|fetch|push|tagopt|prune|prunetags|mirror|skipdefaultupdate"
    r"|skipfetchall|gh-resolved|promisor|partialclonefilter)|remote\.pushdefault"
    r"|submodule\..+\.(url|active|branch|fetchrecursesubmodules|ignore|shallow)"
    r"|submodule\.(active|recurse|fetchjobs)"
    r"|(advice|color|column|feature|status)\..+"
    r"|pull\.(rebase|ff)|push\.(default|autosetupremote|followtags)"
    r"|fetch\.(prune|prunetags|parallel|recursesubmodules|writecommitgraph)"
    r"|rebase\.(autostash|autosquash|updaterefs|stat)"
    r"|merge\.(conflictstyle|ff|renames|renamelimit|verbosity|stat|log|directoryrenames)"
    r"|diff\.(algorithm|renames|renamelimit|mnemonicprefix|noprefix|colormoved|context)"
    r"|log\.(date|follow|decorate|abbrevcommit)|init\.defaultbranch"
    r"|gc\.(auto|autopacklimit|autodetach|pruneexpire|reflogexpire|worktreepruneexpire)"
    r"|pack\.(threads|windowmemory|packsizelimit)|index\.(version|threads|sparse)"
    r"|maintenance\.(auto|strategy)|commit\.(gpgsign|verbose|cleanup|status)"
    r"|tag\.(gpgsign|sort)|http\.(postbuffer|version)"
    r"|lfs\.(repositoryformatversion|.+\.access|.+\.locksverify)"
    r"|credential\.(.+\.)?(username|usehttppath)|rerere\.(enabled|autoupdate)",
    re.IGNORECASE | re.DOTALL,
)
"""Keys that name no program and no other file; any other key is an item."""
_HARMLESS_PROGRAMS: Final = compile_late(
    r"core\.fsmonitor=(|true|false)|submodule\..+\.update=(checkout|rebase|merge|none)",
    re.IGNORECASE | re.DOTALL,
)
_MAY_RUN: Final = compile_late(r"::|^!")
"""Matches values with a transport helper such as `ext::`, or a shell command."""


def git_items(project_root: Path, programs: ReadingPrograms) -> Iterator[TrustItem]:
    """Yield an item for each entry or hook that may make git run a program.

    Nothing outside a repository. Files that cannot be judged are single items.
    """
    if not any(os.path.lexists(project_root / name) for name in _REPOSITORY_NAMES):
        return
    try:
        own, common = _repository(project_root, programs)
    except _Unreadable as error:
        if error.reason:
            yield item("setting", f"git repository ({error.reason})", [str(error), error.reason])
        return
    for directory in dict.fromkeys((common, own)):
        for name in _CONFIGURATIONS:
            yield from _config_items(directory / name, programs)
    yield from _hook_items(common / "hooks")


def directory_items(repository: Path, programs: ReadingPrograms) -> Iterator[TrustItem]:
    """Yield the items of a directory that git would accept as a repository."""
    if os.path.lexists(repository / "commondir"):
        yield item("setting", "git repository (it shares another)", [str(repository)])
    for name in _CONFIGURATIONS:
        yield from _config_items(repository / name, programs)
    yield from _hook_items(repository / "hooks")


def repository_entries(items: Iterable[TrustItem]) -> Iterator[tuple[Path, str, str]]:
    """Yield file, name and value of each configuration entry among the items."""
    for entry in items:
        name, separator, value = entry.label.removeprefix("git ").partition(" = ")
        if separator and entry.file is not None and entry.label.startswith("git "):
            yield entry.file, name, value


class _Unreadable(Exception):
    """Git reports no usable repository; `reason` is empty if there is none at all."""

    def __init__(self, reason: str) -> None:
        super().__init__("unreadable")
        self.reason = reason


def _repository(root: Path, programs: ReadingPrograms) -> tuple[Path, Path]:
    """Return the git directory, and the common directory that its work trees share."""
    result = _run(programs.git(root, "rev-parse", "--git-dir", "--git-common-dir"))
    if result.exit_code != 0:
        if result.stderr.startswith(_NO_REPOSITORY):
            raise _Unreadable("")
        if b"safe.directory" in result.stderr:
            raise _Unreadable("it belongs to another user, so git refuses to use it")
        lines = result.stderr.decode("utf-8", "replace").splitlines() or ["git does not respond"]
        raise _Unreadable(lines[0].removeprefix("fatal: "))
    names = result.stdout.removesuffix(b"\n").split(b"\n")
    if len(names) != 2:
        raise _Unreadable("its path contains a line break")
    own, common = (root / os.fsdecode(name) for name in names)
    return own, common


def _config_items(path: Path, programs: ReadingPrograms) -> Iterator[TrustItem]:
    try:
        data = read_plain(path, MAX_BYTES)
    except FileNotFoundError:
        return
    except OSError as error:
        yield _file_item(path, error.strerror or "unreadable")
        return
    # Passed on standard input, outside any repository, so that git parses what was read here.
    result = _run(
        programs.git(
            Path("/"), "config", "--file", "-", "--list", "-z", "--no-includes", stdin=data
        )
    )
    if result.exit_code != 0:
        yield _file_item(path, "git cannot read it")
        return
    for entry in result.stdout.decode("utf-8", "surrogateescape").split("\0")[:-1]:
        name, separator, value = entry.partition("\n")
        if not _is_harmless(name, value):
            label = f"git {name} = {value}" if separator else f"git {name}"
            yield item("setting", label, label, file=path)


def _is_harmless(name: str, value: str) -> bool:
    if _MAY_RUN.search(value):
        return False
    return bool(_KNOWN_HARMLESS.fullmatch(name) or _HARMLESS_PROGRAMS.fullmatch(f"{name}={value}"))


def _hook_items(directory: Path) -> Iterator[TrustItem]:
    """Yield the hooks that git would run: executable files that are not samples."""
    try:
        names = sorted(os.listdir(directory))
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        yield _file_item(directory, error.strerror or "unreadable")
        return
    for name in names:
        path = directory / name
        if not name.endswith(".sample") and os.path.isfile(path) and os.access(path, os.X_OK):
            yield _file_item(path, "")


def _file_item(path: Path, reason: str) -> TrustItem:
    """Return an item for a whole file or directory in its current state."""
    kind = f"git hook {path.name}" if not reason else f"git {path.name} ({reason})"
    return item("setting", kind, [str(path), *_state(path)], file=path)


def _state(path: Path) -> tuple[object, ...]:
    try:
        status = path.stat()
        start = read_start(path, MAX_BYTES) if stat.S_ISREG(status.st_mode) else b""
    except OSError as error:
        return (error.strerror,)
    times = (status.st_size, status.st_mtime_ns) if status.st_size > MAX_BYTES else ()
    return hashlib.sha256(start).hexdigest(), *times


def _run(program: Launch) -> ProcessResult:
    try:
        return run_blocking(program, timeout_s=TIMEOUT_S)
    except CannotStart:
        return ProcessResult(None, b"", b"git cannot be started")
