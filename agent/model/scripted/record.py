"""What the scripted server noted about each request."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field


class RecordedRequest(Struct):
    """What was asked and how it was answered; filled in while the answer is sent."""

    number: int
    """Among requests of the same path, from 1."""
    method: str
    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]
    """The JSON body; empty when there is none."""
    messages_body: dict[str, Any] = field(default_factory=dict)
    """The same request as a body of the Messages API, whatever dialect it came in."""
    connection: int = 0
    """Number of the connection it came on, from 1."""
    turn: str = ""
    """Name of the turn that answered; empty when none did."""
    status: int = 0
    """HTTP status that was sent; 0 while none was."""
    problem: str = ""
    """Why the request was rejected."""
    usage: Mapping[str, object] = field(default_factory=dict)
    hung_up: bool = False
    """The client left before the answer was whole."""
    started_at: float = 0.0
    """Seconds on the server's clock."""
    ended_at: float = 0.0
    """0 while the answer is being sent."""
    done_event: asyncio.Event = field(default_factory=asyncio.Event)
