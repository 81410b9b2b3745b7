"""`/copy`: copy an answer of the model, or a code block in it, to the clipboard."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from agent.commands.command_context import CommandContext
from agent.commands.command_results import CommandResult, CopyText, OpenPanel, ShowText
from agent.errors import SessionError
from agent.messages import Message
from permissions.base.text.code_blocks import code_blocks
from permissions.base.text.late_pattern import compile_late

_ARGUMENTS: Final = compile_late(r"([1-9]\d*)?\s*(?:(code)(?:\s+([1-9]\d*))?)?\Z")
_USAGE: Final = (
    "/copy takes a number (1 is the last answer, 2 the one before), and `code` for its last code "
    "block, `code 1` for its first."
)


async def call(arguments: str, context: CommandContext) -> CommandResult:
    """Copy the last answer, the Nth from the end, or one of its code blocks.

    If the answer contains code and the arguments name no block, the user chooses.
    """
    parts = _ARGUMENTS.match(arguments.strip())
    if parts is None:
        return ShowText(_USAGE, "warning")
    place = int(parts[1] or 1)
    answers = _answers(context.session.messages)
    if len(answers) < place:
        # Answers that a summary replaced are still on the screen and in the session file.
        answers = await asyncio.to_thread(_recorded_answers, context.session.transcript_path, place)
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


def _answers(items: Iterable[object]) -> list[str]:
    messages = (item for item in items if isinstance(item, Message))
    return [one.text for one in messages if one.role == "assistant" and one.text.strip()]


def _recorded_answers(path: Path, count: int) -> list[str]:
    """Return the last answers in the session file, at least `count` if there are as many."""
    from agent.session.archive.history_pages import SessionPages  # imported only here

    pages, answers = SessionPages(path), list[str]()
    try:
        while len(answers) < count and not pages.is_at_start:
            answers = [*_answers(pages.older().items), *answers]
    except SessionError:
        pass  # nothing was written yet
    return answers
