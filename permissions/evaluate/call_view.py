"""What the parts of one call share."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from msgspec import Struct

from permissions.context import PermissionContext
from permissions.matching.match_bash import has_scoped_restriction
from permissions.matching.match_tool import Anchors
from permissions.mode import Mode
from permissions.paths.file_view import FileView, for_one_decision, is_unchanged
from permissions.rules.rule_set import RuleBehavior, RuleSet
from permissions.scope.scope import Floor, Scope


class CallView(Struct, dict=True):
    """The state one call is evaluated in. Directories are resolved when a part names a file."""

    context: PermissionContext
    mode: Mode
    rules: RuleSet
    base: str
    """The shell's current directory, absolute."""
    tool_input: Mapping[str, object]
    budget: Floor | None

    @cached_property
    def is_restricted(self) -> bool:
        """Is there a deny or ask rule about some commands?"""
        return has_scoped_restriction(self.rules)

    @cached_property
    def guards_files(self) -> bool:
        """Is there a deny or ask rule about files?"""
        return any(
            tool in self.rules.index(behavior).by_tool
            for behavior in (RuleBehavior.DENY, RuleBehavior.ASK)
            for tool in ("Read", "Edit")
        )

    @cached_property
    def scope(self) -> Scope:
        """The working directories."""
        return Scope.of(self.context, self.mode, self._files)

    @cached_property
    def anchors(self) -> Anchors:
        """Where path patterns start."""
        return Anchors(self.context, self.base, self._files)

    @property
    def is_unchanged(self) -> bool:
        """Would the disk answer all that was asked of it as it did?"""
        return "_files" not in vars(self) or is_unchanged(self._files)

    @cached_property
    def _files(self) -> FileView:
        return for_one_decision(self.context.files)
