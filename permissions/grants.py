"""What "don't ask again" would store: the narrowest useful rules, and what else they would allow.

Pure; nothing is written here (see `permissions.store`). Shapes of the rules follow the documented
grammar: a word boundary after a program and its subcommand, never a wildcard behind an interpreter.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from permissions.cascade import judged
from permissions.classifier_local import decide_with_classifier
from permissions.context import PermissionContext
from permissions.decision import (
    Behavior,
    Decision,
    DecisionWarning,
    GrantChoice,
    Reason,
    RuleRef,
    WarningType,
)
from permissions.lint import LintType, LintWarning, lint_new
from permissions.request import PermissionRequest
from permissions.rule import Rule, RuleBehavior, RuleSet, RuleSource, RuleText
from permissions.subsume import subsumes
from permissions.tools import EDIT_TOOLS, canonical_tool

MAX_RULES: Final = 5
"""Rules stored for one compound command at most."""

SUBCOMMAND_PROGRAMS: Final = frozenset(
    "apt brew bundle cargo composer dotnet flutter gem gh git go gradle helm kubectl mvn npm pip "
    "pip3 pnpm poetry rails rustup terraform uv yarn".split()
)
"""Programs whose second word says what they do."""

EXACT_ONLY: Final = frozenset(
    "ash awk bash bun bunx busybox csh dash deno direnv devbox docker doas env eval exec expect "
    "find fish flock ionice ipython ksh lua mise node nohup npx osascript perl php pipx podman "
    "pwsh python python2 python3 ruby screen script sed setsid sh ssh sudo su time timeout tmux "
    "tsx uvx watch xargs zsh".split()
)
"""Programs that run whatever their arguments say: a wildcard behind them allows everything."""

_EXACT_SUBCOMMANDS: Final = {
    program: frozenset(subcommands.split())
    for program, subcommands in {
        "apt": "install remove purge",
        "brew": "install uninstall",
        "bundle": "exec install",
        "cargo": "run install publish",
        "composer": "require global exec",
        "dotnet": "run nuget",
        "gem": "install push",
        "gh": "api alias extension repo secret auth",
        "git": "bisect branch checkout clean config filter-branch rebase remote reset restore "
        "stash submodule tag update-ref worktree",
        "go": "run generate install",
        "helm": "uninstall delete",
        "kubectl": "exec delete apply",
        "npm": "exec x explore install i publish",
        "pip": "install uninstall",
        "pip3": "install uninstall",
        "pnpm": "dlx exec add install publish",
        "poetry": "run add publish",
        "rustup": "run toolchain",
        "terraform": "apply destroy",
        "uv": "run tool add pip publish",
        "yarn": "dlx exec add publish",
    }.items()
}
"""Subcommands that run programs, bring foreign code or throw work away: only as they stand."""


@dataclass(frozen=True, slots=True)
class RuleOffer:
    """One rule of a grant: which part of the call it is for, and what it would mean."""

    rule: str
    part: str
    """The part of the call, as written; for other tools than Bash the path or address."""
    also_allows: str = ""
    """What the rule allows beyond this part; empty for an exact rule."""


@dataclass(frozen=True, slots=True)
class Grant:
    """One answer of the dialog that remembers something."""

    rules: tuple[str, ...]
    behavior: RuleBehavior
    destination: RuleSource | None
    """Where it is kept; None for "only this once"."""
    label: str
    """Continues "Yes, and …": `don't ask again for git push * in this session`."""
    also_allows: str = ""
    """What the rules allow beyond this call; empty for exact rules."""
    offers: tuple[RuleOffer, ...] = ()
    """The rules one by one, in the order of the call's parts."""
    covered: tuple[tuple[str, RuleRef], ...] = ()
    """Parts that need no new rule, each with the rule that allows it already."""


@dataclass(frozen=True, slots=True)
class Review:
    """What storing rules by hand would lead to; nothing was stored."""

    findings: tuple[LintWarning, ...]
    """Shadows, duplicates and mistakes that come with the rules, each with a proposed fix."""
    covered: tuple[tuple[str, RuleRef], ...]
    """Rules that change nothing, each with the one that says the same or more already."""


def suggest(
    request: PermissionRequest,
    decision: Decision,
    context: PermissionContext,
    *,
    destinations: Sequence[RuleSource] | None = None,
) -> tuple[Grant, ...]:
    """Return what may be remembered for this ask, shortest keeping first; empty when nothing helps.

    A rule helps only where the ask comes from nothing having matched (or, for reads outside the
    scope, from the scope): an ask rule, a protected path or an unreadable command asks again.

    Args:
        destinations: Where rules may be kept; None is what the dialog offers: this session, and
            for everything but edits the person's own file of this project.
    """
    found: list[Grant] = []
    for destination in destinations or _destinations(request):
        offers = _offers(request, decision, context, destination)
        rules = tuple(dict.fromkeys(offer.rule for offer in offers))
        if not rules or len(rules) > MAX_RULES:
            continue
        if not _would_allow(rules, destination, request, context):
            continue
        where = _WHERE[destination]
        found.append(
            Grant(
                rules,
                RuleBehavior.ALLOW,
                destination,
                f"don't ask again for {_named(rules)} {where}",
                "; ".join(dict.fromkeys(o.also_allows for o in offers if o.also_allows)),
                tuple(offers),
                _covered_parts(decision),
            )
        )
    return tuple(found)


def review(
    rules: Sequence[str], behavior: RuleBehavior, source: RuleSource, context: PermissionContext
) -> Review:
    """Say what storing these rules would lead to, before they are written. Pure."""
    added = [RuleText(rule, behavior, source) for rule in rules]
    read = RuleSet.build(added)[0].rules
    covered = tuple(
        (new.text, known.ref)
        for new in read
        for known in [_covering(new, context.rules)]
        if known is not None
    )
    return Review(lint_new(context.rules, added), covered)


def shadow_warnings_of(
    grant: GrantChoice, context: PermissionContext
) -> tuple[DecisionWarning, ...]:
    """Return a warning for each rule of a grant that can never take effect where it is stored."""
    added = [
        RuleText(rule, RuleBehavior(str(grant.behavior)), RuleSource(grant.destination))
        for rule in grant.rules
    ]
    return tuple(
        DecisionWarning(
            WarningType.SHADOWED_RULE, found.source, found.shadowed, f"{found.message}; {found.fix}"
        )
        for found in lint_new(context.rules, added)
        if found.type in {LintType.DENY_SHADOW, LintType.ASK_SHADOW}
    )


_WHERE: Final = {
    RuleSource.SESSION: "in this session",
    RuleSource.LOCAL: "in this project",
    RuleSource.PROJECT: "for everybody in this project",
    RuleSource.USER: "in every project",
    RuleSource.CLI: "in this start",
    RuleSource.POLICY: "on this machine",
}


def _destinations(request: PermissionRequest) -> tuple[RuleSource, ...]:
    if canonical_tool(request.tool) in EDIT_TOOLS:
        return (RuleSource.SESSION,)
    return (RuleSource.SESSION, RuleSource.LOCAL)


def _covering(rule: Rule, rules: RuleSet) -> Rule | None:
    return next(
        (
            known
            for known in rules.rules
            if known.behavior is rule.behavior and not known.is_cap and subsumes(known, rule)
        ),
        None,
    )


def _covered_parts(decision: Decision) -> tuple[tuple[str, RuleRef], ...]:
    return tuple(
        (part.text, part.rule)
        for part in decision.parts
        if part.reason is Reason.ALLOW_RULE and part.rule is not None
    )


def _offers(
    request: PermissionRequest,
    decision: Decision,
    context: PermissionContext,
    destination: RuleSource,
) -> tuple[RuleOffer, ...]:
    tool = request.tool
    if decision.reason is Reason.SCOPE_BOUNDS_VIOLATION and tool in {"Read", "Glob", "Grep"}:
        return _read_offer(request)
    if decision.reason is not Reason.MODE_DEFAULT:
        return ()
    if tool == "Bash":
        return _bash_offers(request, context, destination)
    if canonical_tool(tool) in EDIT_TOOLS:
        path = _text(request, "file_path") or _text(request, "notebook_path")
        return _edit_offer(path, context, destination)
    if tool == "WebFetch":
        host = urlsplit(_text(request, "url")).hostname
        return (
            (RuleOffer(f"WebFetch(domain:{host})", host, f"every page of {host}"),) if host else ()
        )
    if tool.startswith("mcp__"):
        return (RuleOffer(tool, tool, f"every call of {tool}"),)
    return ()


def _read_offer(request: PermissionRequest) -> tuple[RuleOffer, ...]:
    path = _text(request, "file_path") or _text(request, "path")
    if not os.path.isabs(path) or any(character in path for character in _UNWRITABLE):
        return ()
    path = os.path.normpath(path)
    folder = os.path.dirname(path) if request.tool == "Read" else path
    if folder.count("/") < _NARROW_DEPTH:
        # Too much lies below it: the file alone, or nothing for a whole folder.
        return (RuleOffer(f"Read(/{_escaped(path)})", path),) if request.tool == "Read" else ()
    return (RuleOffer(f"Read(/{_escaped(folder)}/**)", path, f"reading everything below {folder}"),)


_NARROW_DEPTH: Final = 3
"""Folders with fewer components (`/etc`, `/home/me`) hold too much for one answer."""


def _bash_offers(
    request: PermissionRequest, context: PermissionContext, destination: RuleSource
) -> tuple[RuleOffer, ...]:
    found = judged(request, context)
    offers: list[RuleOffer] = []
    for part, verdict in zip(found.parts, found.verdicts, strict=True):
        if verdict.behavior is Behavior.ALLOW or part.is_provably_harmless:
            continue
        if part.kind == "write":
            target = _redirect_target(part.text)
            file_rule = _file_rule(target, context, destination) if target else None
            if file_rule is None:
                return ()
            offers.append(RuleOffer(file_rule, part.text, f"editing {target}"))
            continue
        pattern = bash_pattern_for(part.text) if part.kind == "command" else None
        if pattern is None:
            return ()
        offers.append(RuleOffer(f"Bash({pattern})", part.text, _beyond(pattern)))
    return tuple(offers)


def _beyond(pattern: str) -> str:
    if not pattern.endswith(" *"):
        return ""
    stem = pattern[:-2]
    caution = _CAUTIONS.get(stem)
    return f"{stem} with any arguments" + (f", {caution}" if caution else "")


_CAUTIONS: Final = {
    "git push": "--force included",
    "git commit": "--amend included",
    "git merge": "into any branch",
    "git pull": "from any remote",
}


def _redirect_target(text: str) -> str:
    """Return the file of a redirection, or nothing when it is not one plain word."""
    try:
        words = shlex.split(text.lstrip("0123456789<>&|"))
    except ValueError:
        return ""
    return words[0] if len(words) == 1 else ""


def bash_pattern_for(command: str) -> str | None:
    """Return the narrowest useful pattern for one simple command, or None where none is safe."""
    if "\n" in command or "*" in command:
        return None
    try:
        words = shlex.split(command)
    except ValueError:
        return None
    if not words:
        return None
    program = words[0]
    if "=" in program or "$" in command or "`" in command:
        return None
    if program in EXACT_ONLY or "/" in program:
        return command.strip()
    if program in SUBCOMMAND_PROGRAMS and len(words) > 1:
        sub = words[1]
        if sub.startswith("-") or sub in _EXACT_SUBCOMMANDS.get(program, frozenset()):
            return command.strip()
        if sub == "run" and len(words) > 2:
            return f"{program} run {words[2]} *"
        return f"{program} {sub} *"
    if len(words) == 1:
        return command.strip()
    return f"{program} *" if program in _PLAIN else command.strip()


_PLAIN: Final = frozenset(
    "black eslint flake8 jest mocha mypy prettier pytest rspec rubocop ruff shellcheck tox tsc "
    "vitest".split()
)
"""Programs that check or test what is in the project, whatever their arguments."""


def _edit_offer(
    path: str, context: PermissionContext, destination: RuleSource
) -> tuple[RuleOffer, ...]:
    folder = os.path.dirname(os.path.normpath(os.path.join(str(context.launch_dir), path)))
    anchored = _anchored(folder, context, destination)
    if anchored is None:
        return ()
    where = "this project" if folder == str(context.launch_dir) else folder
    rule = f"Edit({anchored.rstrip('/')}/**)"
    return (RuleOffer(rule, path, f"editing every file below {where}"),)


def _file_rule(path: str, context: PermissionContext, destination: RuleSource) -> str | None:
    anchored = _anchored(
        os.path.normpath(os.path.join(str(context.launch_dir), path)), context, destination
    )
    return None if anchored is None else f"Edit({anchored})"


def _anchored(path: str, context: PermissionContext, destination: RuleSource) -> str | None:
    """Return a path as rules of that source write it: `/x` from their anchor, else `//x`."""
    if any(character in path for character in _UNWRITABLE):
        return None
    anchor = str(context.anchor(destination))
    if path == anchor:
        return "/"
    inside = anchor != "/" and path.startswith(anchor + "/")
    return _escaped(path[len(anchor) :] if inside else f"/{path}")


_UNWRITABLE: Final = "()\\\n\r"
"""Characters of paths that a rule cannot hold without being read as something else."""


def _escaped(path: str) -> str:
    """Return a path whose special characters of patterns stand for themselves."""
    return "".join(f"\\{one}" if one in "*?[]!#" else one for one in path)


def _would_allow(
    rules: Sequence[str],
    destination: RuleSource,
    request: PermissionRequest,
    context: PermissionContext,
) -> bool:
    """Whether the rules really lift this ask: nothing is offered that would ask again."""
    extra = [RuleText(rule, RuleBehavior.ALLOW, destination) for rule in rules]
    after = decide_with_classifier(request, context.with_rules(context.rules.with_rules(extra)))
    return after.behavior is Behavior.ALLOW


def _named(rules: Sequence[str]) -> str:
    shown = [rule[5:-1] if rule.startswith("Bash(") else rule for rule in rules]
    return ", ".join(shown)


def _text(request: PermissionRequest, key: str) -> str:
    value = request.tool_input.get(key)
    return value if isinstance(value, str) else ""
