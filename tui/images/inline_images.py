"""Loads a conversation's images in a thread when first visible, and passes them to the terminal.

While an image is loading, and if it cannot be shown, only its line with size and type is shown.
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
"""Pixels for each cell of an image, if the terminal does not report a cell's size."""


class DrawsSixels(Protocol):
    """The frame, which draws sixels over its cells."""

    def add(self, number: int, columns: int, rows: int, sequence: str) -> None:
        """Add an image; cells with its number show it."""
        ...


class ImageFile(Struct, frozen=True):
    """The image file of a block."""

    path: Path
    size: tuple[int, int]
    """Width and height in pixels, as recorded in the conversation."""


class InlineImages:
    """The images passed to the terminal, by file and size in cells."""

    def __init__(
        self,
        write: Callable[[str], None],
        sixels: Callable[[], DrawsSixels],
        start_worker: Callable[[Awaitable[None]], None],
        on_ready: Callable[[], None],
    ) -> None:
        """`on_ready` is called when an image can be shown that could not before."""
        self.support = ImageSupport()
        self._write = write
        self._sixels = sixels
        self._start_worker = start_worker
        self._on_ready = on_ready
        # Other programs in the same terminal number their images, too, mostly from 1.
        self._numbers = count(0x100000 | (os.getpid() & 0xFFFF) << 4)
        self._numbers_by_image: dict[tuple[ImageFile, int, int], int | None] = {}
        """The number of each image; None while it is loading, or if it cannot be shown."""

    def take(self, support: ImageSupport) -> None:
        """Store the support that the terminal reports."""
        was_complete, self.support = self.support.is_complete, support
        if support.is_complete and not was_complete:
            self._on_ready()

    def rows(self, image: ImageFile, width_cells: int) -> list[Row]:
        """Return the rows of an image; [] until it is loaded, which this starts."""
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
        """Return the sequences that delete the images from the terminal."""
        if self.support.kind != "kitty":
            return ""
        from tui.images.kitty_image import deletion  # with the first image

        return "".join(
            deletion(number) for number in self._numbers_by_image.values() if number is not None
        )
