"""When a command runs inside the sandbox because the user works there, and when it asks to
leave."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from permissions.confinement import SandboxLevel
from permissions.context import PermissionContext, SandboxState
from permissions.decision import Behavior, Reason
from permissions.mode import Mode
from permissions.rules.rule_set import RuleBehavior, RuleSet, RuleSource, RuleText
from permissions.scope.scope import Floor

_LEAVE = "dangerouslyDisableSandbox"


def asks_to_leave(state: SandboxState, tool_input: Mapping[str, object]) -> bool:
    """Return whether a Bash call asks to run outside the sandbox; False if that is switched off."""
    return state.allow_unsandboxed and tool_input.get(_LEAVE) not in (None, False)


def leave_floor(mode: Mode) -> Floor | None:
    """Return the floor of such a call: a user answers it, in every mode but bypassPermissions."""
    if mode is Mode.BYPASS:
        return None
    return Floor(
        Behavior.ASK, Reason.UNSANDBOXED, "asks to run outside the sandbox, where nothing limits it"
    )


def runs_inside(
    context: PermissionContext, mode: Mode, tool_input: Mapping[str, object], directory: str
) -> bool:
    """Return whether a Bash call runs inside the sandbox, asked about or not. Pure.

    False in plan mode, which has its own confinement, and if a part of the command is excluded:
    then all of it runs outside, after the ordinary permission check.
    """
    state = context.sandbox
    if not state.runs_inside or state.level is not SandboxLevel.FULL or mode is Mode.PLAN:
        return False
    if asks_to_leave(state, tool_input):
        return False
    command = tool_input.get("command")
    if not state.excluded_commands or not isinstance(command, str):
        return True
    # Imported only for excluded commands: the command parser is a large part of the package.
    from permissions.matching.match_bash import first_restriction
    from permissions.shell.analyze import analyze
    from permissions.shell.syntax import Unparsable

    facts = analyze(command, directory, str(context.home))
    excluded_rules = _rules(state.excluded_commands)
    return isinstance(facts, Unparsable) or not any(
        first_restriction(excluded_rules, RuleBehavior.DENY, one, tool_input) for one in facts
    )


@lru_cache(maxsize=8)
def _rules(patterns: tuple[str, ...]) -> RuleSet:
    texts = [RuleText(f"Bash({one})", RuleBehavior.DENY, RuleSource.USER) for one in patterns]
    return RuleSet.build(texts)[0]
