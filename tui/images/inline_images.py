"""The images of a conversation: loaded in a thread when first in view, then handed to the terminal.

While one is loading, and where it cannot be shown, its line with size and type stands alone.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from itertools import count
from pathlib import Path
from typing import Final, Protocol

from msgspec import Struct

from tui.images.image_cells import cells_of, image_rows
from tui.images.image_support import ImageSupport
from tui.text.styled_rows import Row

_USUAL_CELL_SCALE: Final = (10, 20)
"""Pixels for each cell of an image where the terminal does not report a cell's size."""


class DrawsSixels(Protocol):
    """The frame, which draws sixels over its cells."""

    def add(self, number: int, columns: int, rows: int, sequence: str) -> None:
        """Take an image."""
        ...


class ImageFile(Struct, frozen=True):
    """An image that a block is about."""

    path: Path
    size: tuple[int, int]
    """Pixels, as the conversation has them."""


class InlineImages:
    """What the terminal was given, by file and size in cells."""

    def __init__(
        self,
        write: Callable[[str], None],
        sixels: Callable[[], DrawsSixels],
        start_worker: Callable[[Awaitable[None]], None],
        on_ready: Callable[[], None],
    ) -> None:
        """`on_ready` is called when rows for an image exist that did not before."""
        self.support = ImageSupport()
        self._write = write
        self._sixels = sixels
        self._start_worker = start_worker
        self._on_ready = on_ready
        # Other programs number their images in the same terminal, mostly from 1 on.
        self._numbers = count(0x100000 | (os.getpid() & 0xFFFF) << 4)
        self._numbers_by_image: dict[tuple[ImageFile, int, int], int | None] = {}
        """The number of each image; None while it is loading, and where it cannot be shown."""

    def take(self, support: ImageSupport) -> None:
        """Note what the terminal reports."""
        was_complete, self.support = self.support.is_complete, support
        if support.is_complete and not was_complete:
            self._on_ready()

    def rows(self, image: ImageFile, width_cells: int) -> list[Row]:
        """Return the rows that show an image; none before it is loaded."""
        support = self.support
        if not support.is_complete:
            return []
        cell = (support.cell_width, support.cell_height)
        columns, rows = cells_of(image.size, cell, width_cells)
        key = (image, columns, rows)
        if key not in self._numbers_by_image:
            self._numbers_by_image[key] = None
            self._start_worker(self._load(key))
        number = self._numbers_by_image[key]
        return image_rows(number, columns, rows, support.kind) if number is not None else []

    async def _load(self, key: tuple[ImageFile, int, int]) -> None:
        from tui.images.kitty_image import transmission  # with the first image
        from tui.images.load_image import UnreadableImage, load_png, load_sixel

        image, columns, rows = key
        support = self.support
        cell_width, cell_height = _USUAL_CELL_SCALE
        if support.cell_height:
            cell_width, cell_height = support.cell_width, support.cell_height
        pixels = (columns * cell_width, rows * cell_height)
        number = next(self._numbers)
        try:
            if support.kind == "kitty":
                png = await asyncio.to_thread(load_png, image.path, image.size, pixels)
                self._write(transmission(number, png, columns, rows))
            else:
                sixel = await asyncio.to_thread(load_sixel, image.path, image.size, pixels)
                self._sixels().add(number, columns, rows, sixel)
        except UnreadableImage:
            return
        self._numbers_by_image[key] = number
        self._on_ready()

    def at_stop(self) -> str:
        """Return what takes the images back from the terminal."""
        if self.support.kind != "kitty":
            return ""
        from tui.images.kitty_image import deletion  # with the first image

        return "".join(
            deletion(number) for number in self._numbers_by_image.values() if number is not None
        )
