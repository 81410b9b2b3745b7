"""Facts outlive a session: of four kinds, bounded, and never from what is not a fact."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

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


def test_facts_about_the_user_count_in_every_project(tmp_path: Path) -> None:
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


def test_an_index_that_is_too_long_is_reported() -> None:
    many = [Fact("project", f"f{n}", "x") for n in range(MAX_INDEX_LINES + 5)]
    lines = index_of(many).splitlines()
    assert len(lines) == MAX_INDEX_LINES + 1
    assert "5 more" in lines[-1]
    long = [Fact("project", f"f{n}", "x" * MAX_TEXT) for n in range(100)]
    assert len(index_of(long).encode()) < MAX_INDEX_BYTES + 200
    assert "more facts" in index_of(long)


@pytest.fixture
def index(store: FactStore) -> Path:
    store.save(Fact("feedback", "no-tabs", "Never use tabs."), TODAY)
    store.save(Fact("project", "due", "By 2026-12-01."), TODAY)
    store.write_index()
    return store.directory / INDEX


def test_lines_of_the_index_are_edited_like_facts(store: FactStore, index: Path) -> None:
    text = index.read_text().replace("Never use tabs.", "Tabs in Makefiles only.")
    index.write_text(f"{text}# mine\n- [user] role: A biologist.\n- Answer in short sentences\n")
    assert "role: A biologist." in store.index(TODAY)
    assert {fact.name: fact.text for fact in store.all()} == {
        "no-tabs": "Tabs in Makefiles only.",
        "due": "By 2026-12-01.",
        "role": "A biologist.",
        "answer-in-short-sentences": "Answer in short sentences",
    }
    assert (store.everywhere / "role.md").exists()
    assert index.read_text() == store.index(TODAY)


def test_a_line_removed_from_the_index_removes_its_fact(store: FactStore, index: Path) -> None:
    # A fact that another session stored meanwhile is not in the user's copy, and stays.
    store.save(Fact("project", "new", "Stored meanwhile."), TODAY)
    index.write_text("- [project] due: By 2026-12-01.\n")
    store.index(TODAY)
    assert {fact.name for fact in store.all()} == {"due", "new"}


def test_an_index_that_is_gone_removes_nothing(store: FactStore, index: Path) -> None:
    index.unlink()
    store.index(TODAY)
    assert len(store.all()) == 2


def test_a_fact_edited_in_its_file_is_in_the_index_again(store: FactStore, index: Path) -> None:
    (store.directory / "due.md").write_text("---\ntype: project\n---\nBy 2027-01-01.")
    store.index(TODAY)
    assert "2027-01-01" in index.read_text()
