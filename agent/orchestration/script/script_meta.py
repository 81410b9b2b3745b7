"""The head of a workflow script: `export const meta = {…}`, read as a literal.

Nothing is evaluated: identifiers, expressions and calls in it are errors, as in other programs
with this format.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec import Struct

from permissions.base.text.late_pattern import compile_late
from permissions.base.text.strict_json import without_surrogates

MAX_NESTING: Final = 20
MAX_DIGITS: Final = 300
MAX_NAME: Final = 80
MAX_PHASES: Final = 50
_SPACE: Final = compile_late(r"(?:\s|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_HEAD: Final = compile_late(r"export\s+const\s+meta\s*=\s*")
_NAME: Final = compile_late(r"[A-Za-z_$][\w$]*")
_NUMBER: Final = compile_late(r"-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_NOT_NAMED: Final = compile_late(r"[^\w .:/+,'!?#-]+")
"""Characters not allowed in a name, which appears in rules, commands and messages to the model."""
_WORDS: Final = {"true": True, "false": False, "null": None}
_ESCAPES: Final = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "b": "\b",
    "f": "\f",
    "v": "\v",
    "0": "\0",
    "\n": "",
}


class ScriptError(Exception):
    """A script is invalid or failed; the text has the reason and, if known, the line."""


class WorkflowPhase(Struct, frozen=True):
    """A phase that a script announces."""

    title: str
    detail: str = ""
    model: str = ""


class ScriptMeta(Struct, frozen=True):
    """The metadata of a script."""

    name: str
    description: str
    phases: tuple[WorkflowPhase, ...] = ()
    when_to_use: str = ""


class WorkflowScript(Struct, frozen=True):
    """A script: its metadata, and the text to run."""

    meta: ScriptMeta
    text: str
    """The whole source."""
    body: str
    """The source without the head, with line numbers preserved."""


def read_script(text: str) -> WorkflowScript:
    """Parse a script.

    Raises:
        ScriptError: its first statement is not a literal `meta` with a name and a description.
    """
    text = without_surrogates(text)
    begin = _match(_SPACE, text, 0)
    head = _HEAD.match(text, begin)
    if head is None:
        raise ScriptError("the first statement must be: export const meta = { name, description }")
    reader = _LiteralReader(text, head.end())
    values = reader.value()
    end = reader.position
    if text[end : end + 1] == ";":
        end += 1
    lines = "\n" * text.count("\n", 0, end)
    return WorkflowScript(_meta(values), text, lines + text[end:])


def _meta(values: object) -> ScriptMeta:
    if not isinstance(values, Mapping):
        raise ScriptError("meta must be an object")
    for field in ("name", "description"):
        if not isinstance(values.get(field), str) or not values[field].strip():
            raise ScriptError(f"meta.{field} must be a string")
    phases = values.get("phases") or ()
    if not isinstance(phases, list | tuple):
        raise ScriptError("meta.phases must be a list")
    name = _NOT_NAMED.sub("-", values["name"].strip())[:MAX_NAME]
    return ScriptMeta(
        name,
        values["description"],
        tuple(_phase(one) for one in phases[:MAX_PHASES]),
        _text(values, "whenToUse"),
    )


def _phase(value: object) -> WorkflowPhase:
    if isinstance(value, str):
        return WorkflowPhase(value)
    if not isinstance(value, Mapping) or not isinstance(value.get("title"), str):
        raise ScriptError("each of meta.phases must be an object with a title")
    return WorkflowPhase(value["title"], _text(value, "detail"), _text(value, "model"))


def _text(values: Mapping[str, object], field: str) -> str:
    value = values.get(field)
    return value if isinstance(value, str) else ""


class _LiteralReader:
    """Parses one JavaScript literal: objects, arrays, strings, numbers, true, false and null."""

    def __init__(self, text: str, position: int) -> None:
        self.position = position
        self._text = text
        self._depth = 0

    def value(self) -> Any:
        """Parse the value at the position. Raises ScriptError."""
        self._skip_space()
        next_character = self._text[self.position : self.position + 1]
        match next_character:
            case "{":
                return self._read_nested(self._object)
            case "[":
                return self._read_nested(self._list)
            case "'" | '"' | "`":
                return self._string(next_character)
        if number := _NUMBER.match(self._text, self.position):
            if len(number[0]) > MAX_DIGITS:
                raise self._error("a number is too long")
            self.position = number.end()
            return float(number[0]) if set(number[0]) & set(".eE") else int(number[0])
        if (word := _NAME.match(self._text, self.position)) and word[0] in _WORDS:
            self.position = word.end()
            return _WORDS[word[0]]
        raise self._error("only literal values may stand in meta")

    def _read_nested(self, read: Callable[[], object]) -> object:
        self._depth += 1
        if self._depth > MAX_NESTING:
            raise self._error("meta nests too deeply")
        self.position += 1
        result = read()
        self._depth -= 1
        return result

    def _object(self) -> dict[str, object]:
        result: dict[str, object] = {}
        while not self._take("}"):
            key = self._key()
            self._expect(":")
            result[key] = self.value()
            if not self._take(","):
                self._expect("}")
                break
        return result

    def _list(self) -> list[object]:
        result: list[object] = []
        while not self._take("]"):
            result.append(self.value())
            if not self._take(","):
                self._expect("]")
                break
        return result

    def _key(self) -> str:
        self._skip_space()
        if name := _NAME.match(self._text, self.position):
            self.position = name.end()
            return name[0]
        quote = self._text[self.position : self.position + 1]
        if quote in ("'", '"') and quote:
            return self._string(quote)
        raise self._error("a name was expected")

    def _string(self, quote: str) -> str:
        parts: list[str] = []
        self.position += 1
        while True:
            character = self._text[self.position : self.position + 1]
            if not character or (character == "\n" and quote != "`"):
                raise self._error("a string is not closed")
            self.position += 1
            if character == quote:
                return "".join(parts)
            if quote == "`" and character == "$" and self._text.startswith("{", self.position):
                raise self._error("meta may not contain ${…}")
            parts.append(self._escape() if character == "\\" else character)

    def _escape(self) -> str:
        character = self._text[self.position : self.position + 1]
        self.position += 1
        if character in ("u", "x"):
            with_braces = re.compile(r"\{([0-9a-fA-F]{1,6})\}").match(self._text, self.position)
            length = 4 if character == "u" else 2
            plain = re.compile(rf"([0-9a-fA-F]{{{length}}})").match(self._text, self.position)
            match = (with_braces if character == "u" else None) or plain
            if match is None or int(match[1], 16) > 0x10FFFF:
                raise self._error("an escape in a string cannot be read")
            self.position = match.end()
            return chr(int(match[1], 16))
        return _ESCAPES.get(character, character)

    def _take(self, character: str) -> bool:
        self._skip_space()
        is_there = self._text.startswith(character, self.position)
        self.position += is_there
        return is_there

    def _expect(self, character: str) -> None:
        if not self._take(character):
            raise self._error(f"{character} was expected")

    def _skip_space(self) -> None:
        self.position = _match(_SPACE, self._text, self.position)

    def _error(self, reason: str) -> ScriptError:
        line = self._text.count("\n", 0, self.position) + 1
        return ScriptError(f"line {line}: {reason}")


def _match(pattern: re.Pattern[str], text: str, position: int) -> int:
    match = pattern.match(text, position)
    return match.end() if match is not None else position
