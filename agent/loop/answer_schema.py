"""The JSON schema that the last answer of a prompt must follow, checked here for every model.

Endpoints that can enforce the schema are asked to; answers are checked anyway, and the model is
asked a few times to correct an answer that does not follow it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from itertools import islice
from typing import Final

from agent.errors import UsageError
from agent.loop.check_time import CheckTooLongError, processor_time

MAX_CORRECTIONS: Final = 4
"""How often the model is asked to correct an answer."""
CHECK_S: Final = 0.5
"""Processor time limit for one check, in seconds."""
_SHOWN: Final = 5
"""Problems that are listed in one correction."""


class AnswerSchema:
    """Checks answers against one schema."""

    def __init__(self, text: str) -> None:
        """Take the schema as JSON text.

        Raises:
            UsageError: it is not a JSON schema of an object.
        """
        import jsonschema  # takes 40 ms; only for runs with a schema

        try:
            schema = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"The JSON schema is not JSON: {error}.") from error
        if not isinstance(schema, dict) or schema.get("type") != "object":
            raise UsageError('The JSON schema must be that of an object: {"type": "object", …}.')
        try:
            jsonschema.Draft202012Validator.check_schema(schema)
        except jsonschema.SchemaError as error:
            where = error.json_path.removeprefix("$").lstrip(".") or "the schema"
            raise UsageError(f"The JSON schema is not valid: {where}: {error.message}.") from error
        self.schema: Mapping[str, object] = schema
        self._validator = jsonschema.Draft202012Validator(schema)

    @property
    def instruction(self) -> str:
        """The instruction about it for the system prompt."""
        return (
            "Your final answer, once all work is done, must be one JSON value that follows the "
            "schema below, and nothing else: no words around it, no code fence.\n\n"
            f"<json-schema>\n{json.dumps(self.schema, ensure_ascii=False)}\n</json-schema>"
        )

    def value(self, text: str) -> object:
        """Return the value of an answer. Raises ValueError if it does not follow the schema."""
        value = _json_of(text)
        if value is not None and not self._problems(value):
            return value
        raise ValueError(self.complaint(text))

    def complaint(self, text: str) -> str | None:
        """Return what is wrong with an answer, for the model; None if it follows the schema."""
        value = _json_of(text)
        if value is None:
            return "it is not one JSON object"
        return "; ".join(self._problems(value)) or None

    def _problems(self, value: object) -> list[str]:
        """Return the first problems of an answer.

        The schema may come from a script and the answer from a hostile model: backtracking
        patterns or endless references must not block the program.
        """
        from referencing.exceptions import Unresolvable  # loaded with jsonschema

        try:
            with processor_time(CHECK_S):
                errors = islice(self._validator.iter_errors(value), _SHOWN)
                return [f"{error.json_path}: {error.message[:300]}" for error in errors]
        except CheckTooLongError:
            return ["checking it against the schema takes too long"]
        except RecursionError:
            return ["the schema refers to itself without an end"]
        except Unresolvable as error:
            return [f"the schema refers to a missing definition: {error}"]


def correction(complaint: str) -> str:
    """Return the message that asks for another answer."""
    return (
        f"Your answer does not follow the JSON schema: {complaint}. Answer again with the whole "
        "JSON value and nothing else."
    )


def _json_of(text: str) -> dict[str, object] | None:
    """Return the object in a text, with or without a code fence; None if it is not one."""
    fence = re.fullmatch(r"\s*```(?:json)?\s*\n(.*?)\n?```\s*", text, re.DOTALL)
    try:
        value = json.loads(fence[1] if fence else text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
