"""Finds the images of a block: pasted images, files that the model has read, and images in results
of MCP servers' tools."""

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
"""The form in which results of MCP servers' tools name a stored image."""


def shown_images(block: Block) -> list[ImageFile]:
    """Return the images of a block, each with its size from the conversation."""
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
            # Only files of this call: a server's text must not choose which file is shown.
            if path.name.startswith(f"{block.key}-")
        ]
    return []
