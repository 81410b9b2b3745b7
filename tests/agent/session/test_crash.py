"""SIGKILL at any moment: what was acknowledged is there, and a resume is valid."""

from __future__ import annotations

import random
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest

from agent.history import problems
from agent.messages import user_message
from agent.session import resume
from agent.session.record_json import to_json
from agent.session.record_lines import Line
from agent.session.records import CompactionRecord, MessageRecord, ModeRecord
from agent.session.transcript import Transcript

ROOT = Path(__file__).parents[3]

# Writes a tool-heavy conversation and says after each durable record that it is on the disk.
WRITER = """
import sys
from pathlib import Path
from agent.messages import Message, tool_result_block, tool_results_message, user_message
from agent.session.records import (MessageRecord, ToolEnd, ToolStart)
from agent.session.record_json import (to_json)
from agent.session.transcript import Transcript

transcript = Transcript.open(Path(sys.argv[1]))
def keep(record):
    seq = transcript.next_seq
    transcript.append(to_json(record), sync=True)
    print(seq, flush=True)

for number in range(100000):
    call = {"type": "tool_use", "id": f"{transcript.next_seq}", "name": "Bash", "input": {}}
    keep(MessageRecord(user_message("x" * (number * 37 % 9000))))
    keep(MessageRecord(Message("assistant", (call,), "model")))
    keep(ToolStart(call["id"], "Bash"))
    block = tool_result_block(call["id"], "y" * (number * 91 % 9000))
    keep(ToolEnd(call["id"], "Bash", block, "ok"))
    keep(MessageRecord(tool_results_message([block])))
    keep(MessageRecord(Message("assistant", ({"type": "text", "text": "done"},), "model")))
"""


def test_a_killed_process_loses_nothing_it_had_acknowledged(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    Transcript.create(path).close()
    rng = random.Random(20260131)
    for _ in range(6):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path)], cwd=ROOT, stdout=subprocess.PIPE
        )
        assert writer.stdout is not None
        acknowledged = -1
        for _ in range(rng.randrange(1, 60)):
            acknowledged = int(writer.stdout.readline())
        writer.kill()
        acknowledged = max([acknowledged, *map(int, _whole_lines(writer.stdout.read()))])
        writer.wait()
        writer.stdout.close()
        got = resume.load(path)
        assert problems((*got.messages, user_message("go on"))) == ()
        with Transcript.open(path) as transcript:
            seqs = [line.seq for line in transcript.records() if isinstance(line, Line)]
        assert seqs == list(range(len(seqs)))
        assert len(seqs) > acknowledged


def _whole_lines(data: bytes) -> list[bytes]:
    return data[: data.rfind(b"\n") + 1].split()


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("big") / "s.jsonl"
    with Transcript.create(path) as transcript:
        line = to_json(MessageRecord(user_message("x" * 20_000)))
        for _ in range(1_000):
            transcript.append(line)
        kept = (user_message("summary", origin="summary"),)
        transcript.append(to_json(CompactionRecord(kept, "s", "auto", state={})))
        transcript.append(to_json(ModeRecord("plan")))
    assert path.stat().st_size > 20_000_000
    return path


def test_a_resume_does_not_hold_a_large_transcript_in_memory(big: Path) -> None:
    tracemalloc.start()
    try:
        got = resume.load(big)
        seen = resume.tail(big, limit=5)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert [m.text for m in got.messages] == ["summary"]
    assert len(seen) == 5
    assert peak < 2_000_000
