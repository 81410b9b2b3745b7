"""What the proxy decided, the latest of it, for the display, and all of it for the audit."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Final, Literal

from msgspec import Struct

from agent.sandbox.network.call_tokens import NetworkCall

RECORDS: Final = 500


class HostRecord(Struct, frozen=True):
    """One decision about a connection, or its end."""

    event: Literal["allowed", "refused", "closed"]
    host: str
    """Canonical; as the client wrote it where that is not a host."""
    port: int
    """0 where the request did not have one."""
    call: NetworkCall
    code: str
    """Why, as in the header `X-Proxy-Error`; for an allow `rule`, `grant` or `user`."""
    reason: str
    """The same for users."""
    time_s: float
    """Seconds since 1970."""
    sent_bytes: int = 0
    """To the host; known at the end."""
    received_bytes: int = 0


class HostLog:
    """The latest records, oldest first."""

    def __init__(self, on_record: Callable[[HostRecord], None] | None = None) -> None:
        """`on_record` is called with each record as it is made; it must not raise."""
        self._records: deque[HostRecord] = deque(maxlen=RECORDS)
        self._on_record = on_record

    def add(
        self,
        event: Literal["allowed", "refused", "closed"],
        where: tuple[str, int],
        call: NetworkCall,
        why: tuple[str, str],
        traffic: tuple[int, int] = (0, 0),
    ) -> None:
        """Add a record; `where` is host and port, `why` code and reason."""
        record = HostRecord(event, *where, call, *why, time.time(), *traffic)
        self._records.append(record)
        if self._on_record is not None:
            self._on_record(record)

    def records(self) -> tuple[HostRecord, ...]:
        """Return the latest records."""
        return tuple(self._records)

    def refusals(self, call_id: str) -> tuple[HostRecord, ...]:
        """Return what was refused to a call, as far as it is among the latest records."""
        return tuple(
            record
            for record in self._records
            if record.event == "refused" and record.call.id == call_id
        )
