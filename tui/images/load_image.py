"""Converts an image file to PNG or sixel, for terminals. Slow, so to be called in a thread.

Only the four formats that models accept are decoded, up to the number of pixels that they accept.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agent.tools.builtin.read_image import MAX_IMAGE_BYTES, MAX_IMAGE_PIXELS
from tui.images.sixel import sixel_of

if TYPE_CHECKING:
    from PIL.Image import Image

_FORMATS: Final = ("PNG", "JPEG", "GIF", "WEBP")
_SIXEL_COLORS: Final = 128


class UnreadableImage(Exception):
    """The file is missing, damaged, too large, or has changed."""


def load_png(path: Path, size: tuple[int, int], pixels: tuple[int, int]) -> bytes:
    """Return the image as PNG, not larger than `pixels`. `size` is its expected size.

    Raises:
        UnreadableImage: it cannot be shown.
    """
    buffer = io.BytesIO()
    _load(path, size, pixels).save(buffer, "PNG")
    return buffer.getvalue()


def load_sixel(path: Path, size: tuple[int, int], pixels: tuple[int, int]) -> str:
    """Return the image as a sixel sequence of exactly `pixels`. `size` is its expected size.

    Raises:
        UnreadableImage: it cannot be shown.
    """
    from PIL import Image  # with the first image

    image = _load(path, size, pixels)
    # Transparent pixels are not drawn, so only an opaque copy is quantized.
    opaque = image.convert("RGB").resize(pixels, Image.Resampling.LANCZOS)
    drawn = opaque.quantize(_SIXEL_COLORS, Image.Quantize.MEDIANCUT)
    alpha = image.getchannel("A").resize(pixels).tobytes()
    palette = bytes(drawn.getpalette() or b"")
    return sixel_of(pixels, drawn.tobytes(), palette, alpha)


def _load(path: Path, size: tuple[int, int], pixels: tuple[int, int]) -> Image:
    from PIL import Image  # with the first image

    try:
        data = path.read_bytes() if path.stat().st_size <= MAX_IMAGE_BYTES else b""
        with Image.open(io.BytesIO(data), formats=_FORMATS) as image:
            if image.size != size or max(size) > MAX_IMAGE_PIXELS:
                raise UnreadableImage(str(path))
            image.draft("RGB", pixels)
            rgba = image.convert("RGBA")
            rgba.thumbnail(pixels)
            return rgba
    # For a damaged file the decoder may raise any of these.
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise UnreadableImage(str(path)) from error
