"""Mentions of pasted images: names of the copies, and the labels shown instead. Pure."""

from __future__ import annotations

import re
from typing import Final

from permissions.base.text.late_pattern import compile_late

_PREFIX: Final = "pasted-"
"""Prefix of the name of a copied image; `image_name` appends its size."""
_NAME: Final = rf"{_PREFIX}\w+(?:-(?P<{{0}}>\d+x\d+))?(?:-(?P<{{1}}>\d+)kB)?\.(?P<{{2}}>\w+)"
_IMAGE: Final = compile_late(
    rf"""@(?:"[^"\n]*/scratch/{_NAME.format("a", "b", "c")}\""""
    rf"""|[^\s"]*/scratch/{_NAME.format("d", "e", "f")})"""
)


def image_name(uid: str, size: tuple[int, int] | None, byte_count: int, suffix: str) -> str:
    """Return a name for a copied image that says its size in pixels and in kilobytes."""
    pixels = f"-{size[0]}x{size[1]}" if size is not None else ""
    return f"{_PREFIX}{uid}{pixels}-{max(1, round(byte_count / 1000))}kB{suffix}"


def with_image_labels(text: str) -> str:
    """Return a prompt with `[Image 640×480 PNG 38 kB]` for each pasted image."""
    return _IMAGE.sub(_label, text) if _PREFIX in text else text


def _label(match: re.Match[str]) -> str:
    pixels, kilobytes, suffix = (match[a] or match[b] for a, b in ("ad", "be", "cf"))
    if kilobytes is None:
        return "[Image]"
    size = f"{pixels.replace('x', '×')} " if pixels else ""
    return f"[Image {size}{suffix.upper()} {int(kilobytes):,} kB]"


def pasted_images(text: str) -> tuple[tuple[str, int, int], ...]:
    """Return path, width and height in pixels of each pasted image that a prompt mentions."""
    images: list[tuple[str, int, int]] = []
    for match in _IMAGE.finditer(text) if _PREFIX in text else ():
        width, _, height = (match["a"] or match["d"] or "").partition("x")
        if height:
            images.append((match[0][1:].strip('"'), int(width), int(height)))
    return tuple(images)
