"""Log of the proxy's decisions: the latest for the display, each one passed on to the audit."""

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
    """Canonical, or as the client wrote it if it is not a valid host."""
    port: int
    """0 where the request did not have one."""
    call: NetworkCall
    code: str
    """Why, as in the header `X-Proxy-Error`; for an allow `rule`, `grant` or `user`."""
    reason: str
    """The reason in words, for users."""
    time_s: float
    """Seconds since 1970."""
    sent_bytes: int = 0
    """To the host; set when the connection closes."""
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
        """Return the refusals of a call that are among the latest records."""
        return tuple(
            record
            for record in self._records
            if record.event == "refused" and record.call.id == call_id
        )
