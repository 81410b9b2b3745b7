"""What a run leaves behind: spans in a file, a private log, sums over all sessions."""

from __future__ import annotations

import asyncio
import logging
import stat
from datetime import date
from pathlib import Path

import pytest

from agent.events import MessageCommitted, Terminal, Usage
from agent.messages import Message, text_block, user_message
from agent.observe.debug_log import MAX_LOGS, DebugLog, debug_path
from agent.observe.event_log import LoggedEvent
from agent.observe.ledger import Ledger, LedgerEntry, Sums, ledger_path
from agent.observe.observer import CONTENT_VARIABLE, Observer, spans_path
from agent.observe.sink_thread import SinkThread
from agent.observe.span_file import read_spans
from agent.observe.spans import SWEEP_INTERVAL_S
from tests.agent.observe.test_recorder import BASH, PROMPT

MANY = 200


async def test_spans_are_in_the_file_once_it_is_closed(tmp_path: Path) -> None:
    observer = Observer(tmp_path, env={}, redact=str)
    for event in [PROMPT, *BASH, Terminal("t", "completed")]:
        observer.record(event)
    observer.close()
    spans = list(read_spans(spans_path(tmp_path)))
    assert {span.kind for span in spans} == {"interaction", "tool", "hook", "blocked_on_user"}
    assert "secret" not in spans_path(tmp_path).read_text()
    assert stat.S_IMODE(spans_path(tmp_path).stat().st_mode) == 0o600


@pytest.mark.parametrize("wish", ["", "0", "1"])
async def test_texts_are_in_the_spans_only_where_they_are_asked_for(
    tmp_path: Path, wish: str
) -> None:
    observer = Observer(
        tmp_path,
        env={CONTENT_VARIABLE: wish},
        redact=lambda text: text.replace("secret", "***"),
    )
    note = MessageCommitted("t", user_message("the date", origin="reminder"))
    more = MessageCommitted("t", user_message("a second thought"))
    answer = Message("assistant", (text_block("the secret is out"),), "model")
    said = [*BASH, more, MessageCommitted("t", answer), Terminal("t", "completed")]
    for event in [note, PROMPT, *said]:
        observer.record(event)
    observer.close()
    contents = {span.kind: span.content for span in read_spans(spans_path(tmp_path))}
    assert "secret" not in spans_path(tmp_path).read_text()
    wanted = wish == "1"
    spoken = {"prompt": "my *** plan", "output": "the *** is out"}
    assert contents["interaction"] == (spoken if wanted else {})
    done = {"input": '{"command": "***"}', "output": "***"}
    assert contents["tool"] == (done if wanted else {})
    assert contents["hook"] == contents["blocked_on_user"] == {}


async def test_a_directory_that_is_gone_costs_the_spans_and_nothing_else(tmp_path: Path) -> None:
    observer = Observer(tmp_path / "nowhere", env={}, redact=str)
    observer.record(PROMPT)
    observer.record(Terminal("t", "completed"))
    observer.close()


async def test_the_sweep_runs_only_while_something_is_open(tmp_path: Path) -> None:
    loop = asyncio.get_running_loop()
    observer = Observer(tmp_path, env={}, redact=str)
    observer.record(PROMPT)
    timers = _timers(loop)
    assert len(timers) == 1
    assert timers[0] <= loop.time() + SWEEP_INTERVAL_S
    observer.record(Terminal("t", "completed"))
    observer.close()
    assert _timers(loop) == []


def _timers(loop: asyncio.AbstractEventLoop) -> list[float]:
    scheduled = getattr(loop, "_scheduled")  # noqa: B009 - there is no public way to count timers
    return [timer.when() for timer in scheduled if not timer.cancelled()]


def test_the_background_keeps_order_and_close_waits_for_all() -> None:
    taken: list[int] = []
    background: SinkThread[int] = SinkThread(taken.append, name="test")
    for number in range(MANY):
        background(number)
    background.close()
    background.close()
    background(MANY)
    assert taken == list(range(MANY))


def test_the_debug_log_is_private_and_redacted_and_only_so_many_are_kept(tmp_path: Path) -> None:
    directory = debug_path(tmp_path, "x").parent
    directory.mkdir(parents=True)
    for number in range(MAX_LOGS + 5):
        (directory / f"old-{number}.log").touch()
    path = debug_path(tmp_path, "mine")
    log = DebugLog(path, redact=lambda text: text.replace("hush", "***"))
    logging.getLogger("agent.somewhere").debug("the key is hush\nsecond line")
    log.event(LoggedEvent("tool", 1.0, {"elapsed_s": 2}))
    log.close()
    logging.getLogger("agent.somewhere").debug("too late")
    text = path.read_text()
    assert "the key is ***\n    second line" in text
    assert '"event": "tool"' in text
    assert "too late" not in text
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len(list(directory.glob("*.log"))) == MAX_LOGS


def test_the_ledger_adds_up_over_sessions_days_and_programs(tmp_path: Path) -> None:
    path = ledger_path(tmp_path)
    one, other = Ledger(path), Ledger(path)
    usage = Usage(input_tokens=10, output_tokens=5)
    one.add(LedgerEntry("a", date(2026, 1, 30), "m", 1.0, usage))
    one.add(LedgerEntry("a", date(2026, 1, 30), "m", 0.5, usage))
    other.add(LedgerEntry("b", date(2026, 1, 31), "m", 0.25, usage))
    other.add(LedgerEntry("b", date(2025, 12, 31), "n", 4.0, usage))
    assert one.sums(date(2026, 1, 31)) == Sums(0.25, 1.75, 5.75, 2)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_ledger_that_is_no_database_costs_the_sums_alone(tmp_path: Path) -> None:
    path = ledger_path(tmp_path)
    path.write_bytes(b"not a database at all, only some text that stands here" * 100)
    ledger = Ledger(path)
    ledger.add(LedgerEntry("a", date(2026, 1, 1), "m", 1.0, Usage()))
    assert ledger.failure is not None
    assert ledger.sums(date(2026, 1, 1)) == Sums()
