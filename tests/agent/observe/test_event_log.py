"""The event log."""

from __future__ import annotations

import asyncio
from random import Random

import pytest

from agent.observe.event_log import QUEUE_LIMIT, EventLog, LoggedEvent, Verified


def names(events: list[LoggedEvent]) -> list[str]:
    return [event.name for event in events]


def test_early_events_wait_for_the_sink_and_keep_their_order() -> None:
    log, seen = EventLog(), list[LoggedEvent]()
    log.log("one")
    assert log.attach(seen.append)
    log.log("two")
    assert names(seen) == ["one", "two"]


async def test_draining_is_off_the_callers_path_and_before_newer_events() -> None:
    log, seen = EventLog(), list[LoggedEvent]()
    log.log("one")
    log.attach(seen.append)
    log.log("two")
    assert seen == []
    await asyncio.sleep(0)
    log.log("three")
    assert names(seen) == ["one", "two", "three"]


def test_the_first_sink_wins_until_it_is_detached() -> None:
    log, first, second = EventLog(), list[LoggedEvent](), list[LoggedEvent]()
    assert log.attach(first.append)
    assert not log.attach(second.append)
    log.log("one")
    log.detach()
    log.log("two")
    log.attach(second.append)
    assert (names(first), names(second)) == (["one"], ["two"])


def test_the_queue_is_bounded_and_counts_what_it_lost() -> None:
    log, seen = EventLog(), list[LoggedEvent]()
    for number in range(QUEUE_LIMIT + 3):
        log.log("e", number=number)
    log.attach(seen.append)
    assert (len(seen), log.dropped) == (QUEUE_LIMIT, 3)
    assert seen[0].values == {"number": 0}


def test_strings_need_a_check() -> None:
    log, seen = EventLog(clock=lambda: 5.0), list[LoggedEvent]()
    log.attach(seen.append)
    with pytest.raises(TypeError, match=r"read\.path"):
        log.log("read", path="/home/me")  # type: ignore[arg-type]
    log.log("tool", name=Verified("Read", "a built-in tool's name"), ms=4.5, ok=True, gone=None)
    assert seen[0].as_json() == {"event": "tool", "at": 5.0, "ms": 4.5, "ok": True, "name": "Read"}


def test_sampling_says_its_rate() -> None:
    log = EventLog(rng=Random(3), sample_rates={"often": 0.25})
    seen: list[LoggedEvent] = []
    log.attach(seen.append)
    for _ in range(1000):
        log.log("often")
    assert 150 < len(seen) < 350
    assert seen[0].as_json()["sample_rate"] == 0.25
