"""Rewrites a command that the grammar cannot parse as one with the same meaning to the shell.

A here-document becomes a here-string with the same text, or the command after it on its line moves
below it: the grammar loses text after `<<EOF`. The result is parsed and verified like any other
command; only the positions of the document's start and end, from the lexer, are not verified.
"""

from __future__ import annotations

from collections.abc import Sequence

from permissions.base.text.late_pattern import compile_late
from permissions.shell.parse.lexer import Document

_REST = compile_late(rb"(?:[^\n\\`$\"'()#<]|'[^'\n]*'|\"[^\"\\`$\n]*\")*")
"""Text that may follow a document's delimiter on its line: nothing that could extend into the next
line."""
_TIMED_GROUP = compile_late(rb"\s*time(?:[ \t]+-p)?(?=[ \t]+\{[ \t\n])")
_ENDED = compile_late(rb"[ \t]*;(?!;)")
_EXPANDING = compile_late(rb"[$`\\]")


def respell(source: bytes, documents: Sequence[Document]) -> bytes | None:
    """Return an equivalent command; None if nothing in it can be rewritten."""
    time_match = _TIMED_GROUP.match(source)
    movable = all(_is_plain(source, one) for one in documents)
    if not movable or not (documents or time_match):
        return None
    pieces: list[bytes] = []
    position = 0
    if time_match:
        # The grammar treats the brace as an argument; `time` alone runs nothing.
        pieces.append(source[: time_match.end()] + b"\n")
        position = time_match.end()
    for one in documents:
        rest = source[one.delimiter_end : one.body - 1]
        end_match = _ENDED.match(rest)
        if end_match:
            # The next command begins on a line of its own, after the document.
            pieces.append(
                source[position : one.delimiter_end] + b"\n" + source[one.body : one.end_of_line]
            )
            pieces.append(b"\n" + rest[end_match.end() :])
        else:
            pieces.append(source[position : one.start])
            pieces.append(b"<<<" + _quote(_body(source, one)) + rest)
        position = one.end_of_line
    pieces.append(source[position:])
    return b"".join(pieces)


def _is_plain(source: bytes, one: Document) -> bool:
    """Return whether the document's extent is certain and nothing in it is expanded."""
    if one.depth or not (one.is_quoted or _EXPANDING.search(source, one.body, one.end) is None):
        return False
    return _REST.fullmatch(source, one.delimiter_end, one.body - 1) is not None


def _body(source: bytes, one: Document) -> bytes:
    """Return the text without its last line break, which a here-string adds."""
    lines = source[one.body : one.end].split(b"\n")[:-1]
    return b"\n".join(line.lstrip(b"\t") if one.strips_tabs else line for line in lines)


def _quote(text: bytes) -> bytes:
    return b"'" + text.replace(b"'", b"'\\''") + b"'"
