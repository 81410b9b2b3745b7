"""The prompt's text being edited: cursor, readline's keys, kill ring, undo. Pure.

Next: `draft`, which is what it edits.
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
    """Editing of one draft. Every operation leaves a valid cursor; none raises."""

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

    # What is there

    @property
    def draft(self) -> Draft:
        """The current draft."""
        return self._draft

    @property
    def text(self) -> str:
        """The text, chips as single characters."""
        return self._draft.text

    @property
    def cursor(self) -> int:
        """The cursor, in characters."""
        return self._draft.cursor

    @property
    def is_empty(self) -> bool:
        """Whether nothing is typed."""
        return not self._draft.text

    def load(self, draft: Draft) -> None:
        """Put another draft in place; undo brings the old one back."""
        self._change(draft, "load")
        self._chip_count = max(self._chip_count, *(chip.number for chip in draft.chips.values()), 0)

    def set_text(self, text: str) -> None:
        """Put plain text in place, cursor at its end; an endless one as a label."""
        self.load(Draft.of_text(_clean(text)))

    def clear(self) -> Draft:
        """Empty the buffer and forget the undo steps; return what was there."""
        old, self._draft = self._draft, Draft()
        self._undo.clear()
        self._redo.clear()
        self._last = ""
        return old

    # Typing

    def insert(self, text: str) -> None:
        """Type text at the cursor; an endless one is a label."""
        if len(text) > LONG_CHARS:
            self.insert_chip(text)
            return
        self._splice(self.cursor, self.cursor, _clean(text), "type")

    def paste(self, text: str) -> None:
        """Insert pasted text, as a chip when it is large; the same again expands the chip."""
        last_chip = self._draft.chips.get(self.text[self.cursor - 1 : self.cursor])
        is_again = last_chip is not None and last_chip.content == text
        if is_again and len(text) <= LONG_CHARS:
            self._splice(self.cursor - 1, self.cursor, _clean(text), "paste")
        elif len(text) <= CHIP_CHARS and text.count("\n") < CHIP_LINES:
            self._splice(self.cursor, self.cursor, _clean(text), "paste")
        else:
            self.insert_chip(text)

    def insert_chip(self, content: str, kind: Literal["text", "image"] = "text") -> None:
        """Insert something that is shown as a label and sent as its content."""
        self._chip_count += 1
        char = free_chip_char(self._draft.chips)
        chips = {**self._draft.chips, char: Chip(self._chip_count, content, kind)}
        text, cursor = self.text, self.cursor
        self._change(Draft(text[:cursor] + char + text[cursor:], cursor + 1, chips), "paste")

    def expand_chips(self) -> None:
        """Put pasted texts in the places of their labels, where they can be edited here."""
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
        """Put the cursor somewhere."""
        self._move(max(0, min(cursor, len(self.text))))

    def left(self) -> None:
        """One character left."""
        self._move(left_of(self.text, self.cursor))

    def right(self) -> None:
        """One character right."""
        self._move(right_of(self.text, self.cursor))

    def word_left(self) -> None:
        """To the start of this or the previous word."""
        self._move(_scan(self.text, self.cursor, -1, str.isalnum))

    def word_right(self) -> None:
        """Behind this or the next word."""
        self._move(_word_end(self.text, self.cursor))

    def line_start(self) -> None:
        """To the start of the line."""
        self._move(self.text.rfind("\n", 0, self.cursor) + 1)

    def line_end(self) -> None:
        """To the end of the line."""
        end = self.text.find("\n", self.cursor)
        self._move(len(self.text) if end < 0 else end)

    def start(self) -> None:
        """To the very start."""
        self._move(0)

    def end(self) -> None:
        """To the very end."""
        self._move(len(self.text))

    # Killing and yanking

    def kill_to_line_end(self) -> None:
        """Cut to the end of the line, or the line break itself."""
        end = self.text.find("\n", self.cursor)
        end = len(self.text) if end < 0 else end
        self.kill(self.cursor, end if end > self.cursor else min(end + 1, len(self.text)))

    def kill_to_line_start(self) -> None:
        """Cut to the start of the line, or the line break before it."""
        start = self.text.rfind("\n", 0, self.cursor) + 1
        self.kill(start if start < self.cursor else max(0, start - 1), self.cursor, goes_first=True)

    def kill_word_left(self, *, to_space: bool = False) -> None:
        """Cut the word before the cursor; `to_space`: up to a space, as Ctrl+W does."""
        is_word = _is_no_space if to_space else str.isalnum
        start = _scan(self.text, self.cursor, -1, is_word)
        self.kill(start, self.cursor, goes_first=True)

    def kill_word_right(self) -> None:
        """Cut the word after the cursor."""
        self.kill(self.cursor, _word_end(self.text, self.cursor))

    def yank(self) -> None:
        """Insert what was cut last."""
        if not self._kills:
            return
        self._yank_start, self._yank_index = self.cursor, len(self._kills) - 1
        self.put(self.cursor, self.cursor, self._kills[-1], "yank")

    def yank_older(self) -> None:
        """Directly after a yank: put the cut before that one in its place."""
        if self._last != "yank" or not self._kills:
            return
        self._yank_index = (self._yank_index - 1) % len(self._kills)
        self.put(self._yank_start, self.cursor, self._kills[self._yank_index], "yank")

    def piece(self, start: int, end: int) -> DraftPiece:
        """Return a part of the text, for `put`."""
        text = self.text[start:end]
        return DraftPiece(text, {c: self._draft.chips[c] for c in text if c in self._draft.chips})

    def put(self, start: int, end: int, piece: DraftPiece = _NOTHING, kind: str = "put") -> None:
        """Put a piece, or nothing, in place of a part of the text, the cursor behind it."""
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
        """Put another form of the rest of this word, or of the next one, in its place."""
        end = _word_end(self.text, self.cursor)
        self._splice(self.cursor, end, change(self.text[self.cursor : end]), "word")

    # Undo

    def undo(self) -> None:
        """Take back the last change; runs of typing count as one."""
        if self._undo:
            self._redo.append(self._draft)
            self._draft = self._undo.pop()
            self._last = "undo"

    def redo(self) -> bool:
        """Make the last change that was undone again; return whether there was one."""
        if not self._redo:
            return False
        self._undo.append(self._draft)
        self._draft = self._redo.pop()
        self._last = "undo"
        return True

    def begin_step(self) -> Draft:
        """Begin a change of several edits; hand what this returns to `end_step`."""
        self._undo.append(self._draft)
        self._last = "step"
        return self._draft

    def end_step(self, old_draft: Draft) -> None:
        """Make one undo step of all edits since; nothing when they were undone meanwhile."""
        for place in range(len(self._undo) - 1, -1, -1):
            if self._undo[place] is old_draft:
                del self._undo[place + (self.text != old_draft.text) :]
                break
        self._last = "step"

    # Inside

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
        """Cut a part of the text; a run of cuts is yanked as one.

        `goes_first`: it was in front of the cut before it.
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


def _is_no_space(char: str) -> bool:
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
    """Return text without control characters and without the characters that stand for chips."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if text.isprintable():
        return "".join(c for c in text if not is_chip(c)) if not text.isascii() else text
    remaining = (c for c in text.expandtabs(4) if c == "\n" or (c >= " " and c != "\x7f"))
    return "".join(c for c in remaining if not "\x80" <= c <= "\x9f" and not is_chip(c))
