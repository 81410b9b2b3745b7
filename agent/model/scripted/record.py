"""The scripted server's record of a request."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field


class RecordedRequest(Struct):
    """A request and how it was answered; filled in while the response is sent."""

    number: int
    """Among requests of the same path, from 1."""
    method: str
    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]
    """The JSON body; empty if there is none."""
    messages_body: dict[str, Any] = field(default_factory=dict)
    """The same request converted to a body of the Messages API."""
    connection: int = 0
    """Number of its connection, from 1."""
    turn: str = ""
    """Name of the turn that answered; empty if none did."""
    status: int = 0
    """HTTP status that was sent; 0 until then."""
    problem: str = ""
    """Why the request was rejected."""
    usage: Mapping[str, object] = field(default_factory=dict)
    hung_up: bool = False
    """The client disconnected before the response was complete."""
    started_at: float = 0.0
    """Seconds on the server's clock."""
    ended_at: float = 0.0
    """0 while the response is being sent."""
    done_event: asyncio.Event = field(default_factory=asyncio.Event)
