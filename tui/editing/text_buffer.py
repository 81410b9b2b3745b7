"""The text buffer of the prompt: cursor, readline operations, kill ring, undo. Pure.

Next: `draft`, the value that it edits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

from msgspec.structs import replace

from tui.editing.draft import (
    CHIP_CHARS,
    CHIP_LINES,
    LONG_CHARS,
    Chip,
    Draft,
    DraftPiece,
    free_chip_char,
    is_chip,
)
from tui.text.graphemes import left_of, right_of

_UNDO_STEPS: Final = 200
_KILLS: Final = 30
_NOTHING: Final = DraftPiece("")


class TextBuffer:
    """Edits a draft. After every operation the cursor is valid; none raises."""

    def __init__(self, draft: Draft | None = None) -> None:
        """Start with a draft, or empty."""
        self._draft = draft or Draft()
        self._undo: list[Draft] = []
        self._redo: list[Draft] = []
        self._kills: list[DraftPiece] = []
        self._last: str = ""
        self._yank_start = 0
        self._yank_index = 0
        self._chip_count = 0

    # Content

    @property
    def draft(self) -> Draft:
        """The current draft."""
        return self._draft

    @property
    def text(self) -> str:
        """The text, with chips as single characters."""
        return self._draft.text

    @property
    def cursor(self) -> int:
        """The cursor's position, in characters."""
        return self._draft.cursor

    @property
    def is_empty(self) -> bool:
        """Whether the text is empty."""
        return not self._draft.text

    def load(self, draft: Draft) -> None:
        """Replace the draft; undo restores the old one."""
        self._change(draft, "load")
        self._chip_count = max(self._chip_count, *(chip.number for chip in draft.chips.values()), 0)

    def set_text(self, text: str) -> None:
        """Replace the text, with the cursor at its end; a very long text becomes a chip."""
        self.load(Draft.of_text(_clean(text)))

    def clear(self) -> Draft:
        """Clear the buffer and its undo steps; return the old draft."""
        old, self._draft = self._draft, Draft()
        self._undo.clear()
        self._redo.clear()
        self._last = ""
        return old

    # Typing

    def insert(self, text: str) -> None:
        """Insert text at the cursor; a very long text becomes a chip."""
        if len(text) > LONG_CHARS:
            self.insert_chip(text)
            return
        self._splice(self.cursor, self.cursor, _clean(text), "type")

    def paste(self, text: str) -> None:
        """Insert pasted text, as a chip if it is large; pasting it again expands the chip."""
        last_chip = self._draft.chips.get(self.text[self.cursor - 1 : self.cursor])
        is_again = last_chip is not None and last_chip.content == text
        if is_again and len(text) <= LONG_CHARS:
            self._splice(self.cursor - 1, self.cursor, _clean(text), "paste")
        elif len(text) <= CHIP_CHARS and text.count("\n") <= CHIP_LINES:
            self._splice(self.cursor, self.cursor, _clean(text), "paste")
        else:
            self.insert_chip(text)

    def insert_chip(self, content: str, kind: Literal["text", "image"] = "text") -> None:
        """Insert a chip, which is shown as a label and sent as `content`."""
        self._chip_count += 1
        char = free_chip_char(self._draft.chips)
        chips = {**self._draft.chips, char: Chip(self._chip_count, content, kind)}
        text, cursor = self.text, self.cursor
        self._change(Draft(text[:cursor] + char + text[cursor:], cursor + 1, chips), "paste")

    def expand_chips(self) -> None:
        """Replace the chips of pasted texts by the texts, unless they are too long."""
        chips = self._draft.chips
        texts = {
            char: _clean(chip.content)
            for char, chip in chips.items()
            if chip.kind == "text" and len(chip.content) <= LONG_CHARS
        }
        if not texts:
            return
        parts: list[str] = []
        cursor = 0
        for place, char in enumerate(self.text):
            if place == self.cursor:
                cursor = sum(map(len, parts))
            parts.append(texts.get(char, char))
        text = "".join(parts)
        remaining = {char: chip for char, chip in chips.items() if char not in texts}
        self._change(
            Draft(text, cursor if self.cursor < len(self.text) else len(text), remaining), "expand"
        )

    def backspace(self) -> None:
        """Delete the character before the cursor."""
        self._splice(left_of(self.text, self.cursor), self.cursor, "", "delete")

    def delete(self) -> None:
        """Delete the character after the cursor."""
        self._splice(self.cursor, right_of(self.text, self.cursor), "", "delete")

    # Moving

    def move_to(self, cursor: int) -> None:
        """Move the cursor to a position, which is clamped to the text."""
        self._move(max(0, min(cursor, len(self.text))))

    def left(self) -> None:
        """Move one character to the left."""
        self._move(left_of(self.text, self.cursor))

    def right(self) -> None:
        """Move one character to the right."""
        self._move(right_of(self.text, self.cursor))

    def word_left(self) -> None:
        """Move to the start of this or the previous word."""
        self._move(_scan(self.text, self.cursor, -1, str.isalnum))

    def word_right(self) -> None:
        """Move to the end of this or the next word."""
        self._move(_word_end(self.text, self.cursor))

    def line_start(self) -> None:
        """Move to the start of the line."""
        self._move(self.text.rfind("\n", 0, self.cursor) + 1)

    def line_end(self) -> None:
        """Move to the end of the line."""
        end = self.text.find("\n", self.cursor)
        self._move(len(self.text) if end < 0 else end)

    def start(self) -> None:
        """Move to the start of the text."""
        self._move(0)

    def end(self) -> None:
        """Move to the end of the text."""
        self._move(len(self.text))

    # Killing and yanking

    def kill_to_line_end(self) -> None:
        """Cut to the end of the line; at the end, cut the line break."""
        end = self.text.find("\n", self.cursor)
        end = len(self.text) if end < 0 else end
        self.kill(self.cursor, end if end > self.cursor else min(end + 1, len(self.text)))

    def kill_to_line_start(self) -> None:
        """Cut to the start of the line; at the start, cut the line break before it."""
        start = self.text.rfind("\n", 0, self.cursor) + 1
        self.kill(start if start < self.cursor else max(0, start - 1), self.cursor, goes_first=True)

    def kill_word_left(self, *, to_space: bool = False) -> None:
        """Cut the word before the cursor; `to_space`: up to a space, as Ctrl+W does."""
        is_word = _is_not_space if to_space else str.isalnum
        start = _scan(self.text, self.cursor, -1, is_word)
        self.kill(start, self.cursor, goes_first=True)

    def kill_word_right(self) -> None:
        """Cut the word after the cursor."""
        self.kill(self.cursor, _word_end(self.text, self.cursor))

    def yank(self) -> None:
        """Insert the text that was cut last."""
        if not self._kills:
            return
        self._yank_start, self._yank_index = self.cursor, len(self._kills) - 1
        self.put(self.cursor, self.cursor, self._kills[-1], "yank")

    def yank_older(self) -> None:
        """Right after a yank: replace the inserted text by the one that was cut before it."""
        if self._last != "yank" or not self._kills:
            return
        self._yank_index = (self._yank_index - 1) % len(self._kills)
        self.put(self._yank_start, self.cursor, self._kills[self._yank_index], "yank")

    def piece(self, start: int, end: int) -> DraftPiece:
        """Return a part of the text, for `put`."""
        text = self.text[start:end]
        return DraftPiece(text, {c: self._draft.chips[c] for c in text if c in self._draft.chips})

    def put(self, start: int, end: int, piece: DraftPiece = _NOTHING, kind: str = "put") -> None:
        """Replace a part of the text by a piece or nothing; the cursor is after it."""
        text = piece.text
        chips = dict(self._draft.chips)
        for char, chip in piece.chips.items():
            if chips.get(char, chip) != chip:
                other = free_chip_char(chips)
                text = text.replace(char, other)
                chips[other] = chip
            else:
                chips[char] = chip
        if start == end and not text:
            return
        old = self.text
        self._change(Draft(old[:start] + text + old[end:], start + len(text), chips), kind)

    def change_word(self, change: Callable[[str], str]) -> None:
        """Apply `change` to the rest of this word, or to the next word."""
        end = _word_end(self.text, self.cursor)
        self._splice(self.cursor, end, change(self.text[self.cursor : end]), "word")

    # Undo

    def undo(self) -> None:
        """Undo the last change; consecutive typing within a word counts as one."""
        if self._undo:
            self._redo.append(self._draft)
            self._draft = self._undo.pop()
            self._last = "undo"

    def redo(self) -> bool:
        """Redo the last undone change; return whether there was one."""
        if not self._redo:
            return False
        self._undo.append(self._draft)
        self._draft = self._redo.pop()
        self._last = "undo"
        return True

    def begin_step(self) -> Draft:
        """Begin a change of several edits; pass the returned draft to `end_step`."""
        self._undo.append(self._draft)
        self._last = "step"
        return self._draft

    def end_step(self, old_draft: Draft) -> None:
        """Combine all edits since `begin_step` into one undo step, unless they were undone."""
        for place in range(len(self._undo) - 1, -1, -1):
            if self._undo[place] is old_draft:
                del self._undo[place + (self.text != old_draft.text) :]
                break
        self._last = "step"

    # Implementation

    def _move(self, cursor: int) -> None:
        self._draft = replace(self._draft, cursor=cursor)
        self._last = "move"

    def _splice(self, start: int, end: int, text: str, kind: str) -> None:
        if start == end and not text:
            return
        old = self.text
        self._change(
            replace(self._draft, text=old[:start] + text + old[end:], cursor=start + len(text)),
            kind,
        )

    def _change(self, draft: Draft, kind: str) -> None:
        is_same_run = kind == self._last and kind in ("type", "delete")
        starts_word = kind == "type" and draft.text[draft.cursor - 1 : draft.cursor].isspace()
        if not is_same_run or starts_word or not self._undo:
            self._undo.append(self._draft)
            del self._undo[:-_UNDO_STEPS]
        self._redo.clear()
        self._draft = draft
        self._last = kind

    def kill(self, start: int, end: int, *, goes_first: bool = False, is_run: bool = True) -> None:
        """Cut a part of the text; with `is_run`, consecutive cuts are yanked as one.

        `goes_first`: it was before the previous cut.
        """
        if start == end:
            return
        cut = self.piece(start, end)
        if is_run and self._last == "kill" and self._kills:
            old = self._kills[-1]
            text = cut.text + old.text if goes_first else old.text + cut.text
            self._kills[-1] = DraftPiece(text, {**old.chips, **cut.chips})
        else:
            self._kills.append(cut)
            del self._kills[:-_KILLS]
        self._splice(start, end, "", "kill")


def _word_end(text: str, cursor: int) -> int:
    return _scan(text, cursor, 1, str.isalnum)


def _is_not_space(char: str) -> bool:
    return not char.isspace()


def _scan(text: str, cursor: int, step: int, is_word: Callable[[str], bool]) -> int:
    offset = -1 if step < 0 else 0
    for is_inside in (False, True):
        while (
            0 <= cursor + offset < len(text)
            and (is_word(text[cursor + offset]) or text[cursor + offset] == "_") == is_inside
        ):
            cursor += step
    return cursor


def _clean(text: str) -> str:
    """Return text without control characters and without the characters that represent chips."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if text.isprintable():
        return "".join(c for c in text if not is_chip(c)) if not text.isascii() else text
    remaining = (c for c in text.expandtabs(4) if c == "\n" or (c >= " " and c != "\x7f"))
    return "".join(c for c in remaining if not "\x80" <= c <= "\x9f" and not is_chip(c))
