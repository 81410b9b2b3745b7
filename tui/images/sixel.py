"""Encodes pixels as a sixel sequence: bands of six rows, one pass for each color. Pure."""

from __future__ import annotations

from typing import Final

from permissions.base.text.late_pattern import compile_late

_BAND: Final = 6
_OPAQUE: Final = 128
_RUN: Final = compile_late(r"(.)\1{3,}")
_EMPTY: Final = "?"


def sixel_of(size: tuple[int, int], pixels: bytes, palette: bytes, alpha: bytes) -> str:
    """Return the sequence. `pixels` are indexes into `palette` (three bytes a color), row by row.

    Rows that do not fill a band are left out, so that nothing is drawn below the last cell.
    """
    width, height = size[0], size[1] - size[1] % _BAND
    used_colors = sorted(set(pixels[: width * height]))
    colors = "".join(
        f"#{index};2;" + ";".join(str(level * 100 // 255) for level in palette[3 * index :][:3])
        for index in used_colors
    )
    bands = [_band(width, top, pixels, alpha) for top in range(0, height, _BAND)]
    # P2=1: pixels that are not drawn keep their color.
    return f'\x1bP0;1;0q"1;1;{width};{height}{colors}{"-".join(bands)}\x1b\\'


def _band(width: int, top: int, pixels: bytes, alpha: bytes) -> str:
    columns: dict[int, bytearray] = {}
    for bit in range(_BAND):
        start = (top + bit) * width
        row = pixels[start : start + width]
        for x, color in enumerate(row):
            if alpha[start + x] < _OPAQUE:
                continue
            bits = columns.get(color)
            if bits is None:
                bits = columns[color] = bytearray(width)
            bits[x] |= 1 << bit
    return "$".join(f"#{color}{_runs(bits)}" for color, bits in columns.items())


def _runs(bits: bytearray) -> str:
    text = bytes(value + 63 for value in bits).decode("ascii").rstrip(_EMPTY)
    return _RUN.sub(lambda run: f"!{len(run[0])}{run[1]}", text)
