"""Payloads that are given as JSON, checked against their event before anything is run."""

from __future__ import annotations

from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Final, get_args, get_origin

from msgspec import Struct
from msgspec.structs import fields

from hooks.events import EVENTS
from hooks.events.capabilities import EFFECTS, closest_event

COMMON_TEXT: Final = frozenset(
    """
    session_id transcript_path cwd hook_event_name permission_mode prompt_id agent_id agent_type
    scratchpad_dir
    """.split()
)
_NAMES: Final = {str: "text", bool: "true or false", int: "a number", dict: "an object"}


class PayloadError(ValueError):
    """A payload is invalid; the message names the field and what is expected."""


class JsonPayload(Struct, frozen=True):
    """A payload as it was given, including unknown fields."""

    event_name: str
    fields: Mapping[str, object]

    def to_json(self) -> dict[str, object]:
        """Return the fields, under the event's own name."""
        return {**self.fields, "hook_event_name": self.event_name}


def payload_from_json(event: str, raw: object) -> JsonPayload:
    """Check a payload given as JSON and fill in default fields. Raises PayloadError."""
    if event not in EVENTS:
        raise PayloadError(f"unknown event {event!r}{closest_event(event)}")
    if not isinstance(raw, Mapping):
        raise PayloadError(f"the payload of {event} must be a JSON object")
    payload = {str(name): value for name, value in raw.items()}
    for name in COMMON_TEXT:
        value = payload.get(name)
        if value is not None and not isinstance(value, str):
            raise PayloadError(f"{event}: {name} must be text, found {type(value).__name__}")
    for field in fields(EVENTS[event]):
        if payload.get(field.name) is not None:
            _check_field(event, field.name, payload[field.name], _expected_types(field.type))
    if EFFECTS[event].is_tool_event:
        if not payload.get("tool_name"):
            raise PayloadError(f"{event}: tool_name is missing")
        payload.setdefault("tool_input", {})
    return JsonPayload(event, {**EFFECTS[event].assumed_fields, **payload})


def _check_field(event: str, name: str, value: object, kinds: tuple[type, ...]) -> None:
    is_wrong_bool = isinstance(value, bool) and bool not in kinds
    if object in kinds or (isinstance(value, kinds) and not is_wrong_bool):
        return
    kind_name = _NAMES.get(kinds[0], "a list")
    raise PayloadError(f"{event}: {name} must be {kind_name}, found {type(value).__name__}")


def _expected_types(field_type: object) -> tuple[type, ...]:
    """Return the types that a field may have in JSON, without None and type parameters."""
    kinds = [
        get_origin(one) or one
        for one in (get_args(field_type) if isinstance(field_type, UnionType) else (field_type,))
        if one is not NoneType
    ]
    return (int, float) if kinds == [float] else tuple(kinds)
