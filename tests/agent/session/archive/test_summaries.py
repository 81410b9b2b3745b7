"""What a picker shows of a session."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from agent.messages import Message, text_block, user_message
from agent.session.archive.summaries import TAIL_RECORDS, summarize
from agent.session.record_json import to_json
from agent.session.records import MessageRecord, Record, SessionHeader, TitleRecord
from agent.session.store import SessionInfo
from agent.session.transcript import Transcript

ANSWERS = [
    MessageRecord(Message("assistant", (text_block(f'no. {n} of "kind":"title"'),), "model"))
    for n in range(TAIL_RECORDS + 1)
]


def title_of(root: Path, *records: Record) -> str:
    path = root / "one.jsonl"
    with Transcript.create(path) as transcript:
        for record in (SessionHeader("one", str(root), str(root), "1"), *records):
            transcript.append(to_json(record))
    return summarize(SessionInfo("one", path, datetime.now(UTC), 0)).title


def test_a_title_counts_however_much_was_said_after_it(tmp_path: Path) -> None:
    prompt = MessageRecord(user_message("fix the tests"))
    titles = (TitleRecord("An early name"), TitleRecord("Fix the stock tests"))
    assert title_of(tmp_path, prompt, *titles, *ANSWERS) == "Fix the stock tests"


def test_a_session_without_a_title_has_its_first_prompt(tmp_path: Path) -> None:
    assert title_of(tmp_path, MessageRecord(user_message("fix the tests")), *ANSWERS) == (
        "fix the tests"
    )
