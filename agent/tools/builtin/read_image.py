"""Images as blocks for the model: recognized by their content, rejected if too large."""

from __future__ import annotations

import base64
import struct
from typing import Final, Literal

from agent.messages import text_block
from agent.tools.base import ToolError, ToolOutcome

ImageType = Literal["image/png", "image/jpeg", "image/gif", "image/webp"]

# Limits of the Messages API: 5 MB as base64, 8,000 pixels on a side.
MAX_IMAGE_BYTES: Final = 5 * 1024 * 1024 * 3 // 4
MAX_IMAGE_PIXELS: Final = 8_000


def image_type(data: bytes) -> ImageType | None:
    """Return the media type of an image, or None for anything else."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return None


def image_size(data: bytes) -> tuple[int, int] | None:
    """Return width and height in pixels, or None if the header lacks them."""
    try:
        match image_type(data):
            case "image/png":
                width, height = struct.unpack_from(">II", data, 16)
            case "image/gif":
                width, height = struct.unpack_from("<HH", data, 6)
            case "image/jpeg":
                return _jpeg_size(data)
            case "image/webp":
                return _webp_size(data)
            case None:
                return None
    except struct.error:
        return None
    return int(width), int(height)


def image_outcome(data: bytes, name: str) -> ToolOutcome:
    """Return the image as a block, after a text block with its name.

    Raises:
        ToolError: it is larger than the endpoint accepts, or damaged.
    """
    media_type = image_type(data)
    assert media_type is not None
    size = image_size(data)
    if size is None or 0 in size:
        raise ToolError(f"{name} starts like an image ({media_type}) but is damaged.")
    width, height = size
    if len(data) > MAX_IMAGE_BYTES or max(size) > MAX_IMAGE_PIXELS:
        raise ToolError(
            f"{name} is too large to show: {width}×{height} pixels, {len(data):,} bytes "
            f"(at most {MAX_IMAGE_PIXELS} pixels a side and {MAX_IMAGE_BYTES:,} bytes).",
            "Make a smaller copy with a command and read that.",
        )
    base64_text = base64.b64encode(data).decode("ascii")
    line = f"{name}: {media_type.removeprefix('image/').upper()}, {width}×{height} pixels"
    return ToolOutcome(
        content=(
            text_block(line),
            {
                "type": "image",
                "source": {"type": "base64", "media_type": media_type, "data": base64_text},
            },
        ),
        tool_response={
            "type": "image",
            "file": {"base64": base64_text, "type": media_type, "originalSize": len(data)},
        },
    )


def _jpeg_size(data: bytes) -> tuple[int, int] | None:
    position = 2
    while position + 9 <= len(data):
        if data[position] != 0xFF:
            return None
        marker = data[position + 1]
        if marker == 0xFF:
            position += 1
            continue
        # Start-of-frame markers carry the size; C4, C8 and CC share their range and do not.
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack_from(">HH", data, position + 5)
            return int(width), int(height)
        if 0xD0 <= marker <= 0xD9:
            position += 2
            continue
        (length,) = struct.unpack_from(">H", data, position + 2)
        position += 2 + int(length)
    return None


def _webp_size(data: bytes) -> tuple[int, int] | None:
    match data[12:16]:
        case b"VP8X":
            width = int.from_bytes(data[24:27], "little") + 1
            height = int.from_bytes(data[27:30], "little") + 1
        case b"VP8 ":
            raw_width, raw_height = struct.unpack_from("<HH", data, 26)
            width, height = raw_width & 0x3FFF, raw_height & 0x3FFF
        case b"VP8L":
            (bits,) = struct.unpack_from("<I", data, 21)
            width, height = (bits & 0x3FFF) + 1, ((bits >> 14) & 0x3FFF) + 1
        case _:
            return None
    return width, height
