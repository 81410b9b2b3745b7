"""The type of an agent's final output: its JSON schema, and validation of the model's text."""

from __future__ import annotations

import abc
import json
from dataclasses import dataclass
from typing import get_args

from pydantic import BaseModel, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from agent.library.base.annotations import origin_of
from agent.library.base.raw_items import RawItem
from agent.library.base.run_exceptions import ModelBehaviorError, UserError
from agent.library.base.strict_schema import ensure_strict_json_schema

_WRAPPED = "response"


class AgentOutputSchemaBase(abc.ABC):
    """Validates final outputs; derive from it for a schema that is not a Python type."""

    @abc.abstractmethod
    def is_plain_text(self) -> bool:
        """Whether any text is valid."""

    @abc.abstractmethod
    def name(self) -> str:
        """Return the type's name."""

    @abc.abstractmethod
    def json_schema(self) -> dict[str, RawItem]:
        """Return the schema; not called for plain text."""

    @abc.abstractmethod
    def is_strict_json_schema(self) -> bool:
        """Whether the endpoint must enforce the schema strictly."""

    @abc.abstractmethod
    def validate_json(self, json_str: str) -> RawItem:
        """Return the parsed value. Raises ModelBehaviorError for invalid text."""


@dataclass(init=False)
class AgentOutputSchema(AgentOutputSchemaBase):
    """The schema of a Python type; a type that is not a JSON object is wrapped in one."""

    output_type: RawItem

    def __init__(self, output_type: RawItem, strict_json_schema: bool = True) -> None:
        """Build the schema.

        Raises:
            UserError: the type has no strict schema.
        """
        self.output_type = output_type
        self._is_strict = strict_json_schema
        self.is_wrapped = not _is_object(output_type)
        self._schema: dict[str, RawItem] = {}
        if self.is_plain_text():
            self.is_wrapped = False
            return
        kind = _wrap(output_type) if self.is_wrapped else output_type
        self._adapter: TypeAdapter[RawItem] = TypeAdapter(kind)
        self._schema = self._adapter.json_schema()
        if strict_json_schema:
            try:
                self._schema = ensure_strict_json_schema(self._schema)
            except UserError as error:
                raise UserError(
                    "Strict JSON schema is enabled, but the output type is not valid. Either make "
                    "the output type strict, or wrap it: "
                    "AgentOutputSchema(your_type, strict_json_schema=False)"
                ) from error

    def is_plain_text(self) -> bool:
        """Whether any text is valid."""
        return self.output_type is None or self.output_type is str

    def name(self) -> str:
        """Return the type's name."""
        return _type_name(self.output_type)

    def is_strict_json_schema(self) -> bool:
        """Whether the schema is strict."""
        return self._is_strict

    def json_schema(self) -> dict[str, RawItem]:
        """Return the schema.

        Raises:
            UserError: the type is plain text, which has no schema.
        """
        if self.is_plain_text():
            raise UserError("Output type is plain text, so no JSON schema is available")
        return self._schema

    def validate_json(self, json_str: str) -> RawItem:
        """Return the value that a model wrote as JSON.

        Raises:
            ModelBehaviorError: it is not JSON, or does not match the type.
        """
        try:
            value = self._adapter.validate_json(json_str)
        except ValidationError as error:
            raise ModelBehaviorError(
                f"Invalid JSON when parsing {json_str} for {self.name()}; {error}"
            ) from error
        if not self.is_wrapped:
            return value
        if not isinstance(value, dict) or _WRAPPED not in value:
            raise ModelBehaviorError(f"Could not find key {_WRAPPED} in JSON: {json.dumps(value)}")
        return value[_WRAPPED]


def output_schema_of(output_type: RawItem) -> AgentOutputSchemaBase | None:
    """Return the schema of an agent's output type; None for plain text."""
    if output_type is None or output_type is str:
        return None
    if isinstance(output_type, AgentOutputSchemaBase):
        return output_type
    return AgentOutputSchema(output_type)


def _wrap(kind: RawItem) -> RawItem:
    make: RawItem = TypedDict
    return make("OutputType", {_WRAPPED: kind})


def _is_object(kind: RawItem) -> bool:
    base = origin_of(kind) or kind
    return isinstance(base, type) and issubclass(base, BaseModel | dict)


def _type_name(kind: RawItem) -> str:
    arguments = get_args(kind)
    name = getattr(origin_of(kind) or kind, "__name__", str(kind))
    return f"{name}[{', '.join(map(_type_name, arguments))}]" if arguments else name
