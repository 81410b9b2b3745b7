"""What the parts of one Bash call share, and what each of them asks of the disk."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace

from permissions.context import PermissionContext
from permissions.evaluate.watch import SCOPE, Answers, Asked, Watch, WatchedAnchors, is_same
from permissions.matching.match_bash import has_scoped_restriction
from permissions.matching.match_tool import Anchors
from permissions.mode import Mode
from permissions.paths.file_view import FileView, for_one_decision
from permissions.rules.rule_set import RuleBehavior, RuleSet
from permissions.scope.scope import Floor, Scope


class Bash(Struct, dict=True):
    """One call. Folders are resolved only when a part names a file."""

    context: PermissionContext
    mode: Mode
    rules: RuleSet
    base: str
    """The shell's current folder, absolute."""
    tool_input: Mapping[str, object]
    budget: Floor | None
    is_watched: bool = False
    """Is what is asked through `scope` and `anchors` kept? It makes them a little slower."""

    @property
    def scope(self) -> Scope:
        """The working directories."""
        if not self.is_watched:
            return self._scope
        self.watch.note(SCOPE, None, self._directories)
        return self._watched_scope

    @property
    def anchors(self) -> Anchors:
        """Where path patterns start."""
        return self._watched_anchors if self.is_watched else self._anchors

    @cached_property
    def watch(self) -> Watch:
        """Keeps what is asked of the disk while `is_watched`."""
        return Watch(self._files)

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

    def still_sees(self, asked: Asked) -> bool:
        """Would the disk answer as it did? Each name is looked at once per decision."""
        return not asked or is_same(asked, self._answers)

    @cached_property
    def _files(self) -> FileView:
        return for_one_decision(self.context.files)

    @cached_property
    def _scope(self) -> Scope:
        return Scope.of(self.context, self.mode, self._files)

    @cached_property
    def _watched_scope(self) -> Scope:
        return replace(self._scope, files=self.watch)

    @cached_property
    def _anchors(self) -> Anchors:
        return Anchors(self.context, self.base, self._files)

    @cached_property
    def _watched_anchors(self) -> WatchedAnchors:
        return WatchedAnchors(self.context, self.base, self._files, self.watch)

    @cached_property
    def _directories(self) -> tuple[tuple[str, ...], ...]:
        return self._scope.roots, self._scope.readable, self._scope.own

    @cached_property
    def _answers(self) -> Answers:
        files = self._files
        return (
            files.realpath,
            files.is_dir,
            files.is_link,
            files.entries,
            lambda key: self._anchors.places(*key),
            lambda _: self._directories,
        )
