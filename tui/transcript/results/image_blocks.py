"""Which images a block is about: pasted ones, and files that the model has looked at."""

from __future__ import annotations

from pathlib import Path

from tui.images.inline_images import ImageFile
from tui.transcript.blocks import Block, ToolCard, UserMessage
from tui.transcript.results.result_size import image_size_in


def shown_images(block: Block) -> list[ImageFile]:
    """Return the images, each with the size that the conversation has of it."""
    if isinstance(block, UserMessage) and block.images:
        return [ImageFile(Path(path), (width, height)) for path, width, height in block.images]
    if isinstance(block, ToolCard) and block.name == "Read" and block.state == "ok":
        path = block.input.get("file_path")
        size = image_size_in(block.result)
        if isinstance(path, str) and path.startswith("/") and size is not None:
            return [ImageFile(Path(path), size)]
    return []
