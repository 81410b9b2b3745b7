r"""How a path is written after `@`: as it is, or in quotes with escapes for special characters.

In quotes `\"`, `\\`, `\n`, `\t` have their usual meaning, and `\xNN` is a control character or a
byte that is not UTF-8. Pure.
"""

from __future__ import annotations

import re
from typing import Final

from permissions.base.text.late_pattern import compile_late

_PLAIN: Final = compile_late(r"[^\s\"@\\#'`,;]*[^\s\"@\\#'`.,;:!?)\]}>*”’]")
_ESCAPED: Final = compile_late(r"\\(x[0-9a-fA-F]{2}|.)", re.DOTALL)
_LETTERS: Final = {"n": "\n", "t": "\t", "r": "\r"}
_ESCAPES: Final = {char: f"\\{letter}" for letter, char in _LETTERS.items()} | {
    '"': '\\"',
    "\\": "\\\\",
}
_FIRST_BYTE: Final = 0xDC00
"""Offset of the surrogates by which Python represents bytes of a file name that are not UTF-8."""


def mention_of(path: str, *, is_open: bool = False) -> str:
    """Return `@path`; with `is_open` quotes stay open, for a folder whose content is typed next."""
    if path.isprintable() and _PLAIN.fullmatch(path):
        return "@" + path
    return f'@"{"".join(map(_escape_char, path))}' + ("" if is_open else '"')


def unquote(text: str) -> str:
    """Return the path of a quoted mention, with its escapes resolved."""
    return _ESCAPED.sub(_character, text)


def _escape_char(char: str) -> str:
    escape = _ESCAPES.get(char)
    if escape is not None:
        return escape
    code = ord(char)
    if _FIRST_BYTE <= code < _FIRST_BYTE + 0x100:
        return f"\\x{code - _FIRST_BYTE:02x}"
    return f"\\x{code:02x}" if code < 0x20 or code == 0x7F else char


def _character(match: re.Match[str]) -> str:
    escape = match[1]
    if len(escape) == 1:
        return _LETTERS.get(escape, escape)
    code = int(escape[1:], 16)
    return chr(code) if code < 0x80 else chr(_FIRST_BYTE + code)
