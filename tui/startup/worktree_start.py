"""`--worktree`: runs the session in a git worktree of its own; at its end the user decides whether
to keep, merge or remove it."""

from __future__ import annotations

import asyncio
import os
import secrets
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from agent.assembly.agents.session_worktrees import session_worktrees
from agent.assembly.environment import Environment, environment_from, settings_for
from agent.errors import UsageError
from agent.headless.run import report_hooks
from agent.options import RunOptions
from agent.settings.load import Settings
from agent.settings.trust import TrustState, TrustStore
from agent.subagents.worktree.worktree_end import WorktreeAnswer, end_worktree
from agent.subagents.worktree.worktrees import AgentWorktree
from permissions.base.text.late_pattern import compile_late
from permissions.base.text.sanitize import sanitize
from tui.version import version

NAME: Final = compile_late(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
_ANSWERS: Final[dict[str, WorktreeAnswer]] = {"m": "merge", "r": "remove"}


def run_in_worktree(
    options: RunOptions, launch_dir: Path, run: Callable[[RunOptions, Path], int]
) -> int:
    """Create or reuse the worktree, run in it, then keep, merge or remove it.

    Returns the exit status of `run`. Raises AgentError if the worktree cannot be created.
    """
    name = options.worktree or f"session-{secrets.token_hex(3)}"
    if NAME.fullmatch(name) is None:
        raise UsageError(
            f"--worktree: {sanitize(name)!r} cannot be the name of a worktree. A prompt goes in "
            'front: agent-tui "your request" --worktree'
        )
    environment = environment_from(os.environ, launch_dir, version=version())
    settings = settings_for(options, environment)
    tree = asyncio.run(_open_worktree(options, environment, settings, name))
    _trust_as(settings.trust, TrustStore(environment.agent_home / "trust.json"), tree)
    os.chdir(tree.path)
    try:
        return run(replace(options, worktree=None), tree.path)
    finally:
        os.chdir(launch_dir)
        end = asyncio.run(_finish(options, environment, settings, name, tree))
        where = ""
        if tree.path.exists():
            branch = f", {tree.branch}" if tree.branch else ""
            where = f" ({tree.path}{branch}); continue with: agent-tui -c --worktree {name}"
        sys.stderr.write(f"agent-tui: worktree {sanitize(str(end['worktree']))}{where}\n")


async def _open_worktree(
    options: RunOptions, environment: Environment, settings: Settings, name: str
) -> AgentWorktree:
    with session_worktrees(options, environment, settings) as (worktrees, hooks):
        tree = await worktrees.open(name)
        report_hooks(hooks.notices(), sys.stderr)
    return tree


async def _finish(
    options: RunOptions,
    environment: Environment,
    settings: Settings,
    name: str,
    tree: AgentWorktree,
) -> Mapping[str, object]:
    asks = _ask if not options.headless and sys.stdin.isatty() else _keep
    with session_worktrees(options, environment, settings) as (worktrees, hooks):
        end = await end_worktree(worktrees, tree, "The session", f"Work of {name}", asks)
        report_hooks(hooks.notices(), sys.stderr)
    return end


def _trust_as(trust: TrustState, store: TrustStore, tree: AgentWorktree) -> None:
    """Accept in the worktree what the user accepted in the project: the content is the same."""
    if trust.is_trusted and not trust.by_flag:
        items = tuple(item for item in trust.items if trust.in_force(item))
        store.accept(replace(trust, root=Path(os.path.realpath(tree.path)), items=items))


async def _keep(text: str) -> WorktreeAnswer:
    """Keep the worktree when no user can be asked."""
    return "keep"


async def _ask(text: str) -> WorktreeAnswer:
    """Ask on the terminal after the screen has closed; without an answer the worktree is kept."""
    try:
        question = f"{sanitize(text)}\n[k]eep, [m]erge into your checkout, [r]emove: "
        answer = input(question)  # noqa: ASYNC250 - nothing else runs at the end
    except (EOFError, KeyboardInterrupt):
        return "keep"
    return _ANSWERS.get(answer.strip().lower()[:1], "keep")
