"""The form that a prompt's last answer must have: a JSON schema, checked here for every model.

Endpoints that can hold a model to it are asked to; what arrives is checked all the same, and an
answer that does not fit goes back to the model a few times, with what is wrong.
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
"""How often a model may correct an answer that does not fit."""
CHECK_S: Final = 0.5
"""Processor time that one check may take."""
_SHOWN: Final = 5
"""Problems that one correction names."""


class AnswerSchema:
    """Checks answers against one schema."""

    def __init__(self, text: str) -> None:
        """Take the schema as JSON text.

        Raises:
            UsageError: it is not a JSON schema of an object.
        """
        import jsonschema  # 40 ms, for runs with a schema alone

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
        """What the system prompt says of it."""
        return (
            "Your final answer, once all work is done, must be one JSON value that follows the "
            "schema below, and nothing else: no words around it, no code fence.\n\n"
            f"<json-schema>\n{json.dumps(self.schema, ensure_ascii=False)}\n</json-schema>"
        )

    def value(self, text: str) -> object:
        """Return the value that an answer is; raise ValueError where it does not fit."""
        value = _json_of(text)
        if value is not None and not self._problems(value):
            return value
        raise ValueError(self.complaint(text))

    def complaint(self, text: str) -> str | None:
        """Return what is wrong with an answer, for the model; None where it fits."""
        value = _json_of(text)
        if value is None:
            return "it is not one JSON object"
        return "; ".join(self._problems(value)) or None

    def _problems(self, value: object) -> list[str]:
        """Return the first problems of an answer.

        A schema may be a script's and the answer a hostile model's: a pattern that backtracks or
        references without an end must not hold the program.
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
    """Return the object that a text is, also inside a code fence; None for none."""
    fence = re.fullmatch(r"\s*```(?:json)?\s*\n(.*?)\n?```\s*", text, re.DOTALL)
    try:
        value = json.loads(fence[1] if fence else text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
