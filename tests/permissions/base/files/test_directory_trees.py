"""Directories that commands left: thousands of levels, closed, full of links."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from permissions.base.files.directory_trees import remove_tree, walk

DEPTH = 3_000
"""More levels than Python may call itself, and more than fit into a path."""


@pytest.fixture
def deep(tmp_path: Path) -> Iterator[Path]:
    start, top = os.open(".", os.O_RDONLY), tmp_path / "deep"
    top.mkdir()
    os.chdir(top)
    for _ in range(DEPTH):
        Path("x").touch()
        os.mkdir("d")
        os.chdir("d")
    os.fchdir(start)
    os.close(start)
    yield top
    if top.exists():
        remove_tree(top)


def test_a_deep_tree_is_removed(deep: Path) -> None:
    remove_tree(deep)
    assert not deep.exists()


def test_a_deep_tree_is_walked_as_far_as_paths_go(deep: Path) -> None:
    found = list(walk(deep))
    assert len(found) > 1_000
    assert found[0] == (str(deep), ["d"], ["x"])


def test_closed_directories_and_links_go_and_what_they_lead_to_stays(
    tmp_path: Path, bound_by_modes: None
) -> None:
    outside, top = tmp_path / "outside", tmp_path / "top"
    for path in (outside, top / "a" / "b", top / ".hidden"):
        path.mkdir(parents=True)
    (outside / "kept").touch()
    (top / "a" / "link").symlink_to(outside)
    os.mkfifo(top / "a" / "pipe")
    for path, mode in ((top / "a" / "b", 0), (top / "a", 0o111), (top, 0o500)):
        path.chmod(mode)
    remove_tree(top)
    assert not top.exists()
    assert (outside / "kept").exists()


def test_a_link_is_no_directory(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    with pytest.raises(OSError, match="link"):
        remove_tree(tmp_path / "link")
    assert tmp_path.exists()


def test_the_caller_chooses_where_the_walk_goes(tmp_path: Path) -> None:
    for name in ("a/b", "c", "skipped/x"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "a" / "loop").symlink_to(tmp_path)
    places = []
    for where, directories, _ in walk(tmp_path):
        directories[:] = sorted(name for name in directories if name != "skipped")
        places.append(os.path.relpath(where, tmp_path))
    assert places == [".", "a", "a/b", "c"]
    assert list(walk(tmp_path / "none")) == []
