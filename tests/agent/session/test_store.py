"""Finding, forking and deleting sessions; ids never become paths."""

from __future__ import annotations

import os
from datetime import UTC
from pathlib import Path

import pytest

from agent.errors import SessionError, SessionLocked
from agent.messages import Block, Message, user_message
from agent.session import resume
from agent.session.archive.find_by_name import find_session
from agent.session.archive.summaries import summarize
from agent.session.record_json import to_json
from agent.session.records import (
    DraftRecord,
    GrantsRecord,
    MessageRecord,
    ModeRecord,
    QueueRecord,
    Record,
    TitleRecord,
    ToolStart,
)
from agent.session.store import Session, SessionStore, _time_of, project_slug, valid_id


def say(session: Session, text: str) -> None:
    session.transcript.append(to_json(MessageRecord(user_message(text))))


@pytest.fixture
def store(tmp_path: Path) -> SessionStore:
    return SessionStore(tmp_path / "home", version="1.0")


def test_a_new_session_begins_with_its_header(store: SessionStore, tmp_path: Path) -> None:
    session = store.create(tmp_path / "project", launch_dir=tmp_path / "project" / "sub")
    session.close()
    header = resume.header_of(session.path)
    assert header is not None
    assert (header.session_id, header.version) == (session.id, "1.0")
    assert header.launch_dir == str(tmp_path / "project" / "sub")


def test_the_latest_session_is_the_last_one_with_a_prompt(
    store: SessionStore, tmp_path: Path
) -> None:
    spoken = store.create(tmp_path)
    say(spoken, "hello")
    spoken.close()
    store.create(tmp_path).close()
    store.create(tmp_path / "other").close()
    latest = store.latest(tmp_path)
    assert latest is not None
    assert latest.id == spoken.id
    assert store.latest(tmp_path / "other") is None
    assert len(store.list()) == 3


def test_a_prompt_that_was_never_sent_can_be_continued(store: SessionStore, tmp_path: Path) -> None:
    begun = store.create(tmp_path)
    begun.transcript.append(to_json(DraftRecord("half a prom")), sync=True)
    begun.close()
    store.create(tmp_path).close()
    latest = store.latest(tmp_path)
    assert latest is not None
    assert latest.id == begun.id


def test_a_draft_does_not_take_the_place_of_the_last_conversation(
    store: SessionStore, tmp_path: Path
) -> None:
    spoken = store.create(tmp_path)
    say(spoken, "hello")
    spoken.close()
    begun = store.create(tmp_path)
    begun.transcript.append(to_json(DraftRecord("half a prom")), sync=True)
    at = spoken.path.stat().st_mtime_ns
    os.utime(begun.path, ns=(at + 10**9, at + 10**9))
    latest = store.latest(tmp_path)
    assert latest is not None
    assert latest.id == spoken.id
    assert store.unsent_after(latest) == (), "another process is typing it"
    begun.close()
    assert store.latest(tmp_path) == latest
    assert [info.id for info in store.unsent_after(latest)] == [begun.id]


def test_what_is_no_session_file_is_passed_over(store: SessionStore, tmp_path: Path) -> None:
    spoken = store.create(tmp_path)
    say(spoken, "hello")
    spoken.close()
    directory = store.directory(tmp_path)
    os.mkfifo(directory / "00000000-0000-4000-8000-000000000001.jsonl")
    (directory / "00000000-0000-4000-8000-000000000002.jsonl").mkdir()
    (directory / "00000000-0000-4000-8000-000000000003.jsonl").symlink_to(spoken.path)
    latest = store.latest(tmp_path)
    assert latest is not None
    assert latest.id == spoken.id
    assert [info.id for info in store.list()] == [spoken.id]


def test_a_first_record_that_was_never_finished_is_no_session_to_continue(
    store: SessionStore, tmp_path: Path
) -> None:
    spoken = store.create(tmp_path)
    say(spoken, "hello")
    spoken.close()
    torn = store.create(tmp_path)
    torn.close()
    os.truncate(torn.path, torn.path.stat().st_size - 5)
    at = spoken.path.stat().st_mtime_ns
    os.utime(torn.path, ns=(at + 10**9, at + 10**9))
    latest = store.latest(tmp_path)
    assert latest is not None
    assert latest.id == spoken.id


@pytest.mark.parametrize("seconds", [1e18, -1e18])
def test_a_time_that_no_calendar_has_hides_no_session(seconds: float) -> None:
    assert _time_of(seconds).tzinfo is UTC


def test_the_start_of_an_id_is_enough(store: SessionStore, tmp_path: Path) -> None:
    session = store.create(tmp_path)
    assert store.get(session.id[:8]).id == session.id
    with pytest.raises(SessionError, match=r"There is no session (ffff|0000)\."):
        store.get("ffff" if not session.id.startswith("ffff") else "0000")


@pytest.mark.parametrize("text", ["", "../x", "a/b", "..", "%2e", "abc", "x" * 36, "abcd*"])
def test_what_is_no_id_is_refused(store: SessionStore, text: str) -> None:
    with pytest.raises(SessionError, match="not a session id"):
        store.get(text)


def test_only_a_whole_id_may_name_a_new_session(store: SessionStore, tmp_path: Path) -> None:
    with pytest.raises(SessionError):
        store.create(tmp_path, session_id="../../etc/passwd")
    session = store.create(tmp_path, session_id="01234567-89ab-cdef-0123-456789abcdef")
    session.close()
    with pytest.raises(SessionError, match="cannot be created"):
        store.create(tmp_path, session_id=session.id)
    assert valid_id(session.id.upper()) == session.id


def test_a_fork_copies_what_was_written_but_no_grants(store: SessionStore, tmp_path: Path) -> None:
    session = store.create(tmp_path)
    say(session, "hello")
    granted = GrantsRecord((("allow", "Bash(ls)"),), ("/elsewhere",), ("a.example:8080",))
    session.transcript.append(to_json(granted), sync=True)
    session.transcript.append(to_json(TitleRecord("Name")), sync=True)
    fork = store.fork(session.id)  # while the original is open
    fork.close()
    copy = resume.load(fork.path)
    assert [m.text for m in copy.messages] == ["hello"]
    assert (copy.grants, copy.title, copy.notes) == (GrantsRecord(), "Name", ())
    assert copy.header is not None
    assert (copy.header.session_id, copy.header.forked_from) == (fork.id, session.id)
    assert resume.load(session.path).grants == granted


@pytest.mark.parametrize("added", [None, "draft", "message"])
def test_a_copy_that_no_one_wanted_stays_only_when_it_is_used(
    store: SessionStore, tmp_path: Path, added: str | None
) -> None:
    session = store.create(tmp_path)
    say(session, "hello")
    session.transcript.append(to_json(DraftRecord("half typed there")), sync=True)
    copy = store.fork(session.id, is_wanted=False)
    copy.transcript.append(to_json(ModeRecord("plan")))
    copy.transcript.append(to_json(DraftRecord("half typed" if added == "draft" else "")))
    if added == "message":
        say(copy, "here")
    assert copy.is_unused_copy is (added is None)
    copy.finish()
    assert copy.path.exists() is (added is not None)
    assert copy.directory.exists() is False
    assert store.get(session.id).path == session.path
    wanted = store.fork(session.id)
    wanted.finish()
    assert wanted.path.exists()


def test_a_copy_of_a_running_session_does_not_speak_of_an_end(
    store: SessionStore, tmp_path: Path
) -> None:
    session = store.create(tmp_path)
    say(session, "hello")
    call: Block = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}
    session.transcript.append(to_json(MessageRecord(Message("assistant", (call,), "model"))))
    session.transcript.append(to_json(ToolStart("t1", "Bash", "turn")))
    copy = store.fork(session.id)
    said = "Was running when the copy was made; outcome unknown: Bash. Not run again."
    assert resume.load(copy.path).notes == (said,)
    say(copy, "and on")
    session.close()
    said = "Was running when the program ended; outcome unknown: Bash. Not run again."
    assert resume.load(session.path).notes == (said,)


def test_a_fork_shows_where_the_original_was_damaged(store: SessionStore, tmp_path: Path) -> None:
    session = store.create(tmp_path)
    for text in ("one", "two", "three"):
        say(session, text)
    session.close()
    session.path.write_bytes(session.path.read_bytes().replace(b'"two"', b'"TWO"'))
    fork = store.fork(session.id)
    fork.close()
    seqs = [line.data["seq"] for line in fork.transcript.records() if hasattr(line, "data")]
    assert seqs == [0, 1, 3, 4]


def test_a_session_in_use_is_not_deleted(store: SessionStore, tmp_path: Path) -> None:
    session = store.create(tmp_path)
    with pytest.raises(SessionLocked):
        store.delete(session.id)
    session.close()
    store.delete(session.id)
    assert store.list() == ()


def test_project_directories_do_not_collide(tmp_path: Path) -> None:
    names = {project_slug(Path(p)) for p in ("/a/b-c", "/a/b/c", "/a-b/c", "/ä", "/" + "x" * 900)}
    assert len(names) == 5
    assert all(len(name) < 120 and "/" not in name for name in names)


def test_a_home_that_cannot_be_read_has_no_sessions(tmp_path: Path) -> None:
    (tmp_path / "sessions").write_text("in the way")
    assert SessionStore(tmp_path).list() == ()


def test_deleting_takes_everything_of_a_session(store: SessionStore, tmp_path: Path) -> None:
    session = store.create(tmp_path)
    (session.directory / "files").mkdir(parents=True)
    session.close()
    store.delete(session.id)
    assert list(session.path.parent.iterdir()) == []


def test_where_nothing_can_be_kept_a_session_still_works(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("in the way")
    store = SessionStore(tmp_path / "home")
    with pytest.raises(SessionError):
        store.create(tmp_path)
    session = store.create_unsaved(tmp_path)
    say(session, "hello")
    assert [m.text for m in resume.load(session.path).messages] == ["hello"]
    assert store.list() == ()
    store.root = session.path.parents[1]
    session.close()
    store.delete(session.id)


@pytest.mark.parametrize(
    ("record", "stays"),
    [
        (None, False),
        (ModeRecord("plan"), False),
        (DraftRecord(""), False),
        (DraftRecord("half a thought"), True),
        (QueueRecord(("later",)), True),
        (TitleRecord("Name"), True),
        (MessageRecord(user_message("hi")), True),
    ],
    ids=lambda value: getattr(value, "kind", ""),
)
def test_a_session_in_which_nothing_was_said_leaves_no_file(
    store: SessionStore, tmp_path: Path, record: Record | None, stays: bool
) -> None:
    session = store.create(tmp_path)
    session.directory.mkdir()
    if record is not None:
        session.transcript.append(to_json(record))
    session.finish()
    assert session.path.exists() is stays
    assert stays or list(session.path.parent.iterdir()) == []


def test_a_session_gets_a_name(store: SessionStore, tmp_path: Path) -> None:
    session = store.create(tmp_path)
    with pytest.raises(SessionLocked):
        store.rename(session.id, "x")
    session.close()
    store.rename(session.id, " My session ")
    assert resume.load(session.path).title == "My session"


def test_a_session_that_began_with_an_image_is_listed_by_its_size(store: SessionStore) -> None:
    directory = Path("/home/ada") / ".agent" / "sessions" / ("project-" * 60) / "0123" / "scratch"
    session = store.create(Path("/p"))
    say(session, f"@{directory}/pasted-1234abcd-640x480-38kB.png what is this?")
    session.close()
    (info,) = store.list()
    summary = summarize(info)
    assert summary.title == "[Image 640×480 PNG 38 kB] what is this?"
    assert summary.last_prompt == summary.title


def test_sessions_are_found_by_their_names(store: SessionStore, tmp_path: Path) -> None:
    for title in ("Mend the parser", "Mend the lexer", "Other"):
        session = store.create(tmp_path)
        session.transcript.append(to_json(TitleRecord(title)), sync=True)
        session.close()
    titles = {summarize(info).title: info.id for info in store.list()}
    for text, title in (("other", "Other"), ("mend  the p", "Mend the parser")):
        assert find_session(store, text).id == titles[title]
    assert find_session(store, titles["Other"]).id == titles["Other"]
    with pytest.raises(SessionError, match="Several sessions begin with 'mend'"):
        find_session(store, "mend")
    for text in ("nothing", "", "dead"):
        with pytest.raises(SessionError, match="not a session id or name here"):
            find_session(store, text)
