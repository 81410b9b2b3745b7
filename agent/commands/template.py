"""Parse the text of a prompt command into text and shell commands. Pure.

Parsed before arguments are inserted, so that no argument and no output can become a command.
"""

from __future__ import annotations

import re
from typing import Final, TypeAlias

from msgspec import Struct

from permissions.base.text.late_pattern import compile_late

MAX_COMMANDS: Final = 20
"""Commands one template may run; more are left as text."""

_FENCE: Final = compile_late(
    r"^(?P<fence>`{3,}|~{3,})(?P<info>[^\n]*)\n(?P<body>.*?)(?:^(?P=fence)[^\S\n]*$\n?|\Z)",
    re.MULTILINE | re.DOTALL,
)
_INLINE: Final = compile_late(r"(?<![^\s(\[:])!`(?P<command>[^`\n]+)`")


class TextPart(Struct, frozen=True):
    """Text in which `@path` may name files."""

    text: str


class ShellPart(Struct, frozen=True):
    """A shell command that is replaced by its output."""

    command: str


Part: TypeAlias = TextPart | ShellPart


def parse_template(body: str) -> tuple[Part, ...]:
    """Return the parts in order: !`command`, ```` ```! ```` blocks, and the text between.

    Code in ordinary fences is always text.
    """
    parts: list[Part] = []
    end = 0
    for fence in _FENCE.finditer(body):
        _inline(body[end : fence.start()], parts)
        end = fence.end()
        if fence["info"].strip() == "!" and fence["body"].strip():
            _add(parts, ShellPart(fence["body"].strip()), fence[0])
        else:
            _text(parts, fence[0])
    _inline(body[end:], parts)
    return tuple(parts)


def _inline(text: str, parts: list[Part]) -> None:
    end = 0
    for match in _INLINE.finditer(text):
        _text(parts, text[end : match.start()])
        _add(parts, ShellPart(match["command"].strip()), match[0])
        end = match.end()
    _text(parts, text[end:])


def _add(parts: list[Part], part: ShellPart, source: str) -> None:
    count = sum(isinstance(p, ShellPart) for p in parts)
    if part.command and count < MAX_COMMANDS:
        parts.append(part)
    else:
        _text(parts, source)


def _text(parts: list[Part], text: str) -> None:
    if not text:
        return
    last = parts[-1] if parts else None
    if isinstance(last, TextPart):
        parts[-1] = TextPart(last.text + text)
    else:
        parts.append(TextPart(text))
