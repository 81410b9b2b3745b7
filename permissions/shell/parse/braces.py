"""Brace expansion as in the shell: lists and ranges, before all other expansions.

Those are tildes, and variables whose names the braces may continue.
"""

from __future__ import annotations

from itertools import product

from msgspec.structs import replace

from permissions.base.text.late_pattern import compile_late
from permissions.base.text.star_pattern import UNKNOWN
from permissions.shell.syntax import Unparsable, Word

MAX_BRACE_WORDS = 64
"""Maximum number of words from one brace expansion; with more, the command is unparsable."""

MAX_ALL_BRACE_WORDS = 1_000
"""Maximum number of words from all brace expansions of one command."""

OPEN, CLOSE, COMMA = "\ue010", "\ue011", "\ue012"
"""Unquoted brace characters while a word is being read."""
BRACES = {"{": OPEN, "}": CLOSE, ",": COMMA}
TILDE = "\ue013"
"""An unquoted tilde that a brace expansion may bring to the start of a word."""
NAME_END = "\ue014"
"""The end of an unquoted `$NAME`: a brace expansion may continue the name."""
UNBRACE = str.maketrans({OPEN: "{", CLOSE: "}", COMMA: ",", TILDE: "~", NAME_END: ""})

_RANGE = compile_late(r"(-?\d{1,6}|[A-Za-z])\.\.(-?\d{1,6}|[A-Za-z])")
_NESTED_BRACES = compile_late(r"\$\{[^}]*\{")
_CONTINUED_NAME = compile_late(f"{NAME_END}[{OPEN}{COMMA}{CLOSE}]")
_TILDE_PREFIX = compile_late(f"((?:^|[=:]){NAME_END}*){TILDE}[^/]*")


_SOME = "\ue015"
"""Any number of unknown words, while a word is being read."""


def expand_word(word: Word) -> list[Word]:
    """Return the words that a word with marks of this module expands to, without the marks.

    Raises:
        Unparsable: There are more than `MAX_BRACE_WORDS`, or quotes decide about its braces.
    """
    if word.text.count(OPEN) > MAX_BRACE_WORDS:
        raise Unparsable("a brace expansion gives too many words")
    is_quoted = any(mark in word.raw for mark in "'\"\\")
    braces = _Braces(is_quoted=is_quoted)
    texts = braces.expand(word.text) if OPEN in word.text else [word.text]
    if texts == [word.text]:
        return [replace(word, text=word.text.translate(UNBRACE))]
    if _NESTED_BRACES.search(word.raw):
        raise Unparsable("braces in a variable's expansion beside a brace expansion")
    if _CONTINUED_NAME.search(word.text):
        # `$A{b,c}` is `$Ab $Ac`.
        return [replace(word, text=UNKNOWN, splits=True)]
    words: list[Word] = []
    for text in texts:
        splits = word.splits or _SOME in text
        # A tilde is expanded after the braces, and only in front of an unquoted slash.
        plain = _TILDE_PREFIX.sub(rf"\1{UNKNOWN}", text).replace(_SOME, UNKNOWN)
        plain = plain.translate(UNBRACE)
        if plain or splits:
            words.append(replace(word, text=plain, splits=splits))
        elif is_quoted:
            # Whether an empty word is removed depends on where the quotes are.
            words.append(replace(word, text=UNKNOWN, splits=True))
    return words


class _Braces:
    """Expands the braces of one word as bash does, with its rules for what is not closed."""

    def __init__(self, *, is_quoted: bool) -> None:
        """`is_quoted`: whether parts of the word are quoted, which its text no longer shows."""
        self._is_quoted = is_quoted

    def expand(self, text: str) -> list[str]:
        """Return the words for a text; braces that expand to nothing else are kept."""
        start = self._open(text)
        while start is not None:
            end = self._end(text, start + 1, CLOSE)
            if end is not None:
                return self._expand_at(text, start, end)
            start = self._open(text, start + 1)
        return [text]

    def _expand_at(self, text: str, start: int, end: int) -> list[str]:
        body, rest = text[start + 1 : end], text[end + 1 :]
        if COMMA in body:
            middles = [word for part in self._parts(body) for word in self.expand(part)]
        else:
            in_range = _brace_range(body)
            middles = [text[start : end + 1]] if in_range is None else in_range
        endings = self.expand(rest)
        if len(middles) * len(endings) > MAX_BRACE_WORDS:
            raise Unparsable("a brace expansion gives too many words")
        return [text[:start] + middle + ending for middle, ending in product(middles, endings)]

    def _open(self, text: str, start: int = 0) -> int | None:
        start = text.find(OPEN, start)
        if start == 0 and text[1:2] in ("", CLOSE):
            self._require_plain()
            return self._open(text, 1)
        return None if start < 0 else start

    def _parts(self, body: str) -> list[str]:
        parts, start = [], 0
        while (end := self._end(body, start, COMMA)) is not None:
            parts.append(body[start:end])
            start = end + 1
        return [*parts, body[start:]]

    def _end(self, text: str, start: int, ending: str) -> int | None:
        """Return the position of a closing brace or a comma; a brace that closes has a comma or
        two dots before it."""
        depth, is_list = 0, ending != CLOSE
        for position in range(start, len(text)):
            mark = text[position]
            if mark == ending and not depth and is_list:
                return position
            if mark == OPEN:
                depth += 1
            elif mark == CLOSE:
                depth = max(depth - 1, 0)
            elif depth or ending != CLOSE:
                continue
            elif mark == COMMA:
                is_list = True
            elif text.startswith("..", position) and text[position + 2 : position + 3] != CLOSE:
                self._require_plain()
                is_list = True
        return None

    def _require_plain(self) -> None:
        if self._is_quoted:
            raise Unparsable("quotes decide about a brace expansion")


def _brace_range(body: str) -> list[str] | None:
    """Return the words of a range, or None if it certainly is none."""
    if ".." not in body:
        return None
    match = _RANGE.fullmatch(body)
    if match is None:
        # A range with a step, or perhaps none.
        return [_SOME]
    first, last = match[1], match[2]
    if first.lstrip("-").isdigit() and last.lstrip("-").isdigit():
        low, high = int(first), int(last)
        has_zeros = first.lstrip("-").startswith("0") or last.lstrip("-").startswith("0")
        if has_zeros or abs(high - low) >= MAX_BRACE_WORDS:
            return [_SOME]
        return [str(number) for number in _number_range(low, high)]
    # Between the cases there are quotes and a backslash.
    if (first + last).isalpha() and first.islower() == last.islower():
        return [chr(number) for number in _number_range(ord(first), ord(last))]
    return [_SOME]


def _number_range(first: int, last: int) -> range:
    """Return the numbers from first to last, both included, up or down."""
    step = 1 if first <= last else -1
    return range(first, last + step, step)
