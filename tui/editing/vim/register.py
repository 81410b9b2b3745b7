"""The register of vim's deletes and yanks, and pasting it."""

from __future__ import annotations

from msgspec import Struct, field
from msgspec.structs import replace

from tui.editing.draft import DraftPiece
from tui.editing.text_buffer import TextBuffer
from tui.editing.vim.motions import first_character, line_end, line_start
from tui.text.graphemes import left_of, right_of


class VimRegister(Struct, frozen=True):
    """The text that was cut or copied last."""

    piece: DraftPiece = field(default_factory=lambda: DraftPiece(""))
    """The text; if linewise, without the line break at its end."""
    is_linewise: bool = False


def copy_register(buffer: TextBuffer, start: int, end: int, *, is_linewise: bool) -> VimRegister:
    """Return a part of the text as a register; if linewise, without its last line break."""
    piece = buffer.piece(start, end)
    if is_linewise:
        piece = replace(piece, text=piece.text.removesuffix("\n"))
    return VimRegister(piece, is_linewise)


def put_back(buffer: TextBuffer, register: VimRegister, count: int, *, goes_first: bool) -> None:
    """Insert a register after the cursor, or before it with `goes_first`; whole lines as lines."""
    piece = register.piece
    if not piece.text and not register.is_linewise:
        return
    text, cursor = buffer.text, buffer.cursor
    if register.is_linewise:
        lines = "\n".join([piece.text] * count)
        if goes_first:
            place = line_start(text, cursor)
            buffer.put(place, place, replace(piece, text=lines + "\n"))
        else:
            place = line_end(text, cursor)
            buffer.put(place, place, replace(piece, text="\n" + lines))
            place += 1
        buffer.move_to(first_character(buffer.text, place))
        return
    is_on_character = cursor < line_end(text, cursor)
    place = right_of(text, cursor) if is_on_character and not goes_first else cursor
    buffer.put(place, place, replace(piece, text=piece.text * count))
    end = place + len(piece.text) * count
    buffer.move_to(place if "\n" in piece.text else left_of(buffer.text, end))
