"""JSON schemas in the endpoints' strict form: closed objects, every property required."""

from __future__ import annotations

from agent.library.base.raw_items import RawItem
from agent.library.base.run_exceptions import UserError

_MAX_DEPTH = 100
_MAX_NODES = 100_000
_Schema = dict[str, RawItem]


def ensure_strict_json_schema(schema: _Schema) -> _Schema:
    """Return the schema in its strict form; `schema` itself is modified.

    Raises:
        UserError: the schema allows undeclared properties, or is too deep or too large.
        TypeError: a part that must be a schema is not one.
    """
    if schema == {}:
        return {"additionalProperties": False, "type": "object", "properties": {}, "required": []}
    return _Strict(schema).convert(schema, 1)


class _Strict:
    """One conversion: the root schema of references, and how much was expanded."""

    def __init__(self, root: _Schema) -> None:
        self._root = root
        self._nodes = 0

    def convert(self, schema: RawItem, depth: int) -> _Schema:
        self._nodes += 1
        if depth > _MAX_DEPTH:
            raise UserError("JSON schema is too deeply nested to process safely.")
        if self._nodes > _MAX_NODES:
            raise UserError("JSON schema is too large to convert to a strict schema.")
        if not isinstance(schema, dict):
            raise TypeError(f"Expected {schema!r} to be a dictionary")
        self._children(schema, depth + 1)
        self._close(schema, depth + 1)
        self._convert_composition(schema, depth + 1)
        if schema.get("default", ...) is None:
            del schema["default"]
        reference = schema.get("$ref")
        if reference is not None and len(schema) > 1:
            if not isinstance(reference, str):
                raise TypeError(f"Received non-string $ref: {reference!r}")
            del schema["$ref"]
            schema.update({**self._resolve(reference), **schema})
            return self.convert(schema, depth + 1)
        return schema

    def _children(self, schema: _Schema, depth: int) -> None:
        for name in ("$defs", "definitions", "properties"):
            for child in (schema.get(name) or {}).values():
                self.convert(child, depth)
        if isinstance(schema.get("items"), dict):
            schema["items"] = self.convert(schema["items"], depth)

    def _close(self, schema: _Schema, depth: int) -> None:
        kind, properties = schema.get("type"), schema.get("properties")
        if kind is None and isinstance(properties, dict):
            kind = schema["type"] = "object"
        if kind != "object" and not (isinstance(kind, list) and "object" in kind):
            return
        if schema.get("additionalProperties", False) is not False:
            raise UserError(
                "additionalProperties should not be set for object types. If you really need "
                "this, update the function or output tool to not use a strict schema."
            )
        schema["additionalProperties"] = False
        if isinstance(properties, dict):
            schema["required"] = list(properties)

    def _convert_composition(self, schema: _Schema, depth: int) -> None:
        choices = [*(schema.get("anyOf") or []), *(schema.pop("oneOf", None) or [])]
        if choices:
            schema["anyOf"] = [self.convert(each, depth) for each in choices]
        parts = schema.get("allOf")
        if not isinstance(parts, list):
            return
        if len(parts) == 1:
            del schema["allOf"]
            schema.update(self.convert(parts[0], depth))
        else:
            schema["allOf"] = [self.convert(each, depth) for each in parts]

    def _resolve(self, reference: str) -> _Schema:
        if not reference.startswith("#/"):
            raise ValueError(f"Unexpected $ref format {reference!r}; does not start with #/")
        node: RawItem = self._root
        for key in reference[2:].split("/"):
            node = node[key.replace("~1", "/").replace("~0", "~")]
        if not isinstance(node, dict):
            raise TypeError(f"{reference} is not a schema")
        return node
