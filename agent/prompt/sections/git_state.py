"""The repository as it was when the conversation started."""

from __future__ import annotations

from agent.prompt.context import PromptContext
from permissions.base.text.sanitize import sanitize


def compute(context: PromptContext) -> str | None:
    """Return branch, changes and last commits; None outside a repository or before trust."""
    git = context.git
    if git is None:
        return None
    lines = [
        "Git at the start of this conversation (it does not update by itself):",
        f"branch: {_clean(git.branch) if git.branch else '(detached head)'}",
    ]
    if git.head:
        lines.append(f"last commit: {_clean(git.head)}")
    if git.changed_count:
        lines.append(f"uncommitted changes ({git.changed_count}):")
        lines += [f"  {_clean(line)}" for line in git.changed]
        if git.changed_count > len(git.changed):
            lines.append(f"  … and {git.changed_count - len(git.changed)} more")
    else:
        lines.append("no uncommitted changes")
    if len(git.recent) > 1:
        lines.append("recent commits:")
        lines += [f"  {_clean(subject)}" for subject in git.recent]
    return "\n".join(lines)


def _clean(text: str) -> str:
    # Branch names, file names and subjects are other users' text.
    return sanitize(text).replace("\n", " ")[:200]
