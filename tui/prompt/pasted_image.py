"""Stores images from the clipboard, or dropped on the window, in the session's directory.

Terminals paste the path of a dropped file, with backslashes or quotes, or as a URL.
"""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from agent.files.image_mentions import image_name
from agent.files.mention_text import mention_of
from tui.text.safe_text import shown_prompt

MAX_DROPPED: Final = 10
MAX_BYTES: Final = 20_000_000
_MAX_CHARS: Final = 8_192
_SUFFIXES: Final = frozenset({".png", ".jpg", ".jpeg", ".gif", ".webp"})


class NoClipboardImage(Exception):
    """The clipboard contains no image."""


class PastedImage(Struct, frozen=True):
    """An image that is sent with the prompt."""

    mention: str
    label: str
    """Its label, with size and type."""


async def save_clipboard_image(directory: Path, env: Mapping[str, str]) -> PastedImage:
    """Write the clipboard's image and return it.

    Raises:
        ClipboardUnreachable: no program can read the clipboard.
        NoClipboardImage: the clipboard contains no image.
        OSError: it could not be written.
    """
    from agent.files.clipboard_image import read_clipboard_image  # with the first image

    data = await read_clipboard_image(dict(env))
    if data is None:
        raise NoClipboardImage
    return await asyncio.to_thread(_store, directory, data, ".png")


async def copy_dropped_image(directory: Path, picture: Path) -> PastedImage:
    """Copy a dropped image and return the copy, so that later changes of the file do not matter.

    Raises:
        OSError: it could not be read or written, or is too large.
    """

    def copy() -> PastedImage:
        with picture.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise OSError(0, f"it is larger than {MAX_BYTES // 1_000_000} MB")
        return _store(directory, data, picture.suffix.lower())

    return await asyncio.to_thread(copy)


def dropped_images(text: str) -> list[Path]:
    """Return the image files of a paste that consists only of their paths; otherwise []."""
    if not text.strip() or len(text) > _MAX_CHARS:
        return []
    try:
        words = shlex.split(text)
    except ValueError:
        return []
    # A path with spaces may also be pasted unquoted.
    for candidates in ([text.strip()], words):
        paths = [_path(word) for word in candidates]
        if len(paths) <= MAX_DROPPED and all(map(_is_image, paths)):
            return paths
    return []


def _path(word: str) -> Path:
    if word.startswith("file://"):
        return Path(unquote(urlsplit(word).path))
    return Path(word)


def _is_image(path: Path) -> bool:
    try:
        return path.is_absolute() and path.suffix.lower() in _SUFFIXES and path.is_file()
    except (OSError, ValueError):
        return False


def _store(directory: Path, data: bytes, suffix: str) -> PastedImage:
    from agent.messages import new_uid  # with the first image
    from agent.tools.builtin.read_image import image_size

    path = directory / image_name(new_uid()[:8], image_size(data), len(data), suffix)
    path.write_bytes(data)
    mention = mention_of(str(path))
    return PastedImage(mention, shown_prompt(mention))
