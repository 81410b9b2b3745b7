"""Converts a server's form to questions, and the answers to values of its schema."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from agent.mcp.elicited_values import FormValue
from agent.tools.services import Question, QuestionOption
from permissions.base.text.late_pattern import compile_late
from permissions.base.text.named_secrets import is_secret_name
from permissions.base.text.sanitize import reveal

EMPTY: Final = "Leave empty"
_FORMATS: Final = {
    "email": (compile_late(r"[^@\s]+@[^@\s]+\.[^@\s]+"), "an e-mail address"),
    "uri": (compile_late(r"[A-Za-z][A-Za-z0-9+.-]*:\S+"), "an address such as https://…"),
    "date": (compile_late(r"\d{4}-\d\d-\d\d"), "a date such as 2026-01-31"),
    "date-time": (
        compile_late(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d.*"),
        "a date and time such as 2026-01-31T12:00:00Z",
    ),
}
_WORDS_OF: Final = {True: "Yes", False: "No"}


class BadValueError(ValueError):
    """An answer is not valid for its field; the text tells what is expected."""


class FormField(Struct, frozen=True):
    """One field of a form."""

    name: str
    schema: Mapping[str, object]
    is_required: bool

    @property
    def question(self) -> Question:
        """The field as a question."""
        title = str(self.schema.get("title") or self.name)
        description = str(self.schema.get("description") or "")
        text = reveal(f"{title}: {description}" if description else title)
        labels = self.labels
        default = self.schema.get("default")
        options = [QuestionOption(label) for label in labels.values()]
        if not labels and default is not None:
            options.append(QuestionOption(_text_of(default), "the server's suggestion"))
        if not self.is_required:
            options.append(QuestionOption(EMPTY))
        return Question(
            text, reveal(self.name)[:20], tuple(options), self.is_multiple, bool(labels)
        )

    @property
    def is_multiple(self) -> bool:
        """Whether several values can be chosen."""
        return self.schema.get("type") == "array"

    @property
    def labels(self) -> dict[str, str]:
        """The possible values, as text, with their labels."""
        if self.schema.get("type") == "boolean":
            return {"true": "Yes", "false": "No"}
        items = self.schema.get("items")
        source = items if self.is_multiple and isinstance(items, Mapping) else self.schema
        for key in ("oneOf", "anyOf"):
            entries = source.get(key)
            if isinstance(entries, list):
                return {
                    str(e["const"]): reveal(str(e.get("title", e["const"])))
                    for e in entries
                    if isinstance(e, Mapping) and "const" in e
                }
        values, names = source.get("enum"), source.get("enumNames")
        if not isinstance(values, list):
            return {}
        labels = names if isinstance(names, list) and len(names) == len(values) else values
        return {str(v): reveal(str(n)) for v, n in zip(values, labels, strict=True)}

    def value(self, answer: str) -> FormValue:
        """Return the value of an answer; None if it is empty. Raises BadValueError."""
        if answer == EMPTY:
            return None
        by_label = {label: value for value, label in self.labels.items()}
        if self.is_multiple:
            return _parse_labels(answer, by_label)
        if self.schema.get("type") == "boolean":
            return _boolean(answer)
        if by_label:
            chosen = by_label.get(answer, answer)
            if chosen not in by_label.values():
                raise BadValueError(f"expected one of {', '.join(by_label)}")
            return chosen
        if self.schema.get("type") in ("integer", "number"):
            return self._number(answer)
        return self._checked_text(answer)

    def _number(self, answer: str) -> int | float:
        is_whole = self.schema.get("type") == "integer"
        try:
            number = int(answer) if is_whole else float(answer)
        except ValueError:
            kind = "a whole number" if is_whole else "a number"
            raise BadValueError(f"expected {kind}") from None
        least, most = self.schema.get("minimum"), self.schema.get("maximum")
        if isinstance(least, int | float) and number < least:
            raise BadValueError(f"expected at least {least}")
        if isinstance(most, int | float) and number > most:
            raise BadValueError(f"expected at most {most}")
        return number

    def _checked_text(self, answer: str) -> str:
        least, most = self.schema.get("minLength"), self.schema.get("maxLength")
        if isinstance(least, int) and len(answer) < least:
            raise BadValueError(f"expected at least {least} characters")
        if isinstance(most, int) and len(answer) > most:
            raise BadValueError(f"expected at most {most} characters")
        pattern = _FORMATS.get(str(self.schema.get("format")))
        if pattern is not None and not pattern[0].fullmatch(answer):
            raise BadValueError(f"expected {pattern[1]}")
        return answer


def form_fields(schema: Mapping[str, object]) -> list[FormField]:
    """Return the fields of a form's schema."""
    properties, required_names = schema.get("properties"), schema.get("required")
    names = required_names if isinstance(required_names, list) else []
    return [
        FormField(str(name), field_schema, name in names)
        for name, field_schema in (properties.items() if isinstance(properties, Mapping) else ())
        if isinstance(field_schema, Mapping)
    ]


def secret_fields(fields: list[FormField]) -> list[str]:
    """Return the names of fields that seem to ask for a secret, which forms must not do."""
    return [
        field.name
        for field in fields
        if any(
            is_secret_name(re.sub(r"\W+", "_", str(text)))
            for text in (field.name, field.schema.get("title"), field.schema.get("description"))
        )
    ]


def _parse_labels(answer: str, by_label: Mapping[str, str]) -> list[str]:
    chosen: list[str] = []
    rest = answer
    for label in sorted(by_label, key=len, reverse=True):
        if label in rest:
            chosen.append(by_label[label])
            rest = rest.replace(label, "", 1)
    if rest.replace(",", "").replace(EMPTY, "").strip():
        raise BadValueError(f"expected one or more of {', '.join(by_label)}")
    return [value for value in by_label.values() if value in chosen]


def _boolean(answer: str) -> bool:
    word = answer.strip().lower()
    if word not in ("yes", "no", "y", "n", "true", "false"):
        raise BadValueError("expected yes or no")
    return word[0] in "yt"


def _text_of(value: object) -> str:
    return _WORDS_OF[value] if isinstance(value, bool) else str(value)
