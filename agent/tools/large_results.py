"""Results too large for the conversation go to a file; the model gets a preview and the path.

Source: the pattern "tool-system" (result size offload).
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from agent.messages import Block, text_block
from agent.tools.base import AnyTool, ToolContext, ToolOutcome
from permissions.base.text.late_pattern import compile_late

PREVIEW_CHARS: Final = 2_000
"""Most characters that the model sees of the start of an offloaded result, and again of its end.
Together they take at most two thirds of its room; the rest is for the explanation."""

_UNSAFE: Final = compile_late(r"[^A-Za-z0-9_-]+")


async def bound_result(outcome: ToolOutcome, tool: AnyTool, context: ToolContext) -> ToolOutcome:
    """Return the outcome with text over the tool's limit, or the round's, replaced by a preview.

    Images and documents are unchanged. Never raises: if the file cannot be written, the
    preview states that the rest is lost.
    """
    if isinstance(outcome.content, str):
        text = await _limit_text(outcome.content, tool, context)
        return outcome if text is outcome.content else replace(outcome, content=text)
    texts = [str(block.get("text", "")) for block in outcome.content if _is_text(block)]
    whole = "\n".join(texts)
    preview = await _limit_text(whole, tool, context)
    if preview is whole:
        return outcome
    others = tuple(block for block in outcome.content if not _is_text(block))
    return replace(outcome, content=(text_block(preview), *others))


async def _limit_text(text: str, tool: AnyTool, context: ToolContext) -> str:
    room = context.services.room
    limit = min(tool.max_result_size_chars, room.characters(text))
    if context.services.limits is not None:
        limit = min(limit, context.services.limits.result_chars)
    if len(text) > limit:
        text = await _offload(text, context, min(PREVIEW_CHARS, limit // 3))
    room.take(text)
    return text


def _is_text(block: Block) -> bool:
    return block.get("type") == "text"


async def _offload(text: str, context: ToolContext, preview_chars: int) -> str:
    directory = context.services.results_dir
    name = _UNSAFE.sub("_", context.tool_use_id)[:100] or "result"
    try:
        path = await asyncio.to_thread(_store, directory, name, text)
    except OSError as error:
        where = f"The rest is lost: {directory} cannot be written ({error.strerror})."
    else:
        where = f"The whole result is in {path}; read it in parts or search it with Grep."
    start, end = _cut(text, preview_chars)
    left_out = len(text) - len(start) - len(end)
    return (
        f"The result is too long to show: {len(text):,} characters. {where}\n\n"
        f"It starts with:\n{start}\n\n[… {left_out:,} characters left out …]\n\n"
        f"and ends with:\n{end}"
    )


def _cut(text: str, size: int) -> Sequence[str]:
    """Return the start and the end of a text, cut at a line break if one is near."""
    start, end = text[:size], text[len(text) - size :]
    if start.rfind("\n") > size // 2:
        start = start[: start.rfind("\n")]
    if -1 < end.find("\n") < size // 2:
        end = end[end.find("\n") + 1 :]
    return start, end


def _store(directory: Path, name: str, text: str) -> Path:
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    data = text.encode("utf-8", "replace")
    number = 1
    while True:
        path = directory / (f"{name}.txt" if number == 1 else f"{name}-{number}.txt")
        try:
            descriptor = os.open(path, flags, 0o600)
            break
        except FileExistsError:
            number += 1
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
    except OSError:
        path.unlink(missing_ok=True)
        raise
    return path
