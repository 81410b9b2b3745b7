"""Failures on demand: the ways in which the scripted server can misbehave, as values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, get_args

from msgspec import Struct, field

Place = Literal[
    "accept",
    "headers",
    "event",
    "byte",
    "thinking",
    "text",
    "tool_input",
    "between_blocks",
    "before_delta",
    "before_stop",
    "end",
]


class Position(Struct, frozen=True):
    """A point in a response. A point that the response does not have is before its last event.

    `accept` is before anything is sent, `headers` after the status line and headers, `event`
    before event `number` (from 0), `byte` after that many bytes of the body, `thinking`, `text` and
    `tool_input` after the first delta of the first such block, `end` after everything.
    """

    place: Place = "headers"
    number: int = 0


def parse_position(text: str) -> Position:
    """Parse a position such as `text`, `event:3` or `byte:120`.

    Raises:
        ValueError: the place does not exist.
    """
    match = re.fullmatch(r"([a-z_]+)(?::(\d+))?", text)
    places: tuple[Place, ...] = get_args(Place)
    for place in places:
        if match is not None and place == match[1]:
            return Position(place, int(match[2] or 0))
    raise ValueError(f"{text!r} is no position; choose from {', '.join(places)}")


class Status(Struct, frozen=True):
    """Respond with an HTTP error, or with any status and `body`."""

    status: int
    error_type: str | None = None
    """None: the default type of the status."""
    message: str = "scripted failure"
    error_code: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str | None = None
    """Sent unchanged instead of the JSON error."""
    content_type: str = "application/json"


class Cut(Struct, frozen=True):
    """End early: `reset` sends RST, `close` drops the connection, `end` ends the body properly."""

    at: Position = Position()
    how: Literal["reset", "close", "end"] = "reset"


class Stall(Struct, frozen=True):
    """Go silent for `seconds`; without them, until `hold` is released or the client hangs up."""

    at: Position = Position()
    seconds: float | None = None
    hold: str | None = None


class ErrorFault(Struct, frozen=True):
    """Send an `error` event inside the stream, and end it."""

    at: Position = Position()
    error_type: str = "overloaded_error"
    message: str = "Overloaded"
    error_code: str | None = None


class Insert(Struct, frozen=True):
    """Send extra bytes between events: malformed records, unknown events, noise."""

    at: Position = Position()
    data: bytes = b""


class Drop(Struct, frozen=True):
    """Leave out the `nth` event (from 0) of this name."""

    event: str
    nth: int = 0


class Duplicate(Struct, frozen=True):
    """Send the `nth` event (from 0) of this name twice."""

    event: str
    nth: int = 0


class NoUsage(Struct, frozen=True):
    """Leave every usage record out."""


class WholeJson(Struct, frozen=True):
    """Respond to a stream request with one JSON message, as simple servers do."""


QuirkName = Literal[
    "zero_index",
    "no_ids",
    "whole_calls",
    "object_arguments",
    "calls_as_text",
    "finish_stop",
    "reasoning_field",
    "comments",
    "malformed_call",
    "no_index",
]


class Quirk(Struct, frozen=True):
    """Deviate as some servers do: those of Chat Completions, of Responses (`no_index`,
    `whole_calls`) or of Gemini (`no_ids`, `malformed_call`)."""

    name: QuirkName


PlacedFault = Cut | Stall | ErrorFault | Insert
"""Faults that happen at one point of the response."""

Fault = Status | Cut | Stall | ErrorFault | Insert | Drop | Duplicate | NoUsage | WholeJson | Quirk
