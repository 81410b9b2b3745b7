"""`/copy`: an answer of the model as it was written, or the code in it, for the clipboard."""

from __future__ import annotations

import re
from typing import Final

from agent.code_blocks import code_blocks
from agent.commands.context import CommandContext
from agent.commands.results import CommandResult, CopyText, OpenPanel, ShowText

_ARGUMENTS: Final = re.compile(r"([1-9]\d*)?\s*(?:(code)(?:\s+([1-9]\d*))?)?\Z")
_USAGE: Final = (
    "/copy takes a number (1 is the last answer, 2 the one before), and `code` for its last code "
    "block, `code 1` for its first."
)


async def call(arguments: str, context: CommandContext) -> CommandResult:
    """Copy the last answer, the Nth from the end, or one of its code blocks.

    Where the answer holds code and none of it was named, the person chooses.
    """
    parts = _ARGUMENTS.match(arguments.strip())
    if parts is None:
        return ShowText(_USAGE, "warning")
    place = int(parts[1] or 1)
    answers = [m.text for m in context.session.messages if m.role == "assistant" and m.text.strip()]
    if len(answers) < place:
        count = len(answers)
        there_are = {0: "no answer yet", 1: "one answer"}.get(count, f"{count} answers")
        return ShowText(f"There is nothing to copy: {there_are}.", "warning")
    text, what = answers[-place], ""
    if not parts[2] and code_blocks(text):
        return OpenPanel("copy", text)
    if parts[2]:
        blocks = code_blocks(text)
        number = int(parts[3] or len(blocks))
        if not 0 < number <= len(blocks):
            return ShowText(f"There are {len(blocks)} code blocks in that answer.", "warning")
        text, what = blocks[number - 1], " of code"
    return CopyText(text, f"copied {len(text):,} characters{what}")
