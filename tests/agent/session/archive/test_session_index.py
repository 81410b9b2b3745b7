"""Search finds what was said, follows growing files, and is never the truth."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.messages import Message, text_block, user_message
from agent.session.archive.session_index import (
    MARK_END,
    MARK_START,
    SearchHit,
    SessionIndex,
    scan,
    search_all,
)
from agent.session.record_json import to_json
from agent.session.records import MessageRecord, PromptRecord, TitleRecord
from agent.session.store import SessionStore


@pytest.fixture
def store(tmp_path: Path) -> SessionStore:
    return SessionStore(tmp_path)


@pytest.fixture
def index(tmp_path: Path) -> Iterator[SessionIndex]:
    index = SessionIndex(tmp_path / "cache" / "sessions.db")
    yield index
    index.close()


def talk(store: SessionStore, *texts: str, session_id: str = "") -> str:
    session = store.open(session_id) if session_id else store.create(Path("/project"))
    for text in texts:
        session.transcript.append(to_json(PromptRecord("t", text)))
        session.transcript.append(to_json(MessageRecord(user_message(text))))
        answer = Message("assistant", (text_block(f"about {text}"),), "model")
        session.transcript.append(to_json(MessageRecord(answer)))
    session.close()
    return session.id


def plain(hit: SearchHit) -> str:
    return hit.snippet.replace(MARK_START, "").replace(MARK_END, "")


def test_words_are_found_in_any_case_with_or_without_accents(
    store: SessionStore, index: SessionIndex
) -> None:
    found = talk(store, "Größe der Fenster ändern")
    talk(store, "something else")
    assert index.refresh(store.list()) == 2
    hits = index.search("grosse fenster") or index.search("größe fenster")
    assert {hit.session_id for hit in hits} == {found}
    assert {hit.role for hit in hits} == {"user", "assistant"}
    assert hits[0].title == "Größe der Fenster ändern"
    assert hits[0].project_dir == "/project"


def test_the_last_word_may_be_a_beginning(store: SessionStore, index: SessionIndex) -> None:
    talk(store, "refactor the parser")
    index.refresh(store.list())
    assert index.search("the pars")
    assert not index.search("pars the")


def test_only_what_is_new_is_read_again(store: SessionStore, index: SessionIndex) -> None:
    session_id = talk(store, "first words")
    index.refresh(store.list())
    assert index.refresh(store.list()) == 0
    talk(store, "second words", session_id=session_id)
    assert index.refresh(store.list()) == 1
    assert len(index.search("words")) == 4
    assert len(index.search("second")) == 2


def test_a_session_that_is_gone_leaves_the_index(store: SessionStore, index: SessionIndex) -> None:
    session_id = talk(store, "forget me")
    index.refresh(store.list())
    store.delete(session_id)
    index.refresh(store.list())
    assert index.search("forget") == ()


def test_a_replaced_file_is_read_afresh(store: SessionStore, index: SessionIndex) -> None:
    session_id = talk(store, "old text")
    index.refresh(store.list())
    path = store.get(session_id).path
    copy = path.with_suffix(".new")
    copy.write_bytes(path.read_bytes().replace(b"old text", b"new text"))
    os.replace(copy, path)  # the checksums no longer hold: nothing of it counts
    index.refresh(store.list())
    assert index.search("text") == ()


def test_titles_are_found(store: SessionStore, index: SessionIndex) -> None:
    session_id = talk(store, "hello")
    session = store.open(session_id)
    session.transcript.append(to_json(TitleRecord("Renamed thing")))
    session.close()
    index.refresh(store.list())
    (hit,) = index.search("renamed")
    assert (hit.role, hit.title) == ("title", "Renamed thing")


@pytest.mark.parametrize("content", [b"", b"not a database", b"SQLite format 3\0" + b"x" * 5000])
def test_a_broken_index_is_made_again(store: SessionStore, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "broken.db"
    path.write_bytes(content)
    talk(store, "hello")
    index = SessionIndex(path)
    index.refresh(store.list())
    assert index.search("hello")
    index.close()


def test_the_index_is_private(index: SessionIndex, tmp_path: Path) -> None:
    assert stat.S_IMODE((tmp_path / "cache" / "sessions.db").stat().st_mode) == 0o600


def test_without_an_index_the_files_are_searched(store: SessionStore) -> None:
    session_id = talk(store, "needle in hay")
    hits = list(scan(store.list(), "NEEDLE hay"))
    assert {hit.session_id for hit in hits} == {session_id}
    assert "needle in hay" in plain(hits[0])
    assert list(scan(store.list(), " ")) == []


@given(st.text())
def test_nothing_a_user_types_is_an_operator(words: str) -> None:
    _shared.search(words)


_shared: SessionIndex


def setup_module() -> None:
    import tempfile

    global _shared
    _shared = SessionIndex(Path(tempfile.mkdtemp(), "index.db"))


def teardown_module() -> None:
    import shutil

    _shared.close()
    shutil.rmtree(_shared._path.parent)


def test_a_search_works_with_and_without_a_place_for_the_index(
    store: SessionStore, tmp_path: Path
) -> None:
    session_id = talk(store, "needle in hay")
    (tmp_path / "file").write_text("in the way")
    for cache in (tmp_path / "fresh", tmp_path / "file"):
        hits = search_all(store.list(), "needle hay", cache_dir=cache)
        assert {hit.session_id for hit in hits} == {session_id}
