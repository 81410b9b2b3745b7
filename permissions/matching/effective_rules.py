"""The effective part of a context: the mode after its gates, the rules after trust and policy."""

from __future__ import annotations

from msgspec import Struct

from permissions.context import PermissionContext, is_locked
from permissions.decision import DecisionWarning, WarningType
from permissions.mode import RAISED_MODES, Mode, parse_mode
from permissions.rules.grammar import RuleBehavior
from permissions.rules.rule_set import Rule, RuleSet, RuleSource
from permissions.shell.command_pattern import BashPattern

_PROJECT_SOURCES = frozenset({RuleSource.PROJECT, RuleSource.LOCAL})


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


DANGEROUS_PROGRAMS = _set(
    """
    python python2 python3 pypy pypy3 node nodejs deno bun ruby perl php lua luajit tclsh
    osascript Rscript julia ghci irb groovy scala jshell sh bash zsh dash ksh mksh fish csh tcsh
    ash busybox pwsh powershell cmd npx bunx pnpx uvx pipx tsx ts-node npm pnpm yarn make just
    task rake invoke tox nox eval exec source . sudo doas su env xargs find ssh parallel nohup
    setsid watch docker podman kubectl script expect gdb awk gawk mawk vim vi ed emacs
    """
)
"""Programs that run whatever they are given: wildcard allows for them do not apply in `auto`."""

RUNNER_PREFIXES = (
    "uv run",
    "poetry run",
    "pipenv run",
    "hatch run",
    "cargo run",
    "go run",
    "dotnet run",
    "mise exec",
    "direnv exec",
    "devbox run",
)


RUNNERS = _set("npx bunx pnpx uvx pipx sudo doas env xargs parallel nohup timeout nice eval exec")
"""Single words that run the program that follows them."""


class Effective(Struct, frozen=True):
    """The part of a context that decisions use."""

    mode: Mode
    rules: RuleSet
    warnings: tuple[DecisionWarning, ...]


def effective(context: PermissionContext, *, works_inside: bool = False) -> Effective:
    """Apply gates, policy locks, trust and the restrictions of `auto`. Pure.

    Args:
        works_inside: The call is a command inside the sandbox: ask rules about all of Bash do not
            apply.
    """
    mode, mode_warnings = gated_mode(context)
    rules, rule_warnings = _counting_rules(
        context.rules,
        is_trusted=context.is_trusted,
        managed_only=is_locked(context.policy, "allowManagedPermissionRulesOnly"),
        auto=mode is Mode.AUTO,
        works_inside=works_inside,
    )
    return Effective(mode, rules, (*mode_warnings, *rule_warnings))


def gated_mode(context: PermissionContext) -> tuple[Mode, tuple[DecisionWarning, ...]]:
    """Return the effective mode: default, if the mode is not available."""
    if context.mode is Mode.BYPASS:
        reason = None
        if is_locked(context.policy, "disableBypassPermissionsMode"):
            reason = "managed settings disable bypassPermissions"
        elif not context.bypass_available:
            reason = "bypassPermissions was not made available at launch"
        if reason is not None:
            return Mode.DEFAULT, (
                DecisionWarning(
                    WarningType.BYPASS_UNAVAILABLE, None, None, f"{reason}; using default mode"
                ),
            )
    if context.mode is Mode.AUTO and is_locked(context.policy, "disableAutoMode"):
        return Mode.DEFAULT, (
            DecisionWarning(
                WarningType.MODE_IGNORED,
                None,
                None,
                "managed settings disable auto; using default mode",
            ),
        )
    return context.mode, ()


_MAY_SET_MODE = frozenset({None, "user", "cliArg", "session", "policySettings", "userSettings"})


def requested_mode(
    text: object, requested_by: str | None
) -> tuple[Mode, tuple[DecisionWarning, ...]]:
    """Return the mode that a requester may set; otherwise default, with a warning.

    The user (launch flag, key), user and policy settings may ask for any mode. Project and local
    settings may not set it at all, nor may an unknown requester; hooks and sub-agents may not raise
    it.
    """
    mode = parse_mode(text) if isinstance(text, str) else None
    if mode is None:
        return Mode.DEFAULT, (
            DecisionWarning(
                WarningType.UNKNOWN_MODE,
                requested_by,
                None,
                f"there is no mode {text!r}; using default mode",
            ),
        )
    if mode is Mode.DEFAULT:
        return mode, ()
    may_tighten = requested_by in ("hook", "subagent") and mode not in RAISED_MODES
    if requested_by in _MAY_SET_MODE or may_tighten:
        return mode, ()
    return Mode.DEFAULT, (
        DecisionWarning(
            WarningType.MODE_IGNORED,
            requested_by,
            None,
            f"{requested_by} may not switch to {mode}; using default mode",
        ),
    )


def without_dangerous(rules: RuleSet) -> tuple[RuleSet, tuple[Rule, ...]]:
    """Return the rules that apply in `auto`, and the allow rules that do not."""
    dropped_rules = tuple(rule for rule in rules.rules if is_dangerous_allow(rule))
    if not dropped_rules:
        return rules, ()
    return rules.only(rule for rule in rules.rules if rule not in dropped_rules), dropped_rules


def is_dangerous_allow(rule: Rule) -> bool:
    """Return whether this allow rule would let arbitrary code run without the classifier."""
    if rule.behavior is not RuleBehavior.ALLOW:
        return False
    if rule.tool.matches("Agent"):
        return True
    if not rule.tool.matches("Bash"):
        return False
    pattern = rule.specifier
    if not isinstance(pattern, BashPattern):
        return rule.is_tool_wide
    if pattern.head is None:
        return True
    if pattern.is_exact:
        return False
    program = pattern.head.rpartition("/")[2]
    # With a wildcard in the name (`python*`) the head is None, which is handled above.
    words = pattern.text.replace(":*", " *").split()
    return program in DANGEROUS_PROGRAMS or any(
        " ".join(words).startswith(prefix) for prefix in RUNNER_PREFIXES
    )


_Filtered = tuple[RuleSet, tuple[DecisionWarning, ...]]


def _counting_rules(
    rules: RuleSet, *, is_trusted: bool, managed_only: bool, auto: bool, works_inside: bool
) -> _Filtered:
    if is_trusted and not managed_only and not auto and not works_inside:
        return rules, ()
    key = (is_trusted, managed_only, auto, works_inside)
    result = rules.counting.get(key)
    if result is None:
        result = _filter(rules, is_trusted=is_trusted, managed_only=managed_only, auto=auto)
        if works_inside:
            counting = [rule for rule in result[0].rules if not _asks_about_all_of_bash(rule)]
            result = result[0].only(counting), result[1]
        rules.counting[key] = result
    return result


def _asks_about_all_of_bash(rule: Rule) -> bool:
    is_bare = rule.is_tool_wide and not rule.is_cap and rule.tool.glob is None
    return is_bare and rule.behavior is RuleBehavior.ASK and rule.tool.matches("Bash")


def _filter(rules: RuleSet, *, is_trusted: bool, managed_only: bool, auto: bool) -> _Filtered:
    counting: list[Rule] = []
    warnings: list[DecisionWarning] = []

    def drop(rule: Rule, message: str) -> None:
        warnings.append(
            DecisionWarning(WarningType.UNTRUSTED_SOURCE, str(rule.source), rule.text, message)
        )

    def is_untrusted(rule: Rule) -> bool:
        return not is_trusted and rule.source in _PROJECT_SOURCES

    for rule in rules.rules:
        if rule.behavior is not RuleBehavior.ALLOW:
            counting.append(rule)
        elif managed_only and rule.source is not RuleSource.POLICY:
            drop(rule, "managed settings allow only managed allow rules")
        elif is_untrusted(rule):
            drop(rule, "this folder is not trusted, so its allow rules are ignored")
        elif not (auto and is_dangerous_allow(rule)):
            counting.append(rule)
    return rules.only(counting), tuple(warnings)
