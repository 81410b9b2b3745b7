"""Checks one entry of `mcpServers`: what is wrong, where, and what is expected."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final, Literal

from msgspec import Struct

from permissions.base.text.late_pattern import compile_late

EntryMistakeKind = Literal["unknown_type", "url_missing_type", "invalid_config", "reserved_name"]
TYPES: Final = ("stdio", "http", "streamable-http", "sse", "ws", "sdk")
RESERVED: Final = frozenset({"workspace", "ide", "agent-tui"})
"""Names that this program or other agents use for their own connections."""


_OF_PLUGINS: Final = compile_late(r"plugin[^A-Za-z0-9-]")
"""Names of plugins' servers, which other servers must not imitate."""


class EntryMistake(Struct, frozen=True):
    """Why an entry cannot be used."""

    kind: EntryMistakeKind
    message: str
    path: tuple[str | int, ...] = ()
    """Keys and indexes inside the entry."""


def entry_mistake(name: str, raw: object) -> EntryMistake | None:
    """Return the first mistake in an entry, or None if it can be used."""
    if not name.strip():
        return EntryMistake("invalid_config", "expected a name")
    if name in RESERVED or _OF_PLUGINS.match(name):
        return EntryMistake("reserved_name", f'the name "{name}" is reserved; choose another one')
    if not isinstance(raw, Mapping):
        return EntryMistake("invalid_config", 'expected an object such as {"command": "…"}')
    kind = raw.get("type")
    if kind is not None and kind not in TYPES:
        types = ", ".join(f'"{one}"' for one in TYPES)
        return EntryMistake("unknown_type", f"expected one of {types}", ("type",))
    if kind is None and "url" in raw and "command" not in raw:
        message = 'has a "url" but no "type"; add "type": "http" (or "sse" or "ws")'
        return EntryMistake("url_missing_type", message)
    field = "command" if kind in (None, "stdio") else "url"
    if kind != "sdk" and not isinstance(raw.get(field), str):
        return EntryMistake("invalid_config", f'expected "{field}" with a text', (field,))
    if field == "command" and not str(raw.get(field) or "").strip() and kind != "sdk":
        return EntryMistake("invalid_config", "expected the name of a program", (field,))
    return next(_bad_fields(raw), None)


def padded_fields(raw: Mapping[str, object]) -> Iterator[tuple[str | int, ...]]:
    """Yield the paths of texts with leading or trailing white space, probably mistakes."""
    for path, value in _texts(raw):
        if value != value.strip():
            yield path


def _texts(raw: Mapping[str, object]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    for key in ("command", "url"):
        value = raw.get(key)
        if isinstance(value, str):
            yield (key,), value
    for key in ("env", "headers"):
        table = raw.get(key)
        if isinstance(table, Mapping):
            yield from (((key, str(name)), v) for name, v in table.items() if isinstance(v, str))


def _bad_fields(raw: Mapping[str, object]) -> Iterator[EntryMistake]:
    for key, check in _FIELDS.items():
        if raw.get(key) is not None:
            for path, message in check(raw[key]):
                yield EntryMistake("invalid_config", message, (key, *path))


_Problems = Iterator[tuple[tuple[str | int, ...], str]]


def _text(value: object) -> _Problems:
    if not isinstance(value, str):
        yield (), "expected a string in double quotes"


def _flag(value: object) -> _Problems:
    if not isinstance(value, bool):
        yield (), "expected true or false"


def _milliseconds(value: object) -> _Problems:
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        yield (), "expected a number of milliseconds"


def _list(value: object) -> _Problems:
    if not isinstance(value, list):
        yield (), "expected a list of strings"
        return
    for place, item in enumerate(value):
        if not isinstance(item, str):
            yield (place,), "expected a string in double quotes"


def _table(value: object) -> _Problems:
    if not isinstance(value, Mapping):
        yield (), 'expected an object of strings such as {"NAME": "value"}'
        return
    for name, item in value.items():
        if not isinstance(item, str):
            yield (str(name),), "expected a string in double quotes"


def _protocol(value: object) -> _Problems:
    if value not in ("auto", "legacy", "modern"):
        yield (), 'expected "auto", "legacy" or "modern"'


_HTTPS: Final = compile_late(r"https://.+")


def _oauth(value: object) -> _Problems:
    if not isinstance(value, Mapping):
        yield (), 'expected an object such as {"clientId": "…"}'
        return
    for key in ("clientId", "scopes"):
        if value.get(key) is not None and not isinstance(value[key], str):
            yield (key,), "expected a string in double quotes"
    port = value.get("callbackPort")
    if port is not None and not (type(port) is int and 1 <= port <= 65535):
        yield ("callbackPort",), "expected a port from 1 to 65535"
    metadata = value.get("authServerMetadataUrl")
    if metadata is not None and not _HTTPS.fullmatch(str(metadata)):
        yield ("authServerMetadataUrl",), "expected an address that begins with https://"


_FIELDS: Final[Mapping[str, Callable[[object], _Problems]]] = {
    "command": _text,
    "args": _list,
    "env": _table,
    "cwd": _text,
    "url": _text,
    "headers": _table,
    "headersHelper": _text,
    "timeout": _milliseconds,
    "oauth": _oauth,
    "alwaysLoad": _flag,
    "required": _flag,
    "enabledTools": _list,
    "disabledTools": _list,
    "trustAnnotations": _flag,
    "envInherit": _flag,
    "sandbox": _flag,
    "protocol": _protocol,
}
