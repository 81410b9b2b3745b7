"""Which protected names are found, and which of them a run made."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent.sandbox.protected import protected_names
from agent.sandbox.protected.protected_names import NameSearch


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("a/b", "c", "node_modules/x"):
        (tmp_path / name).mkdir(parents=True)
    return tmp_path


def _names(root: Path, paths: list[str]) -> list[str]:
    return sorted(os.path.relpath(path, root) for path in paths)


def test_names_are_found_at_any_depth_but_not_in_packages(root: Path) -> None:
    for name in (".npmrc", "a/b/.Envrc", "node_modules/x/.npmrc"):
        (root / name).write_text("x")
    found = NameSearch().find(str(root), str(root))
    assert _names(root, list(found.names)) == [".npmrc", "a/b/.Envrc"]
    assert found.is_complete


def test_what_was_made_is_what_was_not_there(root: Path) -> None:
    search = NameSearch()
    (root / "c" / ".npmrc").write_text("x")
    before = search.find(str(root), str(root))
    for name in ("a/b/.npmrc", "c/.npmrc", "new/.envrc", "new/repo/.npmrc"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x")
    (root / "a" / ".vscode").mkdir()
    (root / "new" / "repo" / ".git").mkdir()
    made = list(search.find(str(root), str(root)).made_since(before))
    assert _names(root, made) == ["a/b/.npmrc", "new/.envrc"]


def test_a_repository_in_a_directory_that_was_there_excuses_nothing(root: Path) -> None:
    search = NameSearch()
    before = search.find(str(root), str(root))
    (root / "a").rename(root / "moved")
    for name in ("c", "moved"):
        (root / name / ".git").mkdir()
        (root / name / ".npmrc").write_text("x")
    made = list(search.find(str(root), str(root)).made_since(before))
    assert _names(root, made) == ["c/.npmrc", "moved/.npmrc"]


def test_many_new_directories_hide_nothing_where_others_were(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protected_names, "MAX_DIRECTORIES", 10)
    search = NameSearch()
    before = search.find(str(root), str(root))
    for number in range(50):
        (root / "a" / f"{number}").mkdir()
    (root / "a" / "b" / ".npmrc").write_text("x")
    made = list(search.find(str(root), str(root)).made_since(before))
    assert _names(root, made) == ["a/b/.npmrc"]


def test_what_was_too_much_to_look_at_is_not_taken_for_new(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protected_names, "MAX_DIRECTORIES", 3)
    (root / "a" / "b" / ".npmrc").write_text("x")
    search = NameSearch()
    before = search.find(str(root), str(root))
    assert not before.is_complete
    monkeypatch.setattr(protected_names, "MAX_DIRECTORIES", 10)
    (root / "c" / ".envrc").write_text("x")
    made = list(search.find(str(root), str(root)).made_since(before))
    assert _names(root, made) == ["c/.envrc"]


def test_the_directory_of_the_command_is_looked_at_first(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protected_names, "MAX_DIRECTORIES", 3)
    (root / "a" / "b" / ".npmrc").write_text("x")
    found = NameSearch().find(str(root), str(root / "a" / "b"))
    assert _names(root, list(found.names)) == ["a/b/.npmrc"]
