"""Results too large for the conversation go to a file; the model gets a preview and the path.

Source: the pattern "tool-system" (result size offload).
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from agent.messages import Block, text_block
from agent.tools.base import AnyTool, ToolContext, ToolOutcome

PREVIEW_CHARS: Final = 2_000
"""How much of an offloaded result the model still sees from its start, and again from its end."""

_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_-]+")


async def bound_result(outcome: ToolOutcome, tool: AnyTool, context: ToolContext) -> ToolOutcome:
    """Return the outcome with text over the tool's limit replaced by a preview.

    Images and documents stay as they are. Never raises: where the file cannot be written, the
    preview states that the rest is lost.
    """
    limit = tool.max_result_size_chars
    if isinstance(outcome.content, str):
        if len(outcome.content) <= limit:
            return outcome
        return replace(outcome, content=await _offload(outcome.content, context))
    texts = [str(block.get("text", "")) for block in outcome.content if _is_text(block)]
    if sum(map(len, texts)) <= limit:
        return outcome
    preview = text_block(await _offload("\n".join(texts), context))
    others = tuple(block for block in outcome.content if not _is_text(block))
    return replace(outcome, content=(preview, *others))


def _is_text(block: Block) -> bool:
    return block.get("type") == "text"


async def _offload(text: str, context: ToolContext) -> str:
    directory = context.services.results_dir
    name = _UNSAFE.sub("_", context.tool_use_id)[:100] or "result"
    try:
        path = await asyncio.to_thread(_store, directory, name, text)
    except OSError as error:
        where = f"The rest is lost: {directory} cannot be written ({error.strerror})."
    else:
        where = f"The whole result is in {path}; read it in parts or search it with Grep."
    start, end = _cut(text)
    left_out = len(text) - len(start) - len(end)
    return (
        f"The result is too long to show: {len(text):,} characters. {where}\n\n"
        f"It starts with:\n{start}\n\n[… {left_out:,} characters left out …]\n\n"
        f"and ends with:\n{end}"
    )


def _cut(text: str) -> Sequence[str]:
    """Return the start and the end, at line breaks where one is near."""
    start, end = text[:PREVIEW_CHARS], text[-PREVIEW_CHARS:]
    if start.rfind("\n") > PREVIEW_CHARS // 2:
        start = start[: start.rfind("\n")]
    if -1 < end.find("\n") < PREVIEW_CHARS // 2:
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
