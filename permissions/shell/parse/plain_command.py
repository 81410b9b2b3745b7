"""Simple commands that can be read in one way only, read from their text.

Words with a blank between each two; in them letters, digits and signs that mean nothing to the
shell, and quotes around text in which nothing expands. Where the tree says that a stretch of text
is one command and the text is of this kind, nothing below its node has to be looked at: what the
lexer saw in it is compared with the quotes found here instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from permissions.shell.syntax import Word

_SIGN = r"[A-Za-z0-9_./:@%+-]"
_QUOTED = r"""'[^']*+'|"[^"\\$`]*+\""""
# `A=b` in front of a program, and `{a,b}`, `~`, `*`, `#` and `!` anywhere, are left to the tree.
_FIRST = rf"(?:{_SIGN}|{_QUOTED})(?:{_SIGN}++|{_QUOTED})*+"
_OTHER = rf"(?:-(?:[=A-Za-z0-9_./:@%+-]++|{_QUOTED})*+|(?!-){_FIRST})"
_COMMAND = re.compile(rf"{_FIRST}(?: {_OTHER})*+".encode())
_WORD = re.compile(rf"(?:[^ '\"]++|{_QUOTED})++")
_SINGLE = re.compile(rb"""'[^']*+'|"[^"]*+\"""")
_PIECE = re.compile(r"""'([^']*+)'|"([^"]*+)"|([^'"]++)""")


def is_plain(source: bytes, start: int, end: int) -> bool:
    """Is the text from `start` to `end` (offsets in `source`, UTF-8) of this kind?"""
    return _COMMAND.fullmatch(source, start, end) is not None


def single_quotes(source: bytes, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the spans of the single-quoted strings in a text of this kind, quotes included."""
    if source.find(b"'", start, end) >= 0:
        for match in _SINGLE.finditer(source, start, end):
            if source[match.start()] == 0x27:
                yield match.span()


def plain_words(text: str) -> list[Word]:
    """Return the words of a text of this kind."""
    if "'" not in text and '"' not in text:
        return [Word(word, word) for word in text.split(" ")]
    return [Word(raw, _unquoted(raw)) for raw in _WORD.findall(text)]


def _unquoted(raw: str) -> str:
    if "'" not in raw and '"' not in raw:
        return raw
    return "".join([match[match.lastindex or 0] for match in _PIECE.finditer(raw)])
