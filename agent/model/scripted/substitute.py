"""Substitutes values for `${name}` in a turn's texts and tool inputs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import assert_never

from msgspec.structs import replace

from agent.model.scripted.scenario import Part, RawBlock, Text, Thinking, ToolCall, Turn


def substitute(turn: Turn, values: Mapping[str, str]) -> Turn:
    """Return the turn with every known `${name}` replaced; unknown ones stay as they are."""
    return replace(turn, parts=tuple(_part(part, values) for part in turn.parts))


def _part(part: Part, values: Mapping[str, str]) -> Part:
    match part:
        case Text(text):
            return Text(_text(text, values))
        case Thinking(text):
            return replace(part, text=_text(text, values))
        case ToolCall():
            return replace(part, input=_value(dict(part.input), values))
        case RawBlock():
            return part
    assert_never(part)


def _value(value: object, values: Mapping[str, str]) -> object:
    if isinstance(value, str):
        return _text(value, values)
    if isinstance(value, list):
        return [_value(each, values) for each in value]
    if isinstance(value, dict):
        return {key: _value(each, values) for key, each in value.items()}
    return value


def _text(text: str, values: Mapping[str, str]) -> str:
    return re.sub(r"\$\{(\w+)\}", lambda name: values.get(name[1], name[0]), text)
