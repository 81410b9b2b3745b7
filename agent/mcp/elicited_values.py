"""The values of an accepted form as they are sent: what the schema names, defaults filled in."""

from __future__ import annotations

from collections.abc import Mapping

from agent.mcp.server_offer import Json

FormValue = str | int | float | bool | list[str] | None


def complete_values(schema: Json, given: Mapping[str, FormValue]) -> dict[str, FormValue]:
    """Return the values of the fields that the schema has; a missing one gets its default."""
    properties = schema.get("properties")
    found: dict[str, FormValue] = {}
    for name, described in properties.items() if isinstance(properties, dict) else ():
        if name in given:
            found[name] = given[name]
        elif isinstance(described, dict) and "default" in described:
            found[name] = described["default"]
    return found
