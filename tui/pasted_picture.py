"""Keeps the clipboard's picture in the session's own folder, for the prompt to mention."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path


class NoPicture(Exception):
    """There is none on the clipboard."""


async def keep_picture(folder: Path, env: Mapping[str, str]) -> str:
    """Write the clipboard's picture and return its mention, with a space behind.

    Raises:
        NoPicture: there is none.
        OSError: it could not be written.
    """
    from agent.files.clipboard_image import read_clipboard_image  # with the first picture
    from agent.messages import new_uid

    data = await read_clipboard_image(dict(env))
    if data is None:
        raise NoPicture
    path = folder / f"pasted-{new_uid()[:8]}.png"
    await asyncio.to_thread(path.write_bytes, data)
    return f'@"{path}" ' if " " in str(path) else f"@{path} "
