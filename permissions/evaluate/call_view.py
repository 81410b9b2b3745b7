"""The state that the parts of one call share."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from msgspec import Struct

from permissions.confinement import SandboxLevel
from permissions.context import PermissionContext
from permissions.matching.match_tool import Anchors
from permissions.mode import Mode
from permissions.paths.file_view import FileView, RealFiles, for_one_decision
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
    floor: Floor | None
    """The floor of every part: an exceeded budget, a request to leave the sandbox."""
    is_bash: bool = False
    runs_inside: bool = False
    """The call runs inside the sandbox, whatever allows it."""
    works_inside: bool = False
    """The call runs inside the sandbox without a question, as the user configured."""
    leaves: bool = False
    """The call asks to run outside the sandbox."""
    is_confined: bool = False
    """Whatever allows the call, it runs confined: files of deny rules are hidden from it."""

    @property
    def level(self) -> SandboxLevel:
        """How much this machine enforces."""
        return self.context.sandbox.level

    @property
    def may_be_confined(self) -> bool:
        """Whether only a user's answer or exact rule can let it run unconfined."""
        is_open = self.mode is Mode.BYPASS or self.leaves
        return self.is_bash and self.level is SandboxLevel.FULL and not is_open

    @property
    def plan_runs(self) -> bool:
        """Whether plan mode runs the command, confined so that it cannot write."""
        return self.is_bash and self.mode is Mode.PLAN and self.level is SandboxLevel.FULL

    @property
    def relies_on_sandbox(self) -> bool:
        """Whether the sandbox covers what the analysis of the command leaves open."""
        return self.works_inside or self.plan_runs

    @cached_property
    def is_restricted(self) -> bool:
        """Whether there is a deny or ask rule about some commands."""
        from permissions.matching.match_bash import has_scoped_restriction  # with the first command

        return has_scoped_restriction(self.rules)

    @cached_property
    def guards_files(self) -> bool:
        """Whether there is a deny or ask rule about files."""
        return self._asks_or_denies(RuleBehavior.DENY) or self.asks_about_files

    @cached_property
    def asks_about_files(self) -> bool:
        """Whether there is an ask rule about files, which no sandbox can apply."""
        return self._asks_or_denies(RuleBehavior.ASK)

    def _asks_or_denies(self, behavior: RuleBehavior) -> bool:
        by_tool = self.rules.index(behavior).by_tool
        return "Read" in by_tool or "Edit" in by_tool

    @cached_property
    def scope(self) -> Scope:
        """The working directories."""
        return Scope.of(self.context, self.mode, self._files)

    @cached_property
    def anchors(self) -> Anchors:
        """The anchors of path patterns."""
        return Anchors(self.context, self.base, self._files)

    @property
    def is_unchanged(self) -> bool:
        """Whether all queried files are unchanged on disk; False for a simulated tree."""
        if "_files" not in vars(self):
            return True
        return isinstance(self._files, RealFiles) and self._files.is_unchanged()

    @cached_property
    def _files(self) -> FileView:
        return for_one_decision(self.context.files)
