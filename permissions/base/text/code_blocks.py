"""The code in a Markdown text: the content of fenced blocks."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from permissions.base.text.late_pattern import compile_late

_OPENING: Final = compile_late(r"([ \t]*)(?:[-+*] |\d{1,9}[.)] )?[ \t]*(`{3,}(?=[^`]*$)|~{3,})")


class CodeBlock(Struct, frozen=True):
    """One fenced block."""

    language: str
    """The first word after the fence; empty without one."""
    text: str


def code_blocks(text: str) -> list[str]:
    """Return the texts of the fenced blocks in order."""
    return [block.text for block in fenced_blocks(text)]


def fenced_blocks(text: str) -> list[CodeBlock]:
    """Return the fenced blocks in order, each without its fences and the indent of its fence.

    A fence that was never closed ends with the text. Nothing is raised.
    """
    blocks: list[CodeBlock] = []
    lines: list[str] | None = None
    mark = language = ""
    indent = 0
    for line in text.split("\n"):
        if lines is None:
            if opening := _OPENING.match(line):
                lines, mark, indent = [], opening[2], opening.start(2)
                language = next(iter(line[opening.end(2) :].split()), "")
            continue
        bare_line = line.strip()
        if bare_line.startswith(mark) and not bare_line.strip(mark[0]):
            blocks.append(CodeBlock(language, "\n".join(lines)))
            lines = None
        else:
            lead = len(line) - len(line.lstrip(" "))
            lines.append(line[min(indent, lead) :])
    if lines is not None:
        blocks.append(CodeBlock(language, "\n".join(lines)))
    return blocks
