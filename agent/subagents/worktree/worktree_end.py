"""The end of an agent's worktree: the user decides about its changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Protocol

from agent.errors import AgentError
from agent.subagents.worktree.worktrees import AgentWorktree, Worktrees, WorktreeState

WorktreeAnswer = Literal["merge", "keep", "remove"]


class AskAboutWorktree(Protocol):
    """Asks the user what to do with a worktree that has changes."""

    async def __call__(self, text: str) -> WorktreeAnswer:
        """Return the answer; `keep` without a user."""
        ...


async def end_worktree(
    worktrees: Worktrees, tree: AgentWorktree, who: str, title: str, ask: AskAboutWorktree
) -> Mapping[str, object]:
    """Merge, keep or remove a worktree; return its entry for the report. Raises nothing."""
    report: dict[str, object] = {
        "worktreePath": str(tree.path),
        "worktreeBranch": tree.branch,
        "base": tree.base,
    }
    try:
        state = await worktrees.state(tree)
        if not state.has_changes:
            await worktrees.remove(tree, title)
            return {"worktree": "removed: nothing was changed"}
        answer = await ask(_question(who, tree, state))
        report |= {"ahead": state.ahead, "dirty": state.is_dirty}
        if answer == "merge" and tree.branch:
            await worktrees.merge(tree, title)
            return {**report, "worktree": "merged by the user"}
        if answer == "remove":
            await worktrees.remove(tree, title)
            where = f"; its changes are on the branch {tree.branch}" if tree.branch else ""
            return {**report, "worktree": f"removed{where}"}
        await worktrees.keep(tree)
        return {**report, "worktree": "kept; not merged"}
    except AgentError as error:
        return {**report, "worktree": f"kept: {error}"}


def _question(who: str, tree: AgentWorktree, state: WorktreeState) -> str:
    if not tree.branch:
        return f"{who} has ended. What should happen to its worktree, which a hook made?"
    parts = []
    if state.ahead:
        parts.append(f"{state.ahead} commit{'' if state.ahead == 1 else 's'}")
    if state.is_dirty:
        parts.append("changes that are not committed")
    return (
        f"{who} has ended with {' and '.join(parts)} on the branch {tree.branch}. "
        "What should happen to its worktree?"
    )
