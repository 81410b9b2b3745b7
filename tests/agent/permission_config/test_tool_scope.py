"""The working directories at the moment of use."""

from __future__ import annotations

from pathlib import Path

from agent.permission_config.tool_scope import WorkingDirectories
from permissions.context import PermissionContext
from permissions.mode import Mode
from permissions.rule import RuleSet


def test_f14_what_cannot_be_followed_is_outside(tmp_path: Path, unreadable_link: Path) -> None:
    (tmp_path / "link").symlink_to(unreadable_link)
    context = PermissionContext(Mode.DEFAULT, RuleSet.build(())[0], tmp_path, tmp_path, tmp_path)
    scope = WorkingDirectories(lambda: context)
    assert not scope.is_inside(tmp_path / "link")
    assert not scope.may_write(tmp_path / "link")
    assert scope.may_write(tmp_path / "file")
