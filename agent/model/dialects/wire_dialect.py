"""What a dialect consists of: the path and body of a request, and a reader of the response."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Protocol

from msgspec import Struct

from agent.model.client import ModelCapabilities, ModelEvent, ModelRequest
from agent.model.dialects.provider import Provider


class AnswerReader(Protocol):
    """Converts the records of one response into events."""

    def read(self, record: Mapping[str, object]) -> Iterator[ModelEvent]:
        """Yield the events of one record of the stream.

        Raises:
            ModelError: the record reports an error, or is malformed.
        """
        ...

    def end(self) -> Iterator[ModelEvent]:
        """Yield the remaining events when the stream has ended.

        Raises:
            ModelError: the response is incomplete.
        """
        ...

    def whole(self, answer: Mapping[str, object]) -> Iterator[ModelEvent]:
        """Yield the events of a response that is one JSON object; `end` is called afterwards."""
        ...


class WireDialect(Struct, frozen=True):
    """One dialect; see `wire_dialects`."""

    path: Callable[[str], str]
    """Returns the path for a model's name; it is appended to the base address."""
    body: Callable[[ModelRequest, ModelCapabilities, Provider], dict[str, object]]
    reader: Callable[[ModelRequest, Provider], AnswerReader]
