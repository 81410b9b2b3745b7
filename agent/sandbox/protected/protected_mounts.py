"""Which names inside a writable directory a confined program must not change.

A protected directory is read-only as a whole; the directories around a protected file are pinned,
so that they cannot be renamed away. A missing name is blocked by an empty placeholder or, where
that would disturb tools, checked after the run.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from agent.sandbox.protected.protected_names import NAMES, is_repository
from permissions.base.files.plain_file import read_plain, read_start
from permissions.paths.resolve import is_below

MAX_NAMES: Final = 100
"""Maximum number of mounted names, least deep first; twice as many take four times as long, since
bubblewrap reads all mounts after each. For the others, the directories around them are read-only as
a whole."""
_MODULE_DEPTH: Final = 3
_PLACEHOLDER_DIRECTORIES: Final = (".agent", ".claude", ".codex", ".vscode", ".idea", ".husky")
_PLACEHOLDER_NAMES: Final = frozenset((*_PLACEHOLDER_DIRECTORIES, "hooks"))
_READ_ONLY_IN_GIT: Final = ("config", "config.worktree", "hooks", "info")
_WATCHED_IN_GIT: Final = ("commondir", "config.worktree")
LEADING_GIT: Final = frozenset((*_WATCHED_IN_GIT, "HEAD"))
"""Names by which git finds its configuration: a command that creates one is killed at once."""
_UNCHANGED_IN_WORK_TREE: Final = ("commondir", "config.worktree")
_BARE_MARKERS: Final = ("HEAD", "objects", "refs")


def may_be_placeholder(path: str) -> bool:
    """Whether another command may have created this protected name as a mount point."""
    return os.path.basename(path) in _PLACEHOLDER_NAMES


class ProtectedMounts(Struct):
    """What is mounted over writable directories; canonical paths."""

    pinned_directories: list[str]
    read_only: list[str]
    missing_directories: list[str]
    watched_names: list[str]
    links: list[tuple[str, str]]
    """Protected names that are links, each with its target: checked after the run."""
    contents: list[tuple[str, bytes | None]]
    """Files that may be removed but not changed, each with its content or None: checked as well."""
    writable: list[str]
    """Directories outside that a work tree's repository needs."""
    repositories: list[str]
    """Directories that git itself writes."""


def protected_mounts(
    roots: Iterable[str],
    cwd: str,
    files: Iterable[str] = (),
    *,
    names: Mapping[str, Sequence[str]],
) -> ProtectedMounts:
    """Return the mounts that protect canonical writable directories in their current state.

    Args:
        files: Absolute paths of files that are protected whatever their names.
        cwd: Where the command starts; if there are too many names, those around it come first.
        names: By root, the paths of protected names in it, those less deep first.
    """
    mounts = ProtectedMounts([], [], [], [], [], [], [], [])
    for root in filter(os.path.isdir, roots):
        root_files = [path for path in sorted(files) if is_below(path, root)]
        inside = [path for path in root_files if os.path.lexists(path)]
        mounts.watched_names.extend(path for path in root_files if not os.path.lexists(path))
        near_names = [path for path in names[root] if is_below(cwd, os.path.dirname(path))]
        all_paths = list(dict.fromkeys([*near_names, *inside, *names[root]]))
        closed_places = dict.fromkeys(
            _place_around(root, path, cwd) for path in all_paths[MAX_NAMES:]
        )
        _protect(mounts, root, all_paths[:MAX_NAMES])
        mounts.read_only.extend(closed_places)
    return mounts


def _place_around(root: str, path: str, cwd: str) -> str:
    """Return the topmost directory around a name that does not contain `cwd`, or the name
    itself."""
    return next((one for one in _between(root, path) if not is_below(cwd, one)), path)


def _protect(mounts: ProtectedMounts, root: str, paths: Iterable[str]) -> None:
    for path in dict.fromkeys(paths):
        if os.path.islink(path):
            mounts.links.append((path, os.readlink(path)))
        elif is_repository(path):
            _add_repository(mounts, path)
        else:
            mounts.read_only.append(path)
        mounts.pinned_directories.extend(_between(root, path))
    _add_missing(mounts, root)
    mounts.pinned_directories[:] = dict.fromkeys(mounts.pinned_directories)


def directory_entries(directory: str) -> list[os.DirEntry[str]]:
    """Return the entries of a directory; none if it cannot be read."""
    try:
        with os.scandir(directory) as entries:
            return list(entries)
    except OSError:
        return []


def _is_directory(entry: os.DirEntry[str]) -> bool:
    return entry.is_dir(follow_symlinks=False)


def pins_around(roots: Iterable[str], paths: Iterable[str]) -> dict[str, None]:
    """Return the directories between roots and paths, which must not be renamed, in order."""
    return {
        directory: None
        for path in paths
        for root in roots
        if is_below(path, root)
        for directory in _between(root, path)
    }


def _between(root: str, path: str) -> Iterator[str]:
    """Yield the directories from below the root down to a protected name."""
    parent = os.path.dirname(path)
    steps = []
    while len(parent) > len(root):
        steps.append(parent)
        parent = os.path.dirname(parent)
    yield from reversed(steps)


def _add_repository(mounts: ProtectedMounts, path: str) -> None:
    if os.path.isdir(path):
        _add_git_directory(mounts, path)
        return
    mounts.read_only.append(path)
    common = common_directory(path)
    if common is not None:
        mounts.writable.append(common)
        _add_git_directory(mounts, common)


def _add_git_directory(mounts: ProtectedMounts, git: str) -> None:
    mounts.pinned_directories.append(git)
    mounts.repositories.append(git)
    _add_guarded(mounts, git)
    hooks = os.path.join(git, "hooks")
    if not os.path.lexists(hooks):
        mounts.missing_directories.append(hooks)
    modules = os.path.join(git, "modules")
    for module in _modules(modules, _MODULE_DEPTH):
        mounts.pinned_directories.extend((*_between(git, module), module))
        _add_guarded(mounts, module)
    _add_work_trees(mounts, os.path.join(git, "worktrees"))


def _add_work_trees(mounts: ProtectedMounts, directory: str) -> None:
    """Watch the files that lead git from a work tree to its configuration. `git worktree remove`
    deletes them, so that nothing can be mounted on them."""
    for entry in filter(_is_directory, directory_entries(directory)):
        mounts.pinned_directories.append(directory)
        for name in _UNCHANGED_IN_WORK_TREE:
            path = os.path.join(entry.path, name)
            with contextlib.suppress(OSError):
                content = read_plain(path) if os.path.lexists(path) else None
                mounts.contents.append((path, content))


def _add_guarded(mounts: ProtectedMounts, git: str) -> None:
    for name in _READ_ONLY_IN_GIT:
        path = os.path.join(git, name)
        if os.path.islink(path):
            mounts.links.append((path, os.readlink(path)))
        elif os.path.lexists(path):
            mounts.read_only.append(path)
    for name in _WATCHED_IN_GIT:
        if not os.path.lexists(os.path.join(git, name)):
            mounts.watched_names.append(os.path.join(git, name))


def _modules(directory: str, depth: int) -> Iterator[str]:
    """Yield the repositories of submodules."""
    for entry in filter(_is_directory, directory_entries(directory)):
        if os.path.lexists(os.path.join(entry.path, "HEAD")):
            yield entry.path
            yield from _modules(os.path.join(entry.path, "modules"), depth)
        elif depth > 0:
            yield from _modules(entry.path, depth - 1)


def common_directory(git_file: str) -> str | None:
    """Return the repository that a work tree's `.git` file belongs to, if it refers back to the
    file."""
    try:
        first = _first_line(git_file)
        if not first.startswith("gitdir:"):
            return None
        private = os.path.realpath(
            os.path.join(os.path.dirname(git_file), first.removeprefix("gitdir:").strip())
        )
        back_path = _first_line(os.path.join(private, "gitdir"))
    except (OSError, ValueError):
        return None
    if os.path.realpath(back_path) != os.path.realpath(git_file):
        return None
    common = os.path.dirname(os.path.dirname(private))
    return common if os.path.isfile(os.path.join(common, "HEAD")) else None


def _first_line(path: str) -> str:
    """Return the first line of a regular file. Raises OSError, and ValueError for a NUL."""
    line = os.fsdecode(read_start(path, 4096)).partition("\n")[0].strip()
    if "\0" in line:
        raise ValueError("a path cannot contain NUL")
    return line


def _add_missing(mounts: ProtectedMounts, root: str) -> None:
    names = (*_PLACEHOLDER_DIRECTORIES, *NAMES, *_BARE_MARKERS)
    absent = {one for one in names if not os.path.lexists(os.path.join(root, one))}
    mounts.missing_directories.extend(
        [os.path.join(root, name) for name in _PLACEHOLDER_DIRECTORIES if name in absent]
    )
    # Git ignores an empty directory in its place; an empty file would be committed.
    free_names = NAMES - {*_PLACEHOLDER_DIRECTORIES, ".git"}
    mounts.watched_names.extend([os.path.join(root, name) for name in sorted(free_names & absent)])
    if absent.issuperset(_BARE_MARKERS):
        mounts.watched_names.append(os.path.join(root, "HEAD"))
