"""A conversation rebuilt: whatever the transcript lost, the history is one the API accepts."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agent.display import TodoItem
from agent.events import Usage
from agent.history import problems, to_wire
from agent.messages import (
    Message,
    text_block,
    tool_result_block,
    tool_results_message,
    user_message,
)
from agent.session import resume
from agent.session.record_json import to_json
from agent.session.records import (
    CompactionRecord,
    DraftRecord,
    GrantsRecord,
    MessageRecord,
    ModeRecord,
    PromptRecord,
    QueueRecord,
    Record,
    RequestRecord,
    RewindRecord,
    SessionHeader,
    TerminalRecord,
    TitleRecord,
    TodosRecord,
    TombstoneRecord,
    ToolEnd,
    ToolStart,
    UsageRecord,
)
from agent.session.transcript import Transcript
from agent.session.validity import OUTCOME_UNKNOWN


def answer(*blocks: dict[str, Any], uid: str = "") -> Message:
    content = blocks or (text_block("done"),)
    extra = {"uid": uid} if uid else {}
    return Message("assistant", tuple(content), "model", model="m", **extra)


def call(call_id: str, name: str = "Bash") -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": {}}


def thinking(text: str = "hm") -> dict[str, Any]:
    return {"type": "thinking", "thinking": text, "signature": "sig"}


def write(path: Path, *records: Record) -> Path:
    with Transcript.create(path) as transcript:
        transcript.append(to_json(SessionHeader("id", "/p", "/p", "1")))
        for record in records:
            transcript.append(to_json(record))
    return path


def said(*messages: Message) -> list[Record]:
    return [MessageRecord(message) for message in messages]


def test_a_clean_session_comes_back_whole(tmp_path: Path) -> None:
    messages = [
        user_message("fix it"),
        answer(thinking(), call("a")),
        tool_results_message([tool_result_block("a", "ok")]),
        answer(),
    ]
    usage = UsageRecord(Usage(10, 5, cache_read_tokens=3), 0.25, 18, "m", {"m": 1})
    path = write(
        tmp_path / "s.jsonl",
        PromptRecord("t", "fix it"),
        *said(*messages),
        usage,
        GrantsRecord((("allow", "Bash(ls)"),)),
        ModeRecord("plan"),
        TodosRecord(({"content": "x", "status": "in_progress", "active_form": "xing"},)),
        QueueRecord(("next",)),
        DraftRecord("half"),
        TitleRecord("Fixing"),
        TerminalRecord("t", "completed"),
    )
    got = resume.load(path)
    assert got.messages == tuple(messages)
    assert (got.usage, got.cost_usd, got.context_tokens) == (Usage(10, 5, 3), 0.25, 18)
    assert (got.mode, got.queued_prompts, got.draft, got.title) == (
        "plan",
        ("next",),
        "half",
        "Fixing",
    )
    assert got.grants.grants == (("allow", "Bash(ls)"),)
    assert got.todos == (TodoItem("x", "in_progress", "xing"),)
    assert (got.notes, got.unfinished_turn, got.model) == ((), None, "m")


def test_a_call_that_was_running_gets_an_unknown_outcome(tmp_path: Path) -> None:
    path = write(
        tmp_path / "s.jsonl",
        PromptRecord("t", "go"),
        *said(user_message("go"), answer(call("a"), call("b", "Read"), call("c", "Edit"))),
        ToolStart("a", "Bash"),
        ToolStart("b", "Read"),
        ToolEnd("b", "Read", tool_result_block("b", "text"), "ok"),
    )
    got = resume.load(path)
    blocks = got.messages[-1].content
    assert [block["tool_use_id"] for block in blocks] == ["a", "b", "c"]
    assert blocks[0]["content"] == OUTCOME_UNKNOWN
    assert blocks[1]["content"] == "text"
    assert "Not run" in blocks[2]["content"]
    assert got.unfinished_turn == "t"
    assert "outcome unknown: Bash" in got.notes[0]
    assert "Edit" in got.notes[1]


def test_an_answer_that_never_arrived_is_reported(tmp_path: Path) -> None:
    path = write(
        tmp_path / "s.jsonl",
        PromptRecord("t", "go"),
        *said(user_message("go")),
        RequestRecord("t", 1, "m"),
    )
    got = resume.load(path)
    assert got.messages == (got.messages[0],)
    assert any("not finished" in note for note in got.notes)


def test_a_prompt_that_the_model_was_not_sent_waits_again(tmp_path: Path) -> None:
    # Killed while a hook looked at it: it is neither in the history nor among what waits.
    began = [PromptRecord("t", "go"), *said(user_message("a note", origin="reminder"))]
    path = write(tmp_path / "a.jsonl", *began, QueueRecord(("next",)))
    assert resume.load(path).queued_prompts == ("go", "next")
    path = write(tmp_path / "b.jsonl", *began, *said(user_message("go")))
    assert resume.load(path).queued_prompts == ()
    path = write(tmp_path / "c.jsonl", *began, TerminalRecord("t", "stop_hook_prevented"))
    assert resume.load(path).queued_prompts == ()


def test_a_tombstone_takes_its_message_back(tmp_path: Path) -> None:
    path = write(
        tmp_path / "s.jsonl",
        *said(user_message("go"), answer(uid="gone")),
        TombstoneRecord("gone", "retry"),
    )
    assert [m.role for m in resume.load(path).messages] == ["user"]


def test_reading_stops_at_a_compaction_that_carries_the_state(tmp_path: Path) -> None:
    kept = user_message("kept")
    path = write(
        tmp_path / "s.jsonl",
        *said(user_message("old"), answer()),
        CompactionRecord(
            (user_message("summary", origin="summary"), kept, answer()),
            "summary",
            "auto",
            state={"mode": to_json(ModeRecord("plan"))},
        ),
        *said(user_message("new")),
    )
    data = path.read_bytes()
    # What stands before the compaction is not even looked at.
    path.write_bytes(data.replace(b'"text":"old"', b'"text":"bad"'))
    got = resume.load(path)
    assert [m.text for m in got.messages] == ["summary", "kept", "done", "new"]
    assert (got.mode, got.notes) == ("plan", ())
    assert got.header is not None


def test_the_window_in_use_is_that_after_a_compaction_or_a_rewind(tmp_path: Path) -> None:
    first = user_message("one")
    usage = UsageRecord(Usage(90_000, 5), 0.25, 90_005)
    summary = (user_message("sum", origin="summary"),)
    compaction = CompactionRecord(
        summary, "sum", "auto", tokens_after=800, state={"usage": to_json(usage)}
    )
    path = write(tmp_path / "a.jsonl", *said(first, answer()), usage, compaction)
    assert resume.load(path).context_tokens == 800
    assert resume.load(path).cost_usd == 0.25
    path = write(tmp_path / "b.jsonl", *said(first, answer()), compaction, usage)
    assert resume.load(path).context_tokens == 90_005
    path = write(tmp_path / "c.jsonl", *said(first, answer()), usage, RewindRecord(first.uid))
    assert resume.load(path).context_tokens == 0


def test_a_rewind_is_followed_also_behind_a_compaction(tmp_path: Path) -> None:
    first, second = user_message("one"), user_message("two")
    path = write(tmp_path / "s.jsonl", *said(first, answer(), second), RewindRecord(first.uid))
    assert resume.load(path).messages == (first,)
    path = write(
        tmp_path / "t.jsonl",
        *said(first, answer()),
        CompactionRecord((user_message("sum", origin="summary"),), "sum", "auto", state={}),
        RewindRecord(first.uid, (first,)),
        *said(second),
    )
    assert resume.load(path).messages == (first, second)


def test_thinking_after_a_lost_message_goes(tmp_path: Path) -> None:
    path = write(
        tmp_path / "s.jsonl",
        *said(
            user_message("one"),
            answer(thinking(), text_block("a")),
            user_message("LOST"),
            answer(thinking(), text_block("b")),
        ),
    )
    path.write_bytes(path.read_bytes().replace(b"LOST", b"lost"))
    got = resume.load(path)
    kinds = [[b["type"] for b in m.content] for m in got.messages]
    assert kinds == [["text"], ["thinking", "text"], ["text"]]
    assert "1 damaged" in got.notes[0]


def test_a_redacted_message_takes_the_thinking_with_it(tmp_path: Path) -> None:
    path = write(
        tmp_path / "s.jsonl",
        MessageRecord(user_message("key [redacted: K]"), redacted=True),
        MessageRecord(answer(thinking(), text_block("b"))),
    )
    assert [b["type"] for b in resume.load(path).messages[1].content] == ["text"]


def test_messages_of_sub_agents_stay_out(tmp_path: Path) -> None:
    path = write(
        tmp_path / "s.jsonl",
        *said(user_message("go")),
        MessageRecord(user_message("inner"), agent_id="x"),
        MessageRecord(answer(call("z")), agent_id="x"),
    )
    assert [m.text for m in resume.load(path).messages] == ["go"]


def test_the_tail_pages_backwards(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", *(ModeRecord(str(n)) for n in range(10)))
    last = resume.tail(path, limit=3)
    assert [r.mode for _, r in last if isinstance(r, ModeRecord)] == ["7", "8", "9"]
    before = resume.tail(path, limit=2, end=last[0][0])
    assert [r.mode for _, r in before if isinstance(r, ModeRecord)] == ["5", "6"]


BLOCKS = st.sampled_from([text_block("t"), text_block(""), thinking(), *(call(i) for i in "abcd")])
RESULTS = st.sampled_from([tool_result_block(i, "r") for i in "abcd"] + [text_block("note")])
MESSAGES = st.one_of(
    st.just(user_message("hi")),
    st.lists(BLOCKS, max_size=4).map(lambda b: Message("assistant", tuple(b), "model")),
    st.lists(RESULTS, max_size=4).map(lambda b: Message("user", tuple(b), "tool")),
)
RECORDS = st.one_of(
    MESSAGES.map(MessageRecord),
    st.sampled_from("abcd").map(lambda i: ToolStart(i, "Bash")),
    st.sampled_from("abcd").map(lambda i: ToolEnd(i, "Bash", tool_result_block(i, "r"), "ok")),
    st.just(RewindRecord(None)),
    st.lists(MESSAGES, max_size=3).map(lambda m: CompactionRecord(tuple(m), "s", "auto", state={})),
)


@given(st.lists(RECORDS, max_size=12), st.data())
def test_any_records_with_any_damage_make_a_valid_history(
    records: list[Record], data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as directory:
        path = write(Path(directory, "s.jsonl"), *records)
        raw = bytearray(path.read_bytes())
        for _ in range(data.draw(st.integers(0, 3))):
            raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
        cut = data.draw(st.integers(0, len(raw)))
        path.write_bytes(raw[: cut if data.draw(st.booleans()) else len(raw)])
        got = resume.load(path)
    # What the user types next makes it a request that may be sent.
    assert problems((*got.messages, user_message("go on"))) == ()


def test_a_second_resume_sends_the_same_bytes_as_the_first(tmp_path: Path) -> None:
    crashed: list[Record] = [
        *said(user_message("go"), answer(thinking(), call("a"), call("b"))),
        ToolStart("a", "Bash"),
    ]
    path = write(tmp_path / "s.jsonl", *crashed)
    first = resume.load(path)
    later = [user_message("go on"), answer(thinking("again"), text_block("ok"))]
    with Transcript.open(path) as transcript:
        for record in said(*later):
            transcript.append(to_json(record))
    second = resume.load(path)
    # Thinking of the later answer is bound to what the first resume had sent.
    assert to_wire(second.messages) == to_wire((*first.messages, *later))
    assert len(first.notes) == 2
    assert second.notes == ()
