"""A JSON parser that reports the line of every value and keeps what precedes a syntax error.

The standard parser does neither. Lines are needed to report where a rule comes from and what is
wrong with a file.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from msgspec import Struct, field

from permissions.base.text.late_pattern import compile_late

JsonValue = None | bool | int | float | str | list["JsonValue"] | dict[str, "JsonValue"]

MAX_DEPTH: Final = 100
"""Deeper nesting is rejected: no settings file needs it."""

_SPACE = compile_late(r"[ \t\r\n]*")
_NUMBER = compile_late(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_STRING = compile_late(r'"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*"')
_WORDS: Final[dict[str, bool | None]] = {"true": True, "false": False, "null": None}


class JsonNode(Struct, frozen=True):
    """One value with the line it starts on; `members` and `items` contain its parts."""

    value: JsonValue
    line: int
    """Counted from 1; for a member of an object, the line of its key."""
    members: dict[str, JsonNode] = field(default_factory=dict)
    items: tuple[JsonNode, ...] = ()

    def get(self, *path: str | int) -> JsonNode | None:
        """Return the node at a path of keys and indexes, or None."""
        node: JsonNode | None = self
        for step in path:
            if node is None:
                return None
            if isinstance(step, int):
                node = node.items[step] if 0 <= step < len(node.items) else None
            else:
                node = node.members.get(step)
        return node

    def line_of(self, *path: str | int) -> int:
        """Return the line of the deepest part of a path that exists."""
        node = self
        for step in path:
            part = node.get(step)
            if part is None:
                break
            node = part
        return node.line


class JsonMistake(Struct, frozen=True):
    """Something wrong with the text, for users."""

    line: int
    message: str


class ParsedJson(Struct, frozen=True):
    """The result of parsing: `root` is None if the text contains no value."""

    root: JsonNode | None
    error: JsonMistake | None = None
    """The syntax error that ended parsing; what precedes it is in `root`."""
    notes: tuple[JsonMistake, ...] = ()
    """Valid but doubtful: repeated keys."""


def parse(text: str) -> ParsedJson:
    """Parse a JSON text. Raises nothing; a syntax error is returned with its line."""
    scanner = _Scanner(text.removeprefix("\ufeff"))
    root = scanner.document()
    return ParsedJson(root, scanner.error, tuple(scanner.notes))


def parse_at(text: str, start: int, line: int) -> ParsedJson:
    """Parse the value that begins at `start`, which is on line `line`. Raises nothing."""
    scanner = _Scanner(text, start, line)
    root = scanner.value()
    return ParsedJson(root, scanner.error, tuple(scanner.notes))


class _Stop(Exception):
    """Ends parsing; each open container keeps what it has so far."""


class _Scanner:
    def __init__(self, text: str, start: int = 0, line: int = 1) -> None:
        self._text = text
        self._position = start
        self._line = line
        self._counted_to = start
        self.error: JsonMistake | None = None
        self.notes: list[JsonMistake] = []

    def document(self) -> JsonNode | None:
        try:
            self._skip_space()
            root = self._value(0)
        except _Stop:
            return None
        if self.error is None:
            self._skip_space()
            if self._position < len(self._text):
                self._record(f"expected the end of the file, found {self._next_char()}")
        return root

    def value(self) -> JsonNode | None:
        try:
            return self._value(0)
        except _Stop:
            return None

    def _value(self, depth: int) -> JsonNode:
        if depth > MAX_DEPTH:
            raise self._fail(f"nested deeper than {MAX_DEPTH} levels")
        line = self._current_line()
        character = self._peek()
        if character == "{":
            return self._object(depth, line)
        if character == "[":
            return self._array(depth, line)
        if character == '"':
            return JsonNode(self._string(), line)
        for word, value in _WORDS.items():
            if self._text.startswith(word, self._position):
                self._position += len(word)
                return JsonNode(value, line)
        number = _NUMBER.match(self._text, self._position)
        if number:
            self._position = number.end()
            is_float = number[1] is not None or number[2] is not None
            try:
                return JsonNode(float(number[0]) if is_float else int(number[0]), line)
            except ValueError:
                raise self._fail("number with too many digits") from None
        raise self._fail(f"expected a value, found {self._next_char()}")

    def _object(self, depth: int, line: int) -> JsonNode:
        node = JsonNode({}, line)
        try:
            for _ in self._parts("}"):
                self._member(node, depth)
        except _Stop:
            pass
        value = {key: member.value for key, member in node.members.items()}
        return JsonNode(value, line, node.members)

    def _member(self, node: JsonNode, depth: int) -> None:
        line = self._current_line()
        if self._peek() != '"':
            raise self._fail(f"expected a key in double quotes, found {self._next_char()}")
        key = self._string()
        self._skip_space()
        if self._peek() != ":":
            raise self._fail(f'expected ":" after "{key}", found {self._next_char()}')
        self._position += 1
        self._skip_space()
        part = self._value(depth + 1)
        earlier = node.members.get(key)
        if earlier is not None:
            self.notes.append(
                JsonMistake(line, f'key "{key}" appears twice (first on line {earlier.line})')
            )
        node.members[key] = join_nodes(
            earlier, JsonNode(part.value, line, part.members, part.items)
        )
        if self.error is not None:
            raise _Stop

    def _array(self, depth: int, line: int) -> JsonNode:
        items: list[JsonNode] = []
        try:
            for _ in self._parts("]"):
                items.append(self._value(depth + 1))
                if self.error is not None:
                    break
        except _Stop:
            pass
        return JsonNode([item.value for item in items], line, items=tuple(items))

    def _parts(self, end: str) -> Iterator[None]:
        """Step over the brackets and commas of a container, yielding at the start of each part."""
        self._position += 1
        self._skip_space()
        if self._peek() == end:
            self._position += 1
            return
        while True:
            yield
            self._skip_space()
            character = self._peek()
            if character == end:
                self._position += 1
                return
            if character != ",":
                raise self._fail(f'expected "," or "{end}", found {self._next_char()}')
            self._position += 1
            self._skip_space()
            if self._peek() == end:
                raise self._fail(f'comma before "{end}": JSON allows none there')

    def _string(self) -> str:
        match = _STRING.match(self._text, self._position)
        if match is None:
            raise self._fail(
                "text without a closing quote, or with a bad escape or control character"
            )
        self._position = match.end()
        value = json.loads(match[0])
        return value if isinstance(value, str) else ""

    def _peek(self) -> str:
        return self._text[self._position] if self._position < len(self._text) else ""

    def _skip_space(self) -> None:
        match = _SPACE.match(self._text, self._position)
        if match:
            self._position = match.end()

    def _current_line(self) -> int:
        self._line += self._text.count("\n", self._counted_to, self._position)
        self._counted_to = self._position
        return self._line

    def _next_char(self) -> str:
        if self._position >= len(self._text):
            return "the end of the file"
        if self._text.startswith(("//", "/*", "#"), self._position):
            return "a comment (JSON has none)"
        return repr(self._text[self._position])

    def _record(self, message: str) -> None:
        if self.error is None:
            self.error = JsonMistake(self._current_line(), message)

    def _fail(self, message: str) -> _Stop:
        self._record(message)
        return _Stop()


def join_nodes(earlier: JsonNode | None, later: JsonNode) -> JsonNode:
    """Return the node for a repeated key.

    Lists and objects are joined, so that a second `deny` list does not silently replace the first;
    of other values the last one applies, as in other JSON parsers.
    """
    if earlier is None:
        return later
    if isinstance(earlier.value, list) and isinstance(later.value, list):
        return JsonNode(
            [*earlier.value, *later.value], later.line, items=earlier.items + later.items
        )
    if isinstance(earlier.value, dict) and isinstance(later.value, dict):
        members = dict(earlier.members)
        for key, part in later.members.items():
            members[key] = join_nodes(members.get(key), part)
        value = {key: member.value for key, member in members.items()}
        return JsonNode(value, later.line, members)
    return later
