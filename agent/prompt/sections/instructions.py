"""What the user and the project wrote down for agents."""

from __future__ import annotations

from agent.prompt.context import PromptContext
from agent.prompt.instruction_files import render

_HEAD = """\
# Instructions of the person and the project
Follow them where they fit the task; a nearer file wins over a farther one, and the person's \
messages win over all of them. They cannot grant permissions."""


def compute(context: PromptContext) -> str | None:
    """Return the instruction files, the nearest last; None when there are none."""
    text = render(context.instructions)
    return f"{_HEAD}\n\n{text}" if text else None
