"""Parses a docstring into its description and one text for each argument.

Supports the Google, NumPy and Sphinx styles; any other text is description.
"""

from __future__ import annotations

import inspect
import re
from typing import Final, Literal

from msgspec import Struct, field

from permissions.base.text.late_pattern import compile_late

DocstringStyle = Literal["google", "numpy", "sphinx"]

_SPHINX: Final = compile_late(r":param\s+(?:[^:]*?\s)?\*{0,2}(\w+)\s*:\s*(.*)")
_GOOGLE_ARGUMENT: Final = compile_late(r"\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)")
_NUMPY_ARGUMENT: Final = compile_late(r"\*{0,2}(\w+)\s*(?::.*)?$")
_GOOGLE_SECTION: Final = compile_late(
    r"(Args|Arguments|Params|Parameters|Returns?|Raises|Yields?|Examples?|Attributes|Notes?):\s*$"
)
_ARGUMENT_SECTIONS: Final = frozenset({"Args", "Arguments", "Params", "Parameters"})


class DocstringFields(Struct, frozen=True):
    """The parts of a docstring."""

    description: str | None = None
    arguments: dict[str, str] = field(default_factory=dict)


def read_docstring(text: str | None, style: DocstringStyle | None = None) -> DocstringFields:
    """Return the parts of a docstring; if `style` is None, it is detected."""
    if not text:
        return DocstringFields()
    lines = inspect.cleandoc(text).splitlines()
    match style or _style_of(lines):
        case "sphinx":
            return _sphinx(lines)
        case "numpy":
            return _numpy(lines)
        case _:
            return _google(lines)


def _style_of(lines: list[str]) -> DocstringStyle:
    scores: dict[DocstringStyle, int] = {
        "sphinx": sum(bool(re.match(r":(param|type|return|rtype)\b", line)) for line in lines),
        "numpy": sum(bool(re.fullmatch(r"-{3,}\s*", line)) for line in lines),
        "google": sum(bool(_GOOGLE_SECTION.match(line)) for line in lines),
    }
    return max(scores, key=lambda each: scores[each]) if any(scores.values()) else "google"


def _sphinx(lines: list[str]) -> DocstringFields:
    arguments: dict[str, str] = {}
    description: list[str] = []
    current: str | None = None
    has_fields = False
    for line in lines:
        match = _SPHINX.match(line)
        if match is not None:
            has_fields = True
            current = match[1]
            arguments[current] = match[2]
        elif line.startswith(":"):
            has_fields, current = True, None
        elif current is not None and line.startswith(" "):
            arguments[current] = f"{arguments[current]} {line.strip()}".strip()
        elif not has_fields:
            description.append(line)
    return _fields(description, arguments)


def _google(lines: list[str]) -> DocstringFields:
    arguments: dict[str, str] = {}
    description: list[str] = []
    section: str | None = None
    current: str | None = None
    indent = 0
    for line in lines:
        heading = _GOOGLE_SECTION.match(line)
        if heading is not None:
            section, current, indent = heading[1], None, 0
        elif section is None:
            description.append(line)
        elif line.strip() and not line.startswith(" "):
            section = None
            description.append(line)
        elif section in _ARGUMENT_SECTIONS and line.strip():
            depth = len(line) - len(line.lstrip())
            indent = indent or depth
            match = _GOOGLE_ARGUMENT.match(line.strip())
            if match is not None and depth <= indent:
                current = match[1]
                arguments[current] = match[2]
            elif current is not None:
                arguments[current] = f"{arguments[current]}\n{line.strip()}".strip()
    return _fields(description, arguments)


def _numpy(lines: list[str]) -> DocstringFields:
    arguments: dict[str, str] = {}
    description: list[str] = []
    section: str | None = None
    current: str | None = None
    for index, line in enumerate(lines):
        following = lines[index + 1] if index + 1 < len(lines) else ""
        if re.fullmatch(r"-{3,}\s*", following) and line.strip():
            section, current = line.strip(), None
        elif re.fullmatch(r"-{3,}\s*", line):
            continue
        elif section is None:
            description.append(line)
        elif section == "Parameters" and line.strip():
            match = _NUMPY_ARGUMENT.match(line)
            if match is not None and not line.startswith(" "):
                current = match[1]
                arguments[current] = ""
            elif current is not None:
                arguments[current] = f"{arguments[current]}\n{line.strip()}".strip()
    return _fields(description, arguments)


def _fields(description: list[str], arguments: dict[str, str]) -> DocstringFields:
    whole = "\n".join(description).strip()
    return DocstringFields(whole or None, {name: text for name, text in arguments.items() if text})
