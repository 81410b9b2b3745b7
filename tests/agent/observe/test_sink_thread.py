"""Values reach a sink in order, also when it fails, and no one waits for it."""

from __future__ import annotations

import logging
import threading

import pytest

from agent.observe.sink_thread import SinkThread


def test_a_sink_that_fails_loses_one_value_and_is_reported_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    taken: list[int] = []

    def sink(value: int) -> None:
        if value % 2:
            raise RuntimeError(value)
        taken.append(value)

    thread = SinkThread(sink, name="odd")
    with caplog.at_level(logging.ERROR):
        for value in range(6):
            thread(value)
        thread.close()
    assert taken == [0, 2, 4]
    assert [record.message for record in caplog.records] == ["odd: a value was not taken"]


def test_a_sink_that_hangs_holds_no_one_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.observe.sink_thread.CLOSE_TIMEOUT_S", 0.01)
    release, taken = threading.Event(), list[int]()

    def sink(value: int) -> None:
        release.wait()
        taken.append(value)

    thread = SinkThread(sink, name="stuck")
    for value in range(3):
        thread(value)
    thread.close()
    assert taken == []
    release.set()
