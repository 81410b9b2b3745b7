"""Going back: the prompts on offer, and the history at each of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.errors import SessionError
from agent.messages import Message, text_block, user_message
from agent.prompt.shell_command_note import note_of
from agent.session import resume
from agent.session.record_json import to_json
from agent.session.records import CompactionRecord, MessageRecord, RewindRecord
from agent.session.rewind import history_before, rewind_points
from agent.session.store import Session, SessionStore

ONE, TWO, THREE, FOUR = (user_message(text) for text in ("one", "two", "three", "four"))
ANSWERS = [Message("assistant", (text_block(f"answer {n}"),), "model") for n in range(4)]
SUMMARY = user_message("summary", origin="summary")


def say(session: Session, *messages: Message) -> None:
    for message in messages:
        turn = f"turn-{message.text}"
        session.transcript.append(to_json(MessageRecord(message, turn)))


@pytest.fixture
def session(tmp_path: Path) -> Session:
    session = SessionStore(tmp_path).create(tmp_path)
    say(session, ONE, ANSWERS[0], TWO, ANSWERS[1])
    return session


def texts(session: Session) -> list[str]:
    return [point.text for point in rewind_points(session.path)]


def test_every_prompt_is_a_point_with_its_turn(session: Session) -> None:
    first, second = rewind_points(session.path)
    assert (first.message_uid, first.turn_id, first.text) == (ONE.uid, "turn-one", "one")
    assert (second.text, second.is_compacted) == ("two", False)


def test_the_history_before_a_prompt_is_without_it(session: Session) -> None:
    assert history_before(session.path, TWO.uid) == (ONE, ANSWERS[0])
    assert history_before(session.path, ONE.uid) == ()
    with pytest.raises(SessionError, match="no longer in this session"):
        history_before(session.path, "nowhere")


def test_after_going_back_the_later_prompts_are_gone(session: Session) -> None:
    kept = history_before(session.path, TWO.uid)
    session.transcript.append(to_json(RewindRecord(ANSWERS[0].uid, kept)))
    assert texts(session) == ["one"]
    say(session, THREE, ANSWERS[2])
    assert texts(session) == ["one", "three"]
    assert resume.load(session.path).messages == (ONE, ANSWERS[0], THREE, ANSWERS[2])


def test_a_point_behind_a_compaction_brings_everything_back(session: Session) -> None:
    session.transcript.append(to_json(CompactionRecord((SUMMARY,), "s", "auto", state={})))
    say(session, THREE, ANSWERS[2], FOUR)
    points = rewind_points(session.path)
    assert [(p.text, p.is_compacted) for p in points] == [
        ("one", True),
        ("two", True),
        ("three", False),
        ("four", False),
    ]
    assert history_before(session.path, FOUR.uid) == (SUMMARY, THREE, ANSWERS[2])
    kept = history_before(session.path, TWO.uid)
    session.transcript.append(to_json(RewindRecord(ANSWERS[0].uid, kept)))
    assert texts(session) == ["one"]
    assert resume.load(session.path).messages == (ONE, ANSWERS[0])


def test_going_back_to_right_after_a_compaction(session: Session) -> None:
    session.transcript.append(to_json(CompactionRecord((SUMMARY,), "s", "auto", state={})))
    say(session, THREE)
    session.transcript.append(to_json(RewindRecord(SUMMARY.uid, (SUMMARY,))))
    assert texts(session) == ["one", "two"]
    session.transcript.append(to_json(RewindRecord(None, ())))
    assert texts(session) == []
    assert resume.load(session.path).messages == ()


def test_what_stood_in_front_of_a_prompt_goes_with_it(session: Session) -> None:
    note = user_message("note", origin="reminder")
    say(session, note, THREE)
    assert history_before(session.path, THREE.uid) == (ONE, ANSWERS[0], TWO, ANSWERS[1])


def test_a_command_of_the_user_is_offered_as_it_was_typed(session: Session) -> None:
    say(session, user_message(note_of("git diff --stat", " 1 file changed\n", 0)))
    assert texts(session) == ["one", "two", "!git diff --stat"]
