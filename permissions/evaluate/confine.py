"""The confinement that makes the reason of an allow true. Pure."""

from __future__ import annotations

from permissions.confinement import Confinement, SandboxLevel, can_hold
from permissions.evaluate.call_view import CallView
from permissions.mode import Mode
from permissions.rules.rule_set import Rule, RuleSource

_BY_USERS = frozenset({RuleSource.LOCAL, RuleSource.USER, RuleSource.CLI, RuleSource.SESSION})
"""Sources that hold the user's own approvals; others write policy and project files."""


def confinement_of_rule(rule: Rule, command: str | None) -> Confinement:
    """Return the confinement that an allow rule requires.

    Args:
        command: The simple command that it covers; None where the rule does not determine what
            runs: for a file, for another tool, and in another directory, where the same words run
            other files.
    """
    from permissions.matching.match_bash import names_exactly  # with the first command

    is_exact = command is not None and names_exactly(rule, command)
    if is_exact and rule.source in _BY_USERS:
        return Confinement.NONE
    return Confinement.PROJECT_FILES


def narrow(confinement: Confinement, view: CallView) -> Confinement:
    """Return the confinement, narrowed where the mode or the user restricts every command."""
    if view.mode is Mode.PLAN and (view.level is SandboxLevel.FULL or not view.is_bash):
        return Confinement.READ_ONLY
    if view.is_bash and view.context.sandbox.is_read_only:
        return Confinement.READ_ONLY
    if view.works_inside:
        return Confinement.PROJECT
    is_wider = view.runs_inside and confinement is not Confinement.READ_ONLY
    return Confinement.PROJECT if is_wider else confinement


def is_enforced(confinement: Confinement, view: CallView) -> bool:
    """Return whether this machine enforces the confinement. Other tools than Bash comply
    themselves."""
    return not view.is_bash or can_hold(view.level, confinement)


def is_whole(confinement: Confinement, view: CallView) -> bool:
    """Return whether it enforces all of the confinement; at level `files`, no file is hidden."""
    is_open = confinement is Confinement.NONE or not view.is_bash
    return is_open or view.level is SandboxLevel.FULL
