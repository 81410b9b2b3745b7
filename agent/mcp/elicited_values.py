"""The values of an accepted form as they are sent: what the schema names, defaults filled in."""

from __future__ import annotations

from collections.abc import Mapping

from agent.mcp.server_offer import Json

FormValue = str | int | float | bool | list[str] | None


def complete_values(schema: Json, values: Mapping[str, FormValue]) -> dict[str, FormValue]:
    """Return the values of the fields that the schema has; a missing one gets its default."""
    properties = schema.get("properties")
    complete: dict[str, FormValue] = {}
    for name, field in properties.items() if isinstance(properties, dict) else ():
        if name in values:
            complete[name] = values[name]
        elif isinstance(field, dict) and "default" in field:
            complete[name] = field["default"]
    return complete
