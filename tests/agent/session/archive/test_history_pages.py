"""The past read from its end: every message once, in order, whatever was taken back."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from agent.display import DiffDisplay, TextDisplay
from agent.messages import Message, text_block, tool_result_block, tool_results_message
from agent.messages import user_message as said
from agent.session.archive import history_pages as pages
from agent.session.archive.history_pages import PAGE_ITEMS, HistoryPage, SessionPages
from agent.session.record_json import to_json
from agent.session.records import (
    CompactionRecord,
    MessageRecord,
    Record,
    RewindRecord,
    TombstoneRecord,
    ToolEnd,
)
from agent.session.shown_json import CONTEXT_LINES, diff_from_json, diff_to_json
from agent.session.transcript import Transcript


def written(path: Path, *records: Record | Message) -> SessionPages:
    with Transcript.create(path) as transcript:
        for record in records:
            fact = MessageRecord(record) if isinstance(record, Message) else record
            transcript.append(to_json(fact))
    return SessionPages(path)


def everything(past: SessionPages) -> list[HistoryPage]:
    found: list[HistoryPage] = []
    while not past.is_at_start:
        found.insert(0, past.older())
    return found


def texts(found: list[HistoryPage]) -> list[str]:
    return [item.text for page in found for item in page.items if isinstance(item, Message)]


def test_pages_from_the_end_hold_every_message_once(tmp_path: Path) -> None:
    count = PAGE_ITEMS * 3 + 7
    past = written(tmp_path / "s.jsonl", *(said(str(number)) for number in range(count)))
    found = everything(past)
    assert texts(found) == [str(number) for number in range(count)]
    assert len(found) == 4
    assert past.older() == HistoryPage(())


def test_a_call_stays_with_its_result_and_its_change(tmp_path: Path) -> None:
    call = {"type": "tool_use", "id": "a", "name": "Edit", "input": {}}
    change = {"path": "f", "old": "x", "new": "y", "is_new": False, "first_line": 9}
    result = tool_result_block("a", "done")
    past = written(
        tmp_path / "s.jsonl",
        Message("assistant", (text_block("I edit"), call), "model"),
        ToolEnd("a", "Edit", result, "ok", change=change),
        tool_results_message([result]),
        *(said("more") for _ in range(PAGE_ITEMS - 1)),
    )
    page = past.older()
    assert isinstance(page.items[0], Message)
    assert page.items[0].text == "I edit"
    assert page.calls["a"].display == DiffDisplay("f", "x", "y", first_line=9)


def test_what_was_taken_back_is_passed_over(tmp_path: Path) -> None:
    one, two, three, four = (said(text) for text in ("one", "two", "three", "four"))
    found = everything(
        written(
            tmp_path / "s.jsonl",
            one,
            two,
            RewindRecord(one.uid),
            three,
            TombstoneRecord(three.uid, "retry"),
            four,
        )
    )
    assert texts(found) == ["one", "four"]
    again = written(tmp_path / "t.jsonl", one, RewindRecord(None), two)
    assert texts(everything(again)) == ["two"]


def test_what_a_compaction_replaced_is_shown_and_its_copies_are_not(tmp_path: Path) -> None:
    one, two = said("one"), said("two")
    history = (said("the summary", origin="summary"), two)
    found = everything(
        written(tmp_path / "s.jsonl", one, two, CompactionRecord(history, "s", "auto"), said("end"))
    )
    assert texts(found) == ["one", "two", "end"]
    assert sum(isinstance(i, CompactionRecord) for page in found for i in page.items) == 1


def test_a_rewind_to_a_summary_shows_what_was_before_it(tmp_path: Path) -> None:
    one, gone = said("one"), said("gone")
    summary = said("the summary", origin="summary")
    compaction = CompactionRecord((summary,), "s", "auto")
    past = written(tmp_path / "s.jsonl", one, compaction, gone, RewindRecord(summary.uid))
    assert texts(everything(past)) == ["one"]


def test_a_page_ends_with_its_bytes(tmp_path: Path) -> None:
    past = written(tmp_path / "s.jsonl", *(said("x" * pages.PAGE_BYTES) for _ in range(3)))
    assert len(everything(past)) > 1


LINES = st.lists(st.sampled_from(["a", "b", "", "long line"]), max_size=12).map("\n".join)


@given(LINES, LINES)
def test_a_kept_change_says_the_same(old: str, new: str) -> None:
    data = diff_to_json(DiffDisplay("f", old, new))
    if old == new:
        assert data is None
        return
    kept = diff_from_json(data)
    assert kept is not None
    before = old.split("\n")[: kept.first_line - 1]
    assert new.split("\n")[: kept.first_line - 1] == before
    assert old.split("\n")[kept.first_line - 1 :][: len(kept.old.split("\n"))] == kept.old.split(
        "\n"
    )
    assert new.split("\n")[kept.first_line - 1 :][: len(kept.new.split("\n"))] == kept.new.split(
        "\n"
    )


def test_a_large_file_is_kept_as_the_lines_around_its_change() -> None:
    old = [f"line {number}" for number in range(5_000)]
    new = [*old[:2_000], "another", *old[2_001:]]
    kept = diff_from_json(diff_to_json(DiffDisplay("f", "\n".join(old), "\n".join(new))))
    assert kept is not None
    assert kept.first_line == 2_001 - CONTEXT_LINES
    assert len(kept.old.split("\n")) == 2 * CONTEXT_LINES + 1


def test_what_is_no_change_is_not_kept() -> None:
    assert diff_to_json(TextDisplay("x")) is None
    assert diff_from_json({"path": "f", "old": "x", "new": 3, "first_line": 1}) is None
    assert diff_from_json({"path": "f", "old": "x", "new": "y", "first_line": 0}) is None
