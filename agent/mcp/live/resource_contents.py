"""Converts the parts of a resource to blocks for the model."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Final

from agent.mcp.server_offer import ResourceContent
from agent.messages import Block, text_block
from permissions.base.text.sanitize import sanitize

_IMAGES: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_MAX_IMAGE_BYTES: Final = 3_750_000
_MAX_CHARACTERS: Final = 100_000


def content_blocks(contents: Sequence[ResourceContent]) -> tuple[Block, ...]:
    """Return the parts as blocks; binary data other than images is only mentioned."""
    return tuple(_block(one) for one in contents) or (text_block("(empty)"),)


def _block(content: ResourceContent) -> Block:
    if content.text is not None:
        text = sanitize(content.text)
        if len(text) > _MAX_CHARACTERS:
            text = f"{text[:_MAX_CHARACTERS]}\n… ({len(text):,} characters in all)"
        return text_block(text)
    data = content.data or b""
    if content.mime_type in _IMAGES and len(data) <= _MAX_IMAGE_BYTES:
        source = {
            "type": "base64",
            "media_type": content.mime_type,
            "data": base64.b64encode(data).decode(),
        }
        return {"type": "image", "source": source}
    kind = content.mime_type or "unknown type"
    return text_block(f"({sanitize(content.uri)}: {len(data):,} bytes of {kind}, not shown)")
