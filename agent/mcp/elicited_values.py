"""Completes the values of an accepted form: only fields of the schema, with defaults."""

from __future__ import annotations

from collections.abc import Mapping

from agent.mcp.server_offer import Json

FormValue = str | int | float | bool | list[str] | None


def complete_values(schema: Json, values: Mapping[str, FormValue]) -> dict[str, FormValue]:
    """Return the values of the schema's fields; missing ones get their default."""
    properties = schema.get("properties")
    complete: dict[str, FormValue] = {}
    for name, field in properties.items() if isinstance(properties, dict) else ():
        if name in values:
            complete[name] = values[name]
        elif isinstance(field, dict) and "default" in field:
            complete[name] = field["default"]
    return complete
