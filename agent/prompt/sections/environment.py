"""Where the conversation takes place: folder, platform, shell, model."""

from __future__ import annotations

from agent.prompt.context import PromptContext
from permissions.base.text.sanitize import sanitize


def compute(context: PromptContext) -> str:
    """Return what stays true for the whole conversation."""
    lines = [
        "# Environment",
        f"- Working folder, and the limit of where you may write: {_path(context.launch_dir)}",
        f"- Git repository: {'yes' if context.is_repository else 'no'}",
        f"- Platform: {context.platform}; commands run in {context.shell}",
        f"- Model: {context.model}",
    ]
    if context.additional_dirs:
        dirs = ", ".join(_path(folder) for folder in context.additional_dirs)
        lines.append(f"- Further folders you may work in: {dirs}")
    if context.scratch_dir is not None:
        lines.append(
            f"- Temporary files belong into {_path(context.scratch_dir)} (TMPDIR of commands)"
        )
    if context.headless:
        lines.append(
            "- Nobody is there to answer questions or permission dialogs: decide yourself, and "
            "leave out what is refused"
        )
    if context.language:
        lines.append(f"- Answer in {sanitize(context.language)[:40]}; code stays as it is")
    return "\n".join(lines)


def _path(path: object) -> str:
    return sanitize(str(path)).replace("\n", " ")
