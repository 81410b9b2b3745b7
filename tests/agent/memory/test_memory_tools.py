"""The tools of the agent that looks for facts reach the files of the memory, and nothing else."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from agent.memory.extraction import ask_for
from agent.memory.facts import INDEX, Fact, FactStore
from agent.memory.memory_tools import MAX_NOTES, MemoryFiles, memory_tools
from agent.tools.base import ToolError

TODAY = date(2026, 11, 23)
FACT = "---\ntype: feedback\n---\nNever use tabs.\n"


@pytest.fixture
def store(tmp_path: Path) -> FactStore:
    return FactStore(tmp_path / "project", tmp_path / "everywhere")


@pytest.fixture
def files(store: FactStore, tmp_path: Path) -> MemoryFiles:
    return MemoryFiles(store, tmp_path / "session" / "notes.md", TODAY)


def path(store: FactStore, name: str) -> str:
    return str(store.directory / f"{name}.md")


def test_facts_are_written_edited_read_and_removed(files: MemoryFiles, store: FactStore) -> None:
    assert files.read(path(store, "no-tabs")) == ""
    files.write(path(store, "no-tabs"), FACT)
    assert files.read(path(store, "no-tabs")) == FACT
    files.edit(path(store, "no-tabs"), "Never use", "Do not use")
    assert store.all() == (Fact("feedback", "no-tabs", "Do not use tabs."),)
    assert "no-tabs" in files.read(str(store.directory / INDEX))
    files.write(path(store, "no-tabs"), "")
    assert store.all() == ()


def test_a_fact_about_the_user_is_stored_for_every_project(
    files: MemoryFiles, store: FactStore
) -> None:
    files.write(path(store, "role"), "---\ntype: user\n---\nA biologist.")
    assert (store.everywhere / "role.md").exists()
    assert not (store.directory / "role.md").exists()


def test_notes_are_a_file_of_their_own(files: MemoryFiles, tmp_path: Path) -> None:
    notes = str(tmp_path / "session" / "notes.md")
    assert files.read(notes) == ""
    files.write(notes, "x" * (MAX_NOTES + 5))
    assert files.read(notes) == "x" * MAX_NOTES
    assert files.has_notes
    assert not files.has_changed


@pytest.mark.parametrize("kind", ["gossip", "", "[user]"])
def test_the_kinds_of_facts_are_four(files: MemoryFiles, store: FactStore, kind: str) -> None:
    with pytest.raises(ToolError, match="user, feedback, project or reference"):
        files.write(path(store, "x"), f"---\ntype: {kind}\n---\nWords.")
    assert store.all() == ()


@pytest.mark.parametrize(
    "name", ["/etc/passwd", "{d}/../other.md", "{d}/A.md", "{d}/x.txt", "{d}/MEMORY.md", "x.md"]
)
def test_no_other_file_is_written(files: MemoryFiles, store: FactStore, name: str) -> None:
    with pytest.raises(ToolError, match="Only the files of the memory"):
        files.write(name.format(d=store.directory), FACT)
    assert not store.directory.exists()


def test_no_other_file_is_read(files: MemoryFiles, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("hunter2")
    with pytest.raises(ToolError, match="Only the files of the memory"):
        files.read(str(tmp_path / "secret.md"))


def test_an_ambiguous_edit_changes_nothing(files: MemoryFiles, store: FactStore) -> None:
    files.write(path(store, "no-tabs"), FACT)
    with pytest.raises(ToolError, match="occur once"):
        files.edit(path(store, "no-tabs"), "e", "x")
    assert files.read(path(store, "no-tabs")) == FACT


def test_there_are_three_tools(files: MemoryFiles) -> None:
    assert sorted(tool.name for tool in memory_tools(files).all()) == ["Edit", "Read", "Write"]


def test_the_question_has_the_rules_of_the_taxonomy(store: FactStore, tmp_path: Path) -> None:
    store.save(Fact("feedback", "no-tabs", "Never use tabs."), TODAY)
    notes = tmp_path / "notes.md"
    text = ask_for(store, notes, store.index(TODAY), count=3, turns=5, today=TODAY).text
    assert "at most 5 answers" in text
    assert "first answer make all the reads" in text
    assert "what they corrected, and also what they confirmed" in text
    assert "absolute dates only, today is 2026-11-23" in text
    assert "Never what code, its history or a file says" in text
    assert "- [feedback] no-tabs: Never use tabs." in text
    assert all(str(place) in text for place in (store.directory, store.everywhere, notes))
