"""Git worktrees for agents: each works on its own branch, below `.agent/worktrees`.

The project's own checkout is not changed without the user's consent to a merge, and no change of an
agent is ever lost: the branch of a removed worktree is kept if it has commits.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, Protocol

from msgspec import Struct

from agent.errors import AgentError
from permissions.base.files.plain_file import read_text
from permissions.base.files.private_file import write_private
from permissions.base.process.neutral_git import with_neutral_git
from permissions.base.process.run_program import RunLimits, run_program
from permissions.base.process.spawn import CannotStart, Launch
from permissions.base.text.failure_text import error_reason
from permissions.paths.resolve import is_below

DIRECTORY: Final = Path(".agent") / "worktrees"
_LIMITS: Final = RunLimits(timeout_s=120.0, stdout_bytes=200_000, stderr_bytes=20_000)


class WorktreeError(AgentError):
    """A git command failed; the text is its message."""


class WorktreeHooks(Protocol):
    """The hook events of a worktree."""

    async def worktree_create(self, name: str) -> str | None:
        """Return the path that a hook created instead of git; None if git should create it.

        Raises AgentError if a hook refuses.
        """
        ...

    async def worktree_remove(self, path: str) -> None:
        """Notify hooks that a worktree is removed."""
        ...


class AgentWorktree(Struct, frozen=True):
    """A checkout that an agent works in."""

    path: Path
    branch: str
    """Empty if a hook created it."""
    base: str
    """The commit that it was created from; empty if a hook created it."""


class WorktreeState(Struct, frozen=True):
    """The changes in a worktree since its base."""

    ahead: int = 0
    """Number of commits since the base."""
    is_dirty: bool = False

    @property
    def has_changes(self) -> bool:
        """Whether changes would be lost with the worktree."""
        return self.ahead > 0 or self.is_dirty


class Worktrees:
    """Creates and removes the worktrees of one project."""

    def __init__(
        self,
        root: Path,
        env: Mapping[str, str],
        path: str,
        hooks: WorktreeHooks,
        *,
        is_trusted: Callable[[], bool],
        may_be_scope: Callable[[str], bool],
    ) -> None:
        """`path` is the PATH in which git is found, without directories of the project.
        `may_be_scope` returns whether a canonical directory may become a working directory."""
        self._root = root
        self._env = {
            **{name: value for name, value in env.items() if not name.startswith("GIT_")},
            "PATH": path,
            "GIT_TERMINAL_PROMPT": "0",
        }
        self._hooks = hooks
        self._is_trusted = is_trusted
        self._may_be_scope = may_be_scope

    async def open(self, name: str) -> AgentWorktree:
        """Return the existing or a new worktree of this name. Raises AgentError."""
        path = self._root / DIRECTORY / name
        if not os.path.lexists(path):
            return await self.create(name)
        self._check_trust()
        self._check_place(path)
        listing = await self._git(self._root, "worktree", "list", "--porcelain", "-z")
        if f"worktree {os.path.realpath(path)}" not in listing.split("\0"):
            raise WorktreeError(f"{path} exists, and is not a worktree of this repository.")
        branch = f"agent/{name}"
        base = await self._git(self._root, "merge-base", "HEAD", branch)
        return AgentWorktree(path, branch, base)

    async def create(self, name: str, number: str = "") -> AgentWorktree:
        """Create a worktree at the current commit, on a new branch. Raises AgentError."""
        self._check_trust()
        hook_path = await self._hooks.worktree_create(name)
        if hook_path is not None:
            return AgentWorktree(self._checked_hook_path(hook_path), "", "")
        base = await self._git(self._root, "rev-parse", "--verify", "HEAD")
        await self._hide()
        full = f"{name}-{number}" if number else name
        path = self._root / DIRECTORY / full
        branch = f"agent/{full}"
        self._check_place(path)
        await self._git(self._root, "worktree", "add", "-q", "-b", branch, str(path), base)
        reason = f"agent-tui {name} {os.getpid()}"
        await self._git(self._root, "worktree", "lock", "--reason", reason, str(path))
        return AgentWorktree(path, branch, base)

    def _check_trust(self) -> None:
        if not self._is_trusted():
            raise WorktreeError(
                "A worktree runs git's filters: trust this project first (/trust, or --trust)."
            )

    def _check_place(self, path: Path) -> None:
        """Raise WorktreeError if a link leads out of the directory for worktrees."""
        place = Path(os.path.realpath(self._root)) / DIRECTORY / path.name
        if os.path.realpath(path) != str(place):
            raise WorktreeError(f"{path} leads through a link: no worktree can be there.")

    def _checked_hook_path(self, hook_path: str) -> Path:
        """Return the canonical path of a hook's worktree. Raises WorktreeError if it is unsuitable.

        The agent works there without asking, so it must not be in the checkout, nor a directory
        that the user could not add to the session.
        """
        path, root = os.path.realpath(hook_path), os.path.realpath(self._root)
        if not os.path.isabs(hook_path) or not os.path.isdir(path):
            raise WorktreeError(f"The hook's worktree does not exist: {hook_path}")
        own = path.startswith(os.path.join(root, DIRECTORY, "")) or os.path.lexists(f"{path}/.git")
        if (is_below(path, root) and not own) or not self._may_be_scope(path):
            raise WorktreeError(
                f"The hook's worktree {hook_path} is part of your checkout, or protected, or too "
                "wide."
            )
        return Path(path)

    async def state(self, tree: AgentWorktree) -> WorktreeState:
        """Return the state of a worktree. Raises AgentError."""
        if not tree.base:
            return WorktreeState(is_dirty=True)
        # Git would enter repositories that the agent created there, and run their programs.
        status = await self._git(tree.path, "status", "--porcelain", "--ignore-submodules=all")
        count = await self._git(tree.path, "rev-list", "--count", f"{tree.base}..HEAD")
        return WorktreeState(int(count), bool(status))

    async def keep(self, tree: AgentWorktree) -> None:
        """Keep a worktree and unlock it."""
        if tree.branch:
            await self._git(self._root, "worktree", "unlock", str(tree.path))

    async def remove(self, tree: AgentWorktree, title: str) -> None:
        """Remove a worktree; its changes are kept on its branch. Raises AgentError."""
        state = await self.state(tree)
        if state.is_dirty and tree.branch:
            await self._commit(tree, title)
        await self._hooks.worktree_remove(str(tree.path))
        if not tree.branch:
            return
        await self.keep(tree)
        await self._git(self._root, "worktree", "remove", str(tree.path))
        if not state.has_changes:
            await self._git(self._root, "branch", "-q", "-D", tree.branch)

    async def merge(self, tree: AgentWorktree, title: str) -> None:
        """Merge a worktree's branch into the project's checkout, and remove the worktree.

        Raises:
            AgentError: the merge failed; the checkout is unchanged, and the worktree is kept.
        """
        if (await self.state(tree)).is_dirty:
            await self._commit(tree, title)
        try:
            await self._git(self._root, "merge", "-q", "--no-edit", tree.branch)
        except WorktreeError:
            merging = await self._git(self._root, "rev-parse", "-q", "--verify", "MERGE_HEAD", ok=1)
            if merging:
                await self._git(self._root, "merge", "--abort")
            raise
        await self.remove(tree, title)
        await self._git(self._root, "branch", "-q", "-D", tree.branch)

    async def _commit(self, tree: AgentWorktree, title: str) -> None:
        entries = (await self._git(tree.path, "ls-files", "--stage", "-z")).split("\0")
        inner = [entry.partition("\t")[2] for entry in entries if entry.startswith("160000 ")]
        # Git would enter these repositories as well.
        without = [f":(top,exclude,literal){name}" for name in inner]
        await self._git(tree.path, "add", "-A", "--", ".", *without)
        await self._git(tree.path, "commit", "-q", "--no-verify", "-m", title)

    async def _hide(self) -> None:
        """Exclude the worktrees from git's list of untracked files."""
        exclude_file = await self._git(self._root, "rev-parse", "--git-path", "info/exclude")
        file = self._root / exclude_file
        line = f"/{DIRECTORY.as_posix()}/"
        try:
            text = read_text(file) or ""
            if line not in text.splitlines():
                data = f"{text.rstrip()}\n{line}\n".lstrip("\n").encode()
                # Takes the place of a link, which a repository may bring along.
                write_private(file, data, sync=False, mode=0o644)
        except (OSError, UnicodeDecodeError) as error:
            raise WorktreeError(
                f"{file} cannot be written: {error_reason(error, names_file=False)}"
            ) from error

    async def _git(self, directory: Path, *arguments: str, ok: int = 0) -> str:
        """Return git's output. Raises WorktreeError unless the exit status is 0 or `ok`."""
        command = ("git", "-c", "core.quotePath=false", *arguments)
        try:
            result = await run_program(
                Launch(command, with_neutral_git(self._env), directory), _LIMITS
            )
        except CannotStart as error:
            raise WorktreeError(f"git cannot be started: {error}") from error
        if result.exit_code not in {0, ok}:
            message = (result.stderr or result.stdout).decode("utf-8", "replace").strip()
            raise WorktreeError(f"git {arguments[0]}: {message or result.exit_code}")
        return result.stdout.decode("utf-8", "surrogateescape").strip()
