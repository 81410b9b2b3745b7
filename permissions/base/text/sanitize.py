"""Removes terminal control sequences from untrusted text.

The parser keeps its state between chunks, so that an escape sequence cut in two is still
recognized. `sanitize` is for text that is shown or sent to the model; `reveal` is for prompts and
paths, where a user must see what was there.
"""

from __future__ import annotations

import unicodedata
from enum import Enum, auto
from typing import Final

from permissions.base.text.late_pattern import compile_late

STRING_LIMIT: Final = 4096
"""Longest payload of an unterminated control string that is dropped, in characters. What comes
after it is text again: hiding the rest of a document is an attack, too."""

SEQUENCE_LIMIT: Final = 256
"""Longest control sequence without a final byte that is dropped, in characters."""

# Everything that needs the slow path: C0 but tab and newline, DEL, C1, line separators, bidi
# controls, annotation and tag characters, surrogates.
_SUSPECT: Final = compile_late(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
# Runs of dropped characters are matched at once, for speed: binary or colored output has millions
# of them. Other sequences are left to the parser.
_DROPPED_RUN: Final = compile_late(
    "(?:[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f]+|\x1b\\[[0-?]{0,64}[ -/]{0,8}[@-~])+"
)
_BLACK_FLAG: Final = "\U0001f3f4"
_CANCEL: Final = frozenset("\x18\x1a")


class _State(Enum):
    GROUND = auto()
    ESCAPE = auto()
    """After ESC, intermediates included."""
    SEQUENCE = auto()
    """In CSI parameters and intermediates."""
    STRING = auto()
    """In the payload of OSC, DCS, SOS, PM or APC."""
    STRING_ESCAPE = auto()
    """After an ESC in a payload: the terminator, or a new sequence."""


class Sanitizer:
    """Cleans one stream of text; the result does not depend on how it is cut into chunks.

    Kept: text, tab, newline. Dropped: all other C0 controls, DEL, C1, escape and control
    sequences with their payload, bidi embeddings, overrides and isolates, annotation characters,
    and tag characters outside flag emoji. A lone surrogate becomes U+FFFD; U+2028 and U+2029
    become a newline.
    """

    __slots__ = ("_in_flag", "_length", "_state")

    def __init__(self) -> None:
        self._state = _State.GROUND
        self._length = 0
        self._in_flag = False

    def feed(self, text: str) -> str:
        """Return the next chunk without control sequences."""
        if self._state is _State.GROUND and _SUSPECT.search(text) is None:
            if text:
                self._in_flag = text[-1] == _BLACK_FLAG
            return text
        output: list[str] = []
        position = 0
        while position < len(text):
            if self._state is _State.GROUND:
                position = self._feed_text(text, position, output)
            else:
                self._feed_control(text[position], output)
                position += 1
        return "".join(output)

    def finish(self) -> str:
        """End the stream and discard an unfinished sequence. Returns an empty string."""
        self._state = _State.GROUND
        self._length = 0
        self._in_flag = False
        return ""

    def _feed_text(self, text: str, position: int, output: list[str]) -> int:
        suspect = _SUSPECT.search(text, position)
        end = suspect.start() if suspect else len(text)
        if end > position:
            output.append(text[position:end])
            self._in_flag = text[end - 1] == _BLACK_FLAG
        if suspect is None:
            return end
        run = _DROPPED_RUN.match(text, end)
        if run is not None:
            self._in_flag = False
            return run.end()
        self._feed_suspect(text[end], output)
        return end + 1

    def _feed_suspect(self, character: str, output: list[str]) -> None:
        if "\U000e0000" <= character <= "\U000e007f":
            if self._in_flag:
                output.append(character)
                self._in_flag = character != "\U000e007f"
            return
        self._in_flag = False
        match character:
            case "\x1b":
                self._enter(_State.ESCAPE)
            case "\x9b":
                self._enter(_State.SEQUENCE)
            case "\x90" | "\x98" | "\x9d" | "\x9e" | "\x9f":
                self._enter(_State.STRING)
            case "\u2028" | "\u2029":
                output.append("\n")
            case _ if "\ud800" <= character <= "\udfff":
                output.append("\ufffd")
            case _:
                pass

    def _feed_control(self, character: str, output: list[str]) -> None:
        self._length += 1
        if character in _CANCEL:
            self._enter(_State.GROUND)
            return
        match self._state:
            case _State.ESCAPE:
                self._feed_escape(character, output)
            case _State.SEQUENCE:
                self._feed_sequence(character, output)
            case _State.STRING:
                if character == "\x1b":
                    self._state = _State.STRING_ESCAPE
                elif character in "\x07\x9c" or self._length >= STRING_LIMIT:
                    self._enter(_State.GROUND)
            case _State.STRING_ESCAPE:
                self._enter(_State.ESCAPE)
                if character == "\\":
                    self._enter(_State.GROUND)
                else:
                    self._feed_escape(character, output)
            case _State.GROUND:
                raise AssertionError("text is not fed here")

    def _feed_escape(self, character: str, output: list[str]) -> None:
        if character == "[":
            self._enter(_State.SEQUENCE)
        elif character in "]PX^_":
            self._enter(_State.STRING)
        elif character == "\x1b":
            self._enter(_State.ESCAPE)
        elif "\x20" <= character <= "\x2f":
            if self._length >= SEQUENCE_LIMIT:
                self._enter(_State.GROUND)
        elif "\x30" <= character <= "\x7e":
            self._enter(_State.GROUND)
        else:
            self._feed_inside(character, output)

    def _feed_sequence(self, character: str, output: list[str]) -> None:
        if "\x40" <= character <= "\x7e":
            self._enter(_State.GROUND)
        elif "\x20" <= character <= "\x3f":
            if self._length >= SEQUENCE_LIMIT:
                self._enter(_State.GROUND)
        else:
            self._feed_inside(character, output)

    def _feed_inside(self, character: str, output: list[str]) -> None:
        """Handle a character that is not part of a sequence: controls act within it, text ends
        it."""
        if character in "\t\n":
            # A terminal executes these inside a sequence, which then continues.
            output.append(character)
        elif character == "\x7f" or (character < "\x20" and character != "\x1b"):
            pass
        else:
            self._enter(_State.GROUND)
            if _SUSPECT.match(character):
                self._feed_suspect(character, output)
            else:
                output.append(character)
                self._in_flag = character == _BLACK_FLAG

    def _enter(self, state: _State) -> None:
        self._state = state
        self._length = 0


def sanitize(text: str) -> str:
    """Return a complete text without control sequences."""
    return Sanitizer().feed(text)


# Invisible, although not a format character by category: fillers, blank Braille, joiner, selectors
# of Mongolian and Khitan letters.
_INVISIBLE: Final = frozenset(
    "\u115f\u1160\u3164\uffa0\u2800\u034f\u17b4\u17b5\u180b\u180c\u180d\u180f\U00016fe4"
)
_MAKES_EMOJI: Final = frozenset("\u200d\ufe0f\U000e007f")


def reveal(text: str) -> str:
    r"""Return the text with invisible characters spelled out: `\x1b`, `U+202E`; tab and newline
    stay.

    For permission prompts and paths: nothing is dropped, so that users read what runs. Only
    invisible parts of an emoji are kept.
    """
    if text.isascii() and text.isprintable():
        return text
    if _MAKES_EMOJI.isdisjoint(text):
        return "".join(map(_reveal_character, text))
    from permissions.base.text.emoji import (
        unseen_parts,  # with the first of them: its pattern takes a millisecond
    )

    parts = unseen_parts(text)
    pieces = [_reveal_character(character) for character in text]
    for place in parts:
        # Not kept beside a neighbor that is spelled out, such as an unassigned character.
        if all(pieces[neighbor] == text[neighbor] for neighbor in _neighbors(text, place, parts)):
            pieces[place] = text[place]
    return "".join(pieces)


def _neighbors(text: str, place: int, parts: frozenset[int]) -> tuple[int, ...]:
    """Return the indexes of the visible characters next to an invisible one."""
    previous = place - 1
    while previous in parts:
        previous -= 1
    is_joiner = text[place] == "\u200d"
    return (previous, place + 1) if is_joiner else (previous,)


def _reveal_character(character: str) -> str:
    if character in "\t\n ":
        return character
    code = ord(character)
    if code < 0x20 or 0x7F <= code < 0xA0:
        return f"\\x{code:02x}"
    is_variation = 0xFE00 <= code <= 0xFE0F or 0xE0100 <= code <= 0xE01EF
    hidden = unicodedata.category(character) in ("Cf", "Zl", "Zp", "Zs", "Cs", "Co", "Cn")
    if hidden or is_variation or character in _INVISIBLE:
        return f"U+{code:04X}"
    return character
