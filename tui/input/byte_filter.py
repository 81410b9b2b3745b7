"""Splits the terminal's input into items that Textual's parser reads correctly; stateful.

It handles what the parser misreads: event types and alternate keys of the kitty protocol, Alt+Enter
as ESC CR, xterm's modifyOtherKeys, pastes that contain escape sequences. Replies to queries and
unknown sequences never become typed keys. No I/O and no clock: the reader applies `timeout_s`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from msgspec import Struct
from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual.constants import ESCAPE_DELAY
from textual.keys import _character_to_key

PRIVATE_NAMES: Final = {
    "textual._ansi_sequences": ("ANSI_SEQUENCES_KEYS",),
    "textual.keys": ("_character_to_key",),
}
"""Private names of Textual that this module uses."""

STRING_LIMIT: Final = 4096
"""Maximum length, in characters, of an incomplete reply (OSC, DCS and the like) that is kept."""
SEQUENCE_LIMIT: Final = 64
PASTE_TIMEOUT_S: Final = 10.0
"""How long an unfinished paste waits for its end: a slow connection may stall."""
STRING_TIMEOUT_S: Final = 1.0
INTRODUCER_TIMEOUT_S: Final = 0.5
"""How long the first two bytes of a sequence wait; alone they are a rare key, such as Alt+[."""

_PASTE_START: Final = "\x1b[200~"
_PASTE_END: Final = "\x1b[201~"
_STRING_BODIES: Final = {"]": "0123456789lL", "P": "0123456789>!", "_": "G"}
"""First characters of replies, by introducer. Anything else was typed after Alt and this key."""
_PASTE_CONTROLS: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_PARSER_LIMIT: Final = 32
"""Textual's parser gives up on longer sequences and types them out."""
_CODE_POINT_LIMIT: Final = 0x10FFFF

_CSI: Final = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
_CSI_BEGINNING: Final = re.compile(r"\x1b\[[0-?]*[ -/]*\Z")
_MOUSE: Final = re.compile(r"\x1b\[<?[-\d;]+[mM]")
_EXTENDED_KEY: Final = re.compile(r"\x1b\[([\d:;]*)([u~ABCDEFHPQRS])")
_OTHER_KEY: Final = re.compile(r"\x1b\[27;(\d+);(\d+)~")
_MODE_REPORT: Final = re.compile(r"\x1b\[\?(2026|2048);\d\$y")
_RESIZE: Final = re.compile(r"\x1b\[48(;\d+(:\d+)*){4}t")
_CURSOR_REPORT: Final = re.compile(r"\x1b\[(\d+);(\d+)R")
_RELEASE: Final = "3"


class ForParser(Struct, frozen=True):
    """Complete sequences and text that Textual's parser reads correctly."""

    text: str


class TypedKey(Struct, frozen=True):
    """A key that the parser would misread; `key` is Textual's name for it."""

    key: str
    character: str | None = None


class PastedText(Struct, frozen=True):
    """A whole paste, or one typed cluster of several code points; newlines are "\\n"."""

    text: str


class Reply(Struct, frozen=True):
    """A report of the terminal, or an unknown sequence; never input."""

    text: str


InputItem = ForParser | TypedKey | PastedText | Reply


class ByteFilter:
    """Splits the input of one terminal into items."""

    def __init__(self) -> None:
        self._pending = ""
        """An incomplete sequence, from its ESC on; or what may be the start of the sequence that
        ends a paste."""
        self._paste: list[str] | None = None

    @property
    def timeout_s(self) -> float | None:
        """How long to wait for more before calling `expire`; None when nothing is incomplete."""
        if self._paste is not None:
            return PASTE_TIMEOUT_S
        if not self._pending:
            return None
        if len(self._pending) <= 2:
            return ESCAPE_DELAY if self._pending == "\x1b" else INTRODUCER_TIMEOUT_S
        return STRING_TIMEOUT_S

    @property
    def holds_escape(self) -> bool:
        """Whether the pending input is a single ESC."""
        return self._paste is None and self._pending == "\x1b"

    def feed(self, text: str) -> list[InputItem]:
        """Return the items that the next piece of input completes."""
        items: list[InputItem] = []
        text = self._pending + text
        self._pending = ""
        position = 0
        while position < len(text):
            if self._paste is not None:
                position = self._read_paste(text, position, items)
            elif text[position] == "\x1b":
                position = self._read_escape(text, position, items)
            else:
                end = text.find("\x1b", position)
                end = len(text) if end < 0 else end
                items.extend(_typed_text(text[position:end]))
                position = end
        return items

    def expire(self) -> list[InputItem]:
        """Return the items for the incomplete input, now that nothing has followed."""
        pending, self._pending = self._pending, ""
        if self._paste is not None:
            self._paste.append(pending)
            return [self._end_paste()]
        match pending:
            case "":
                return []
            case "\x1b":
                return [TypedKey("escape", "\x1b")]
            case _ if len(pending) == 2:
                return [_alt_key(pending[1])]
            case _:
                return [Reply(pending)]

    def _read_paste(self, text: str, position: int, items: list[InputItem]) -> int:
        assert self._paste is not None
        end = text.find(_PASTE_END, position)
        if end >= 0:
            self._paste.append(text[position:end])
            items.append(self._end_paste())
            return end + len(_PASTE_END)
        end = len(text)
        for length in range(len(_PASTE_END) - 1, 0, -1):
            if text.endswith(_PASTE_END[:length], position):
                end -= length
                break
        self._paste.append(text[position:end])
        self._pending = text[end:]
        return len(text)

    def _end_paste(self) -> PastedText:
        text = "".join(self._paste or ())
        self._paste = None
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        return PastedText(_PASTE_CONTROLS.sub("", text))

    def _read_escape(self, text: str, position: int, items: list[InputItem]) -> int:
        """Read one sequence that begins at an ESC; return the position after it."""
        kind = text[position + 1 : position + 2]
        if not kind:
            self._pending = text[position:]
            return len(text)
        if kind == "[":
            return self._read_control_sequence(text, position, items)
        if kind in _STRING_BODIES:
            return self._read_string(text, position, items)
        if kind == "O":
            return self._read_single_shift(text, position, items)
        sequence = text[position : position + 2]
        if kind in "\r\n":
            items.append(TypedKey("alt+enter"))
        elif sequence in ANSI_SEQUENCES_KEYS and kind != "\x1b":
            items.append(ForParser(sequence))
        elif kind.isprintable():
            items.append(_alt_key(kind))
        else:
            items.append(TypedKey("escape", "\x1b"))
            return position + 1
        return position + 2

    def _read_control_sequence(self, text: str, position: int, items: list[InputItem]) -> int:
        if text.startswith("\x1b[[", position):
            return self._read_fixed(text, position, 4, items)
        if text.startswith("\x1b[M", position):
            # Old mouse reports contain three arbitrary bytes; we never request them.
            return self._read_fixed(text, position, 6, items)
        match = _CSI.match(text, position)
        if match is not None:
            if match.group() == _PASTE_START:
                self._paste = []
            else:
                items.extend(_control_sequence(match.group()))
            return match.end()
        if _CSI_BEGINNING.match(text, position) and len(text) - position <= SEQUENCE_LIMIT:
            self._pending = text[position:]
            return len(text)
        items.append(_alt_key("["))
        return position + 2

    def _read_fixed(self, text: str, position: int, length: int, items: list[InputItem]) -> int:
        sequence = text[position : position + length]
        if len(sequence) < length:
            self._pending = sequence
            return len(text)
        is_ansi_key = sequence in ANSI_SEQUENCES_KEYS
        items.append(ForParser(sequence) if is_ansi_key else Reply(sequence))
        return position + length

    def _read_single_shift(self, text: str, position: int, items: list[InputItem]) -> int:
        sequence = text[position : position + 3]
        if len(sequence) < 3:
            self._pending = sequence
            return len(text)
        if sequence in ANSI_SEQUENCES_KEYS:
            items.append(ForParser(sequence))
            return position + 3
        items.append(_alt_key("O"))
        return position + 2

    def _read_string(self, text: str, position: int, items: list[InputItem]) -> int:
        start = position + 2
        kind, first = text[position + 1], text[start : start + 1]
        if first and first not in _STRING_BODIES[kind]:
            items.append(_alt_key(kind))
            return start
        ends = [(text.find("\x1b\\", start), 2), (text.find("\x07", start), 1)]
        terminator = min(((end, size) for end, size in ends if end >= 0), default=None)
        if terminator is not None:
            end = terminator[0] + terminator[1]
            items.append(Reply(text[position:end]))
            return end
        if len(text) - position > STRING_LIMIT:
            items.append(Reply(text[position:]))
        else:
            self._pending = text[position:]
        return len(text)


def _typed_text(text: str) -> Iterator[InputItem]:
    """Yield typed text; very long text is a paste in a terminal without bracketed paste."""
    if _is_many_lines(text):
        yield PastedText(text.replace("\r\n", "\n").replace("\r", "\n"))
        return
    position = 0
    for flood in _FLOOD.finditer(text):
        yield from _keys(text[position : flood.start()])
        yield PastedText(flood.group())
        position = flood.end()
    yield from _keys(text[position:])


def _keys(text: str) -> Iterator[InputItem]:
    """Yield typed text; clusters of several code points go as text, not as broken keys."""
    if not text:
        return
    if text.isascii():
        yield ForParser(text)
        return
    from wcwidth import iter_graphemes  # late: its tables take 17 ms to load

    single: list[str] = []
    for grapheme in iter_graphemes(text):
        if len(grapheme) == 1 or grapheme.isascii():
            single.append(grapheme)
            continue
        if single:
            yield ForParser("".join(single))
            single = []
        yield PastedText(grapheme)
    if single:
        yield ForParser("".join(single))


_FLOOD: Final = re.compile(r"[^\x00-\x09\x0b-\x1f\x7f]{512,}")
"""More text, line feeds included, than a user types within one read. It excludes the carriage
return, which still submits."""
_LINES: Final = 5
_LINES_CHARS: Final = 128
"""At least `_LINES` lines that are not blank, in at least this much text within one read, are a
paste, not typed prompts."""


def _is_many_lines(text: str) -> bool:
    """Return whether the text is a paste of lines, each of which would be sent as a prompt."""
    if len(text) < _LINES_CHARS or _PASTE_CONTROLS.search(text.replace("\r", "")):
        return False
    return sum(map(bool, map(str.strip, text.split("\r")[:-1]))) >= _LINES


def _alt_key(character: str) -> TypedKey:
    name = _character_to_key(character)
    if len(name) == 1 and name.isupper():
        name = f"shift+{name.lower()}"
    return TypedKey(f"alt+{name}")


def _control_sequence(sequence: str) -> Iterator[InputItem]:
    """Yield what a complete control sequence means."""
    if sequence in (_PASTE_END, "\x1b[I", "\x1b[O"):
        if sequence != _PASTE_END:
            yield ForParser(sequence)
    elif match := _OTHER_KEY.fullmatch(sequence):
        yield from _other_key(int(match[1]), int(match[2]))
    elif match := _CURSOR_REPORT.fullmatch(sequence):
        yield _function_key_3(int(match[1]), int(match[2]), sequence)
    elif match := _EXTENDED_KEY.fullmatch(sequence):
        yield from _extended_key(match[1], match[2], sequence)
    elif (
        sequence in ANSI_SEQUENCES_KEYS
        or _MOUSE.fullmatch(sequence)
        or _MODE_REPORT.fullmatch(sequence)
        or _RESIZE.fullmatch(sequence)
    ) and len(sequence) <= _PARSER_LIMIT:
        yield ForParser(sequence)
    else:
        yield Reply(sequence)


def _other_key(modifiers: int, code_point: int) -> Iterator[InputItem]:
    """Yield a key of xterm's modifyOtherKeys, in the kitty form that the parser knows."""
    if not _is_character(code_point):
        return
    character = chr(code_point)
    if modifiers == 2 and character.isprintable() and character != " ":
        yield ForParser(character)
    else:
        yield ForParser(f"\x1b[{code_point};{modifiers}u")


def _function_key_3(row: int, column: int, sequence: str) -> InputItem:
    """Distinguish F3 with modifiers from a cursor report, which has the same form."""
    if row != 1 or not 2 <= column <= 8:
        return Reply(sequence)
    bits = column - 1
    names = [name for bit, name in ((2, "alt"), (4, "ctrl"), (1, "shift")) if bits & bit]
    return TypedKey("+".join([*names, "f3"]))


def _extended_key(fields: str, final: str, sequence: str) -> Iterator[InputItem]:
    """Yield a key of the kitty protocol without the sub-parameters that break the parser."""
    codes, modifiers, text, *_ = [*fields.split(";"), "", "", ""]
    modifier, _, event_type = modifiers.partition(":")
    if event_type.partition(":")[0] == _RELEASE:
        return
    code = codes.partition(":")[0]
    code_points = [int(point) for point in text.split(":") if point]
    if any(point > _CODE_POINT_LIMIT for point in (int(code or 0), int(modifier or 0))):
        return
    if not all(map(_is_character, code_points)):
        return
    if len(code_points) > 1:
        yield PastedText("".join(map(chr, code_points)))
        return
    if not (modifiers or text or ":" in codes):
        if len(sequence) <= _PARSER_LIMIT:
            yield ForParser(sequence)
        return
    text_part = f";{code_points[0]}" if code_points else ""
    yield ForParser(f"\x1b[{code};{modifier}{text_part}{final}")


def _is_character(code_point: int) -> bool:
    return 0 < code_point <= _CODE_POINT_LIMIT and not 0xD800 <= code_point <= 0xDFFF
