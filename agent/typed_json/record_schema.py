"""The JSON schema of a record, for models and editors: the input of `read_record`."""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from msgspec import NODEFAULT, Meta, Struct

from agent.typed_json.read_record import fields_of

_PLAIN: Final[Mapping[object, str]] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    types.NoneType: "null",
}
_LIMITS: Final = {
    "ge": "minimum",
    "gt": "exclusiveMinimum",
    "le": "maximum",
    "lt": "exclusiveMaximum",
}
_OF_LENGTH: Final = {"string": "Length", "array": "Items"}


def record_schema(kind: type[Struct]) -> dict[str, Any]:
    """Return the schema of a record, with nested records inlined: no `$ref`, no titles."""
    properties: dict[str, Any] = {}
    for field in fields_of(kind):
        part = _schema(field.type)
        if field.default is not NODEFAULT:
            part["default"] = field.default
        elif field.default_factory is not NODEFAULT:
            part["default"] = field.default_factory()
        properties[field.encode_name] = _sort_keywords(part)
    schema: dict[str, Any] = {}
    if kind.__struct_config__.forbid_unknown_fields:
        schema["additionalProperties"] = False
    if kind.__doc__:
        schema["description"] = kind.__doc__
    schema["properties"] = properties
    if required_names := [field.encode_name for field in fields_of(kind) if field.required]:
        schema["required"] = required_names
    schema["type"] = "object"
    return schema


def _schema(kind: Any) -> dict[str, Any]:
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        schema = _schema(inner[0])
        for note in inner[1:]:
            if isinstance(note, Meta):
                _add_note(schema, note)
        return schema
    if origin in (Union, types.UnionType):
        return {"anyOf": [_schema(each) for each in inner]}
    if origin is Literal:
        kinds = {"type": "string"}
        return {"const": inner[0], **kinds} if len(inner) == 1 else {"enum": list(inner), **kinds}
    if origin is list:
        return {"items": _sort_keywords(_schema(inner[0])), "type": "array"}
    if origin is dict:
        values = _sort_keywords(_schema(inner[1]))
        return {"additionalProperties": values or True, "type": "object"}
    if kind in _PLAIN:
        return {"type": _PLAIN[kind]}
    if isinstance(kind, type) and issubclass(kind, Struct):
        return record_schema(kind)
    return {}


def _add_note(schema: dict[str, Any], note: Meta) -> None:
    """Add a description to the schema, and limits to the branch that they apply to."""
    if note.description is not None:
        schema["description"] = note.description
    for part in schema.get("anyOf", (schema,)):
        of_type = part.get("type")
        for name, word in _LIMITS.items():
            if (limit := getattr(note, name)) is not None and of_type in ("integer", "number"):
                part[word] = limit
        for name in ("min", "max"):
            limit = getattr(note, f"{name}_length")
            if limit is not None and of_type in _OF_LENGTH:
                part[name + _OF_LENGTH[of_type]] = limit
        if note.pattern is not None and of_type == "string":
            part["pattern"] = note.pattern


def _sort_keywords(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema with sorted keywords, so that requests have stable bytes."""
    if "anyOf" in schema:
        schema["anyOf"] = [_sort_keywords(branch) for branch in schema["anyOf"]]
    return {key: schema[key] for key in sorted(schema)} if "properties" not in schema else schema
