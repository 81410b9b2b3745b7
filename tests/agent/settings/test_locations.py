"""Where things are looked for, also without a home."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent.settings.locations import (
    find_agent_home,
    find_home,
    policy_files,
    settings_files,
)
from agent.settings.project_root import find_project_root
from permissions.rule import RuleSource


def test_without_home_the_system_is_asked_and_then_the_root_is_left() -> None:
    assert find_home({"HOME": "/h"}, 1) == Path("/h")
    assert find_home({}, os.getuid()).is_absolute()
    assert find_home({"HOME": "relative"}, 4_000_000_000 - 7) == Path("/")


@pytest.mark.parametrize(("named", "expected"), [("", "/h/.agent"), ("/x", "/x"), ("~/y", "/h/y")])
def test_the_agent_s_home_can_be_moved(named: str, expected: str) -> None:
    env = {"AGENT_TUI_HOME": named} if named else {}
    assert find_agent_home(env, Path("/h")) == Path(expected)


def test_the_innermost_repository_is_the_project(tmp_path: Path) -> None:
    root = Path(os.path.realpath(tmp_path))
    inner = root / "outer" / "inner" / "deep"
    inner.mkdir(parents=True)
    (root / "outer" / ".git").mkdir()
    assert find_project_root(inner) == root / "outer"
    (root / "outer" / "inner" / ".git").write_text("gitdir: elsewhere\n")
    assert find_project_root(inner) == root / "outer" / "inner"
    link = root / "link"
    link.symlink_to(inner)
    assert find_project_root(link) == root / "outer" / "inner"


def test_ours_come_before_those_of_others() -> None:
    places = {"project_root": Path("/p"), "home": Path("/h"), "agent_home": Path("/h/.agent")}
    assert settings_files(RuleSource.USER, **places) == (
        Path("/h/.agent/settings.json"),
        Path("/h/.claude/settings.json"),
    )
    assert settings_files(RuleSource.LOCAL, **places)[0] == Path("/p/.agent/settings.local.json")
    assert settings_files(RuleSource.CLI, **places) == ()


def test_managed_files_come_in_order(tmp_path: Path) -> None:
    assert policy_files(tmp_path) == ()
    drop_ins = tmp_path / "managed-settings.d"
    drop_ins.mkdir()
    for name in ("b.json", "a.json", ".hidden.json", "readme.txt"):
        (drop_ins / name).write_text("{}")
    (tmp_path / "managed-settings.json").write_text("{}")
    assert [path.name for path in policy_files(tmp_path)] == [
        "managed-settings.json",
        "a.json",
        "b.json",
    ]
