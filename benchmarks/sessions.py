"""The cost of sessions: writing an event, resuming a large transcript, compacting a long history.

Measured without a terminal: `python -m benchmarks sessions`.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Final

from agent.abort import AbortController, AbortSignal
from agent.memory.budget import ContextBudget
from agent.memory.context_manager import ContextManager, ContextManagerPorts
from agent.memory.estimate import total_tokens
from agent.messages import Message, tool_result_block, tool_results_message, user_message
from agent.session.record_json import to_json
from agent.session.records import MessageRecord
from agent.session.store import SessionStore
from agent.session.transcript import Transcript
from benchmarks.figures import Figure

APPENDS: Final = 300
TRANSCRIPT_BYTES: Final = 50_000_000
HISTORY_TOKENS: Final = 200_000
TAIL_ITEMS: Final = 60
TICK_S: Final = 0.001

# A separate process, because its whole memory is measured.
_RESUME: Final = """
import resource, sys, time
from pathlib import Path
from agent.session.archive.history_pages import SessionPages
from agent.session.resume import load
path = Path(sys.argv[1])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
start = time.perf_counter()
shown = SessionPages(path).older()
tail_s = time.perf_counter() - start
assert len(shown.items) >= int(sys.argv[2])
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
start = time.perf_counter()
load(path)
print(tail_s, grown / 1024, time.perf_counter() - start)
"""


def measure_sessions(*, quick: bool) -> Iterator[Figure]:
    """Measure in a temporary directory on the disk that usually contains sessions."""
    with tempfile.TemporaryDirectory(prefix="bench-sessions-", dir=Path.home()) as directory:
        yield from _appending(Path(directory), 50 if quick else APPENDS)
        yield from _resuming(Path(directory), TRANSCRIPT_BYTES // (10 if quick else 1))
    yield from asyncio.run(_compacting(HISTORY_TOKENS // (10 if quick else 1)))


def _appending(directory: Path, times: int) -> Iterator[Figure]:
    record = to_json(MessageRecord(user_message("x" * 2_000)))
    took: list[float] = []
    with Transcript.create(directory / "appends.jsonl") as transcript:
        for _ in range(times):
            start = time.perf_counter()
            transcript.append(record, sync=True)
            took.append(time.perf_counter() - start)
        start = time.perf_counter()
        for _ in range(times):
            transcript.append(record)
        alone_s = (time.perf_counter() - start) / times
    took.sort()
    yield Figure("session: append and flush, median", median(took) * 1000, "ms")
    yield Figure("session: append and flush, p95", took[int(times * 0.95)] * 1000, "ms")
    yield Figure("session: append, on the event loop", alone_s * 1000, "ms")


def _resuming(directory: Path, size: int) -> Iterator[Figure]:
    session = SessionStore(directory).create(directory)
    with session.transcript as transcript:
        number = 0
        while session.path.stat().st_size < size:
            for message in _exchange(number, 4_000):
                transcript.append(to_json(MessageRecord(message)))
            number += 1
    ran = subprocess.run(
        [sys.executable, "-c", _RESUME, str(session.path), str(TAIL_ITEMS)],
        capture_output=True,
        check=True,
        text=True,
        cwd=Path(__file__).parents[1],
    )
    tail_s, grown_mb, load_s = (float(text) for text in ran.stdout.split())
    megabytes = session.path.stat().st_size / 1e6
    name = f"session: {megabytes:.0f} MB"
    yield Figure(f"{name}, tail shown after", tail_s * 1000, "ms")
    yield Figure(f"{name}, memory for its tail", grown_mb, "MB")
    yield Figure(f"{name} without a compaction, all of it rebuilt", load_s * 1000, "ms")


def _exchange(number: int, characters: int) -> tuple[Message, ...]:
    call = {
        "type": "tool_use",
        "id": f"toolu_{number}",
        "name": "Read",
        "input": {"file_path": "a"},
    }
    text = f"line {number} of a file that was read\n" * (characters // 35)
    return (
        user_message(f"prompt {number}") if number % 10 == 0 else user_message("go on"),
        Message("assistant", ({"type": "text", "text": "I look."}, call), "model"),
        tool_results_message([tool_result_block(f"toolu_{number}", text)]),
        Message("assistant", ({"type": "text", "text": "Seen. " * 20},), "model"),
    )


class _Summary:
    """Returns a summary at once, so that only the rest is measured."""

    async def summarize(
        self, messages: tuple[Message, ...], ask: Message, abort: AbortSignal
    ) -> str:
        return "What was done so far."


async def _compacting(tokens: int) -> list[Figure]:
    history: list[Message] = []
    while total_tokens(history[-40:]) * max(1, len(history) // 40) < tokens:
        history += _exchange(len(history), 8_000)
    keeper = ContextManager(
        ContextManagerPorts(
            budget=lambda: ContextBudget(tokens, 32_000),
            prefix_tokens=lambda: 10_000,
            turn_id=lambda: "bench",
            summary=_Summary(),
        )
    )
    late: list[float] = []
    working = asyncio.ensure_future(
        keeper.before_request(tuple(history), tokens, AbortController().signal)
    )
    start = time.perf_counter()
    while not working.done():
        tick_s = time.perf_counter()
        await asyncio.sleep(TICK_S)
        late.append(time.perf_counter() - tick_s - TICK_S)
    name = f"compaction of {tokens // 1000}k tokens"
    return [
        Figure(f"{name}, without the model", (time.perf_counter() - start) * 1000, "ms"),
        Figure(f"{name}, longest pause for a key", max(late, default=0.0) * 1000, "ms"),
    ]
