"""Facts outlive a session: of four kinds, bounded, and never from what is not a fact."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.memory.extraction import MAX_NOTES, read_answer
from agent.memory.facts import (
    INDEX,
    MAX_FACTS,
    MAX_INDEX_BYTES,
    MAX_INDEX_LINES,
    MAX_TEXT,
    Fact,
    FactStore,
    index_of,
)

TODAY = date(2026, 11, 21)


@pytest.fixture
def store(tmp_path: Path) -> FactStore:
    return FactStore(
        tmp_path / "project",
        tmp_path / "everywhere",
        redact=lambda text: text.replace("hunter2", "[redacted]"),
    )


def test_a_fact_is_there_again(store: FactStore) -> None:
    assert store.save(Fact("feedback", "no-tabs", "Never\nuse tabs."), TODAY)
    assert store.all() == (Fact("feedback", "no-tabs", "Never use tabs."),)
    assert store.index() == "- [feedback] no-tabs: Never use tabs.\n"
    assert store.save(Fact("feedback", "no-tabs", "Tabs in Makefiles only."), TODAY)
    assert [fact.text for fact in store.all()] == ["Tabs in Makefiles only."]
    assert store.forget("no-tabs")
    assert not store.forget("no-tabs")
    assert store.all() == ()


def test_facts_about_the_person_count_in_every_project(tmp_path: Path) -> None:
    everywhere = tmp_path / "everywhere"
    FactStore(tmp_path / "a", everywhere).save(Fact("user", "role", "A biologist."), TODAY)
    FactStore(tmp_path / "a", everywhere).save(Fact("project", "due", "By 2026-12-01."), TODAY)
    assert [fact.name for fact in FactStore(tmp_path / "b", everywhere).all()] == ["role"]


def test_secrets_and_control_sequences_are_not_kept(store: FactStore) -> None:
    store.save(Fact("project", "x", "the password is hunter2 \x1b]0;owned\x07"), TODAY)
    text = (store.directory / "x.md").read_text()
    assert "hunter2" not in text
    assert "\x1b" not in text
    assert (store.directory / "x.md").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("name", ["", "../x", "A", "a/b", ".a", "a" * 61, "MEMORY"])
def test_a_name_cannot_lead_elsewhere(store: FactStore, tmp_path: Path, name: str) -> None:
    assert not store.save(Fact("project", name, "text"), TODAY)
    assert not store.forget(name)
    assert not list(tmp_path.rglob("*.md"))


def test_there_is_an_end_to_facts(store: FactStore) -> None:
    store.directory.mkdir()
    for number in range(MAX_FACTS):
        (store.directory / f"f{number}.md").write_text("---\ntype: project\n---\nx")
    assert not store.save(Fact("project", "another", "x"), TODAY)
    assert store.save(Fact("project", "f1", "y"), TODAY)


def test_files_that_are_no_facts_are_passed_over(store: FactStore) -> None:
    store.directory.mkdir()
    (store.directory / "plain.md").write_text("no head")
    (store.directory / "odd.md").write_text("---\ntype: secret\n---\nx")
    (store.directory / "empty.md").write_text("---\ntype: project\n---\n")
    (store.directory / "bytes.md").write_bytes(b"\xff\xfe\x00")
    (store.directory / "good.md").write_text("---\ntype: project\n---\nwritten by hand")
    assert [fact.name for fact in store.all()] == ["good"]
    store.write_index()
    assert (store.directory / INDEX).read_text() == "- [project] good: written by hand\n"


def test_an_index_too_long_says_so() -> None:
    many = [Fact("project", f"f{n}", "x") for n in range(MAX_INDEX_LINES + 5)]
    lines = index_of(many).splitlines()
    assert len(lines) == MAX_INDEX_LINES + 1
    assert "5 more" in lines[-1]
    long = [Fact("project", f"f{n}", "x" * MAX_TEXT) for n in range(100)]
    assert len(index_of(long).encode()) < MAX_INDEX_BYTES + 200
    assert "more facts" in index_of(long)


def test_an_answer_says_what_to_keep() -> None:
    found = read_answer(
        "Here you are:\n```json\n"
        '{"op": "save", "type": "user", "name": "role", "text": "A biologist."}\n'
        '{"op": "save", "type": "gossip", "name": "x", "text": "y"}\n'
        '{"op": "forget", "name": "old"},\n'
        '{"op": "notes", "text": "Goal: a parser."}\n'
        '{"op": "save", "type": "user"\n'
        "```"
    )
    assert found.save == (Fact("user", "role", "A biologist."),)
    assert found.forget == ("old",)
    assert found.notes == "Goal: a parser."


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
KEYS = st.sampled_from(["op", "type", "name", "text", "other"])
VALUES = JSON | st.sampled_from(["save", "forget", "notes", "user", "project"])


@given(st.lists(st.text(max_size=20) | st.dictionaries(KEYS, VALUES).map(json.dumps)))
def test_any_answer_is_read(lines: list[str]) -> None:
    found = read_answer("\n".join(lines))
    assert len(found.notes) <= MAX_NOTES
    assert all(fact.type in {"user", "project"} for fact in found.save)
