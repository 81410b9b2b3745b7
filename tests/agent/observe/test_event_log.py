"""The event log."""

from __future__ import annotations

import pytest

from agent.observe.event_log import EventLog, LoggedEvent, Verified


def test_strings_need_a_check() -> None:
    seen = list[LoggedEvent]()
    log = EventLog(seen.append, clock=lambda: 5.0)
    with pytest.raises(TypeError, match=r"read\.path"):
        log.log("read", path="/home/me")  # type: ignore[arg-type]
    log.log("tool", name=Verified("Read", "a built-in tool's name"), ms=4.5, ok=True, gone=None)
    assert [event.as_json() for event in seen] == [
        {"event": "tool", "at": 5.0, "ms": 4.5, "ok": True, "name": "Read"}
    ]
