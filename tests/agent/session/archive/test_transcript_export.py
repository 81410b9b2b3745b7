"""Exports hold the whole conversation, and nothing of it can act in the reader's program."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent.messages import (
    Message,
    text_block,
    tool_result_block,
    tool_results_message,
    user_message,
)
from agent.session.archive.summaries import summarize
from agent.session.archive.transcript_export import ExportFormat, export
from agent.session.record_json import to_json
from agent.session.records import (
    AgentRecord,
    CompactionRecord,
    MessageRecord,
    NoticeRecord,
    PromptRecord,
    Record,
    SessionHeader,
    TitleRecord,
    TombstoneRecord,
    UsageRecord,
)
from agent.session.repair import check, repair
from agent.session.resume import load
from agent.session.store import SessionStore
from agent.session.transcript import Transcript

EVIL = "<script>alert(1)</script>\x1b]0;owned\x07"


def conversation(path: Path) -> Path:
    call = {"type": "tool_use", "id": "a", "name": "Bash", "input": {"command": "ls"}}
    gone = Message("assistant", (text_block("WITHDRAWN"),), "model", uid="gone")
    records: list[Record] = [
        SessionHeader("id", "/p", "/p", "1"),
        MessageRecord(user_message(f"look {EVIL}")),
        MessageRecord(gone),
        TombstoneRecord("gone", "retry"),
        MessageRecord(Message("assistant", (text_block("I look"), call), "model")),
        MessageRecord(tool_results_message([tool_result_block("a", "```\nfenced\n```")])),
        CompactionRecord((user_message("sum", origin="summary"),), "sum", "auto", state={}),
        NoticeRecord("info", "a notice"),
        MessageRecord(Message("assistant", (text_block("done"),), "model")),
    ]
    with Transcript.create(path) as transcript:
        for record in records:
            transcript.append(to_json(record))
    return path


@pytest.mark.parametrize("form", ["markdown", "html", "json"])
def test_all_that_was_said_is_there_in_order(tmp_path: Path, form: ExportFormat) -> None:
    text = export(conversation(tmp_path / "s.jsonl"), form)
    places = [text.index(part) for part in ("look", "I look", "fenced", "done")]
    assert places == sorted(places)
    assert "WITHDRAWN" not in text


@pytest.mark.parametrize("form", ["markdown", "html", "json"])
def test_messages_of_agents_are_behind_their_calls(tmp_path: Path, form: ExportFormat) -> None:
    """Also those of an agent of an agent, and of one whose call is not there."""
    path = conversation(tmp_path / "s.jsonl")
    inner = {"type": "tool_use", "id": "b", "name": "Agent", "input": {}}
    for agent_id, call, part in (("one", "a", inner), ("two", "b", None), ("odd", "?", None)):
        parts = (text_block(f"{agent_id} speaks"), *([part] if part is not None else []))
        with Transcript.create(tmp_path / "s" / "agents" / f"{agent_id}.jsonl") as transcript:
            transcript.append(to_json(AgentRecord(agent_id, "explore", "d", call)))
            transcript.append(to_json(MessageRecord(Message("assistant", parts, "model"))))
    text = export(path, form)
    order = ("I look", "one speaks", "two speaks", "fenced", "done", "odd speaks")
    places = [text.index(part) for part in order]
    assert places == sorted(places)


@pytest.mark.parametrize("form", ["markdown", "html"])
def test_a_form_for_reading_begins_with_the_user(tmp_path: Path, form: ExportFormat) -> None:
    path = tmp_path / "s.jsonl"
    with Transcript.create(path) as transcript:
        for message in (
            user_message("<system-reminder>NOTE</system-reminder>", origin="reminder"),
            user_message("HOOKED", origin="hook"),
            user_message("hello"),
            user_message("[Request interrupted by user]", origin="interruption"),
        ):
            transcript.append(to_json(MessageRecord(message)))
    text = export(path, form)
    assert "NOTE" not in text
    assert "HOOKED" not in text
    assert "hello" in text
    assert "Interrupted." in text
    assert "NOTE" in export(path, "json")


def test_a_command_of_the_user_reads_as_one(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    note = "<bash-input>ls</bash-input>\n<bash-output>a.txt\n</bash-output>"
    with Transcript.create(path) as transcript:
        transcript.append(to_json(MessageRecord(user_message(note))))
    text = export(path, "markdown")
    assert "$ ls\na.txt" in text
    assert "<bash" not in text.partition("\n")[2]


def test_a_page_runs_nothing(tmp_path: Path) -> None:
    text = export(conversation(tmp_path / "s.jsonl"), "html")
    assert "<script" not in text
    assert "&lt;script&gt;" in text
    assert "default-src 'none'" in text


@pytest.mark.parametrize("form", ["markdown", "html"])
def test_control_sequences_are_gone(tmp_path: Path, form: ExportFormat) -> None:
    text = export(conversation(tmp_path / "s.jsonl"), form)
    assert "\x1b" not in text
    assert "owned" not in text


def test_a_fence_inside_a_result_does_not_end_its_block(tmp_path: Path) -> None:
    text = export(conversation(tmp_path / "s.jsonl"), "markdown")
    assert "````\n```\nfenced\n```\n````" in text


def test_json_holds_the_blocks_as_they_are(tmp_path: Path) -> None:
    data = json.loads(export(conversation(tmp_path / "s.jsonl"), "json"))
    assert data["session_id"] == "id"
    assert data["messages"][0]["content"][0]["text"] == f"look {EVIL}"
    assert [m["role"] for m in data["messages"]] == ["user", "assistant", "user", "assistant"]


def test_a_damaged_transcript_is_checked_and_mended(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    session = store.create(Path("/p"))
    for text in ("one", "two", "three"):
        session.transcript.append(to_json(MessageRecord(user_message(text))))
    session.close()
    assert check(session.id, session.path).is_whole
    assert repair(store, session.id).backup is None
    damaged = session.path.read_bytes().replace(b'"two"', b'"TWO"') + b"torn"
    session.path.write_bytes(damaged)
    report = repair(store, session.id)
    assert (report.good, report.damaged, report.torn_bytes) == (3, 1, 4)
    assert report.backup is not None
    assert report.backup.read_bytes() == damaged
    assert check(session.id, session.path).is_whole
    assert [m.text for m in load(session.path).messages] == ["one", "three"]
    assert sorted(p.name for p in session.path.parent.iterdir()) == sorted(
        [f".{session.id}.lock", f"{session.id}.jsonl", f"{session.id}.jsonl.damaged"]
    )


def test_a_summary_reads_the_beginning_and_the_end(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    session = store.create(Path("/p"))
    add = session.transcript.append
    add(to_json(PromptRecord("t", "fix the parser\nplease")))
    add(to_json(MessageRecord(user_message("fix the parser\nplease"))))
    add(to_json(MessageRecord(Message("assistant", (text_block("fixed"),), "model"))))
    session.close()
    (info,) = store.list()
    summary = summarize(info)
    assert (summary.title, summary.last_answer) == ("fix the parser", "fixed")
    assert summary.last_prompt == "fix the parser\nplease"
    session = store.open(info.id)
    session.transcript.append(to_json(TitleRecord("Parser")))
    session.close()
    assert summarize(store.get(info.id)).title == "Parser"


def test_usage_is_part_of_the_summary(tmp_path: Path) -> None:
    from agent.events import Usage

    store = SessionStore(tmp_path)
    session = store.create(Path("/p"))
    session.transcript.append(to_json(UsageRecord(Usage(), 1.5, 10)))
    session.close()
    (info,) = store.list()
    assert (summarize(info).cost_usd, summarize(info).title) == (1.5, "")
