"""What a dialect brings: where requests go, what they hold, how the answer is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Protocol

from msgspec import Struct

from agent.model.client import ModelCapabilities, ModelEvent, ModelRequest
from agent.model.dialects.provider import Provider


class AnswerReader(Protocol):
    """Turns the records of one answer into events."""

    def read(self, record: Mapping[str, object]) -> Iterator[ModelEvent]:
        """Yield the events of one record of the stream.

        Raises:
            ModelError: the record reports a failure, or makes no sense.
        """
        ...

    def end(self) -> Iterator[ModelEvent]:
        """Yield what is left when the stream has ended.

        Raises:
            ModelError: the answer was not whole.
        """
        ...

    def whole(self, answer: Mapping[str, object]) -> Iterator[ModelEvent]:
        """Yield the events of an answer that came as one JSON object; `end` follows."""
        ...


class WireDialect(Struct, frozen=True):
    """One way of speaking."""

    path: Callable[[str], str]
    """Of a model's name; appended to the base address."""
    body: Callable[[ModelRequest, ModelCapabilities, Provider], dict[str, object]]
    reader: Callable[[ModelRequest, Provider], AnswerReader]
