"""Which images a block is about: pasted ones, files that the model has looked at, and those in the
results of MCP servers' tools."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from permissions.base.text.late_pattern import compile_late
from tui.images.inline_images import ImageFile
from tui.transcript.blocks import Block, ToolCard, UserMessage
from tui.transcript.results.result_size import image_size_in

_STORED: Final = compile_late(
    r"^image: [A-Z]+, (\d+)×(\d+) pixels \[image/[a-z]+, [\d,]+ bytes, stored as (/.+)\]$",
    re.MULTILINE,
)
"""As the result of an MCP server's tool names an image of its own."""


def shown_images(block: Block) -> list[ImageFile]:
    """Return the images, each with the size that the conversation has of it."""
    if isinstance(block, UserMessage) and block.images:
        return [ImageFile(Path(path), (width, height)) for path, width, height in block.images]
    if isinstance(block, ToolCard) and block.name == "Read" and block.state == "ok":
        path = block.input.get("file_path")
        size = image_size_in(block.result)
        if isinstance(path, str) and path.startswith("/") and size is not None:
            return [ImageFile(Path(path), size)]
    elif isinstance(block, ToolCard) and block.state == "ok":
        return [
            ImageFile(path, (int(match[1]), int(match[2])))
            for match in _STORED.finditer(block.result)
            for path in (Path(match[3]),)
            # A file of this call: a server's text must not choose what is shown.
            if path.name.startswith(f"{block.key}-")
        ]
    return []
