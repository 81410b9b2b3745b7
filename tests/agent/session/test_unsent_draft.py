"""Words typed before there was a conversation come back with the next `--continue`."""

from __future__ import annotations

import os
from pathlib import Path

from agent.messages import user_message
from agent.session.prompt_log import PromptLog
from agent.session.record_json import to_json
from agent.session.records import DraftRecord, MessageRecord, QueueRecord
from agent.session.resume import load
from agent.session.store import SessionStore
from agent.session.unsent_draft import remember_unsent, store_unsent, take_over_drafts


def test_what_was_sent_and_what_was_typed_come_back_in_order(tmp_path: Path) -> None:
    home, directory = tmp_path / "home", tmp_path / "repository" / "deep"
    (directory.parent / ".git").mkdir(parents=True)
    directory.mkdir()
    store_unsent(home, directory, ["first", "second"], "half a th", version="1")
    found = SessionStore(home).latest(directory.parent)
    assert found is not None
    resumed = load(found.path)
    assert (resumed.queued_prompts, resumed.draft) == (("first", "second"), "half a th")
    assert resumed.messages == ()
    SessionStore(home).open(found.id).close()  # nobody holds it


def test_of_a_session_that_is_resumed_the_draft_stays(tmp_path: Path) -> None:
    home = tmp_path / "home"
    remember_unsent(home, tmp_path, ["first", "", "second"])
    recent = PromptLog(home, tmp_path).recent(9)
    assert [prompt.text for prompt in recent] == ["second", "first"]
    assert SessionStore(home).list() == ()


def test_a_resumed_conversation_takes_over_what_was_typed_since(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    spoken = store.create(tmp_path)
    spoken.transcript.append(to_json(MessageRecord(user_message("hello"))))
    spoken.transcript.append(to_json(DraftRecord("here")), sync=True)
    spoken.close()
    at = spoken.path.stat().st_mtime_ns
    for step, (queued, text) in enumerate([((), "there"), (("sent",), "half")], 1):
        other = store.create(tmp_path)
        other.transcript.append(to_json(QueueRecord(queued)))
        other.transcript.append(to_json(DraftRecord(text)), sync=True)
        other.close()
        os.utime(other.path, ns=(at + step * 10**9, at + step * 10**9))
    found = store.get(spoken.id)
    session = store.open(spoken.id)
    take_over_drafts(store, found, session)
    assert load(session.path).draft == "here\n\nthere\n\nsent\n\nhalf"
    assert [info.id for info in store.list(tmp_path)] == [spoken.id]
    session.close()
