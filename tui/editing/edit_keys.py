"""Editing keys for all text fields: readline's, as in shells."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from tui.editing.text_buffer import TextBuffer

EDIT_KEYS: Final[Mapping[str, Callable[[TextBuffer], object]]] = {
    "backspace": TextBuffer.backspace,
    "ctrl+h": TextBuffer.backspace,
    "delete": TextBuffer.delete,
    "left": TextBuffer.left,
    "ctrl+b": TextBuffer.left,
    "right": TextBuffer.right,
    "ctrl+f": TextBuffer.right,
    "ctrl+left": TextBuffer.word_left,
    "alt+left": TextBuffer.word_left,
    "alt+b": TextBuffer.word_left,
    "ctrl+right": TextBuffer.word_right,
    "alt+right": TextBuffer.word_right,
    "alt+f": TextBuffer.word_right,
    "home": TextBuffer.line_start,
    "ctrl+a": TextBuffer.line_start,
    "end": TextBuffer.line_end,
    "ctrl+e": TextBuffer.line_end,
    "alt+less_than_sign": TextBuffer.start,
    "alt+greater_than_sign": TextBuffer.end,
    "ctrl+k": TextBuffer.kill_to_line_end,
    "ctrl+u": TextBuffer.kill_to_line_start,
    "ctrl+w": lambda buffer: buffer.kill_word_left(to_space=True),
    "alt+backspace": TextBuffer.kill_word_left,
    "ctrl+backspace": TextBuffer.kill_word_left,
    "alt+d": TextBuffer.kill_word_right,
    "ctrl+delete": TextBuffer.kill_word_right,
    "ctrl+y": TextBuffer.yank,
    "alt+y": TextBuffer.yank_older,
    "alt+u": lambda buffer: buffer.change_word(str.upper),
    "alt+l": lambda buffer: buffer.change_word(str.lower),
    "alt+c": lambda buffer: buffer.change_word(str.title),
    "ctrl+shift+z": TextBuffer.redo,
    "alt+underscore": TextBuffer.redo,
}
"""Operations by key name. Undo is missing, because it is an action that can be rebound."""
