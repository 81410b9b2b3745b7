"""A transcript read from its end to its beginning, and on while it grows."""

from __future__ import annotations

from pathlib import Path

from agent.messages import Message, text_block, user_message
from agent.session.archive.transcript_pages import page_after, page_before
from agent.session.record_json import to_json
from agent.session.records import MessageRecord
from agent.session.transcript import Transcript

COUNT = 40


def words(number: int) -> str:
    return f"answer {number:03}"


def transcript_at(path: Path) -> Path:
    with Transcript.create(path) as transcript:
        for number in range(COUNT):
            said = Message("assistant", (text_block(words(number)),), "model")
            transcript.append(to_json(MessageRecord(said)))
    return path


def test_pages_lead_from_the_end_to_the_beginning_and_miss_nothing(tmp_path: Path) -> None:
    path = transcript_at(tmp_path / "a.jsonl")
    pages = [page_before(path, None, chars=100)]
    assert words(COUNT - 1) in pages[0].text
    assert words(0) not in pages[0].text
    while pages[0].start:
        pages.insert(0, page_before(path, pages[0].start, chars=100))
        assert pages[0].end == pages[1].start
    whole = "\n\n".join(page.text for page in pages)
    assert [words(number) in whole for number in range(COUNT)] == [True] * COUNT
    assert whole.count("answer") == COUNT
    assert len(pages) > 3


def test_what_is_added_is_read_alone_and_a_line_that_is_not_whole_waits(tmp_path: Path) -> None:
    path = transcript_at(tmp_path / "a.jsonl")
    end = page_before(path, None, chars=10).end
    assert end == path.stat().st_size
    assert page_after(path, end).text == ""
    with Transcript.open(path) as transcript:
        transcript.append(to_json(MessageRecord(user_message("And the pear."))))
    size = path.stat().st_size
    with path.open("ab") as file:
        file.write(b'{"seq": 99')
    added = page_after(path, end)
    assert ("And the pear." in added.text, "answer" in added.text) == (True, False)
    assert added.end == size
    assert page_before(path, None, chars=10).end == size
