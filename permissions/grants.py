"""What "don't ask again" would store: the narrowest useful rules, and what else they would allow.

Pure; nothing is written here (see `permissions.store`). Shapes of the rules follow the documented
grammar: a word boundary after a program and its subcommand, never a wildcard behind an interpreter.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from permissions.cascade import decide
from permissions.context import PermissionContext
from permissions.decision import Behavior, Decision, Reason
from permissions.request import PermissionRequest
from permissions.rule import RuleBehavior, RuleSource, RuleText

MAX_RULES: Final = 5
"""Rules stored for one compound command at most."""

SUBCOMMAND_PROGRAMS: Final = frozenset(
    "apt brew bundle cargo composer dotnet flutter gem gh git go gradle helm just kubectl make mvn "
    "npm pip pip3 pnpm poetry rake rails rustup terraform uv yarn".split()
)
"""Programs whose second word says what they do."""

EXACT_ONLY: Final = frozenset(
    "ash awk bash bun bunx busybox csh dash deno direnv devbox docker doas env eval exec expect "
    "find fish flock ionice ipython ksh lua mise node nohup npx osascript perl php pipx podman "
    "pwsh python python2 python3 ruby screen script sed setsid sh ssh sudo su time timeout tmux "
    "tsx uvx watch xargs zsh".split()
)
"""Programs that run whatever their arguments say: a wildcard behind them allows everything."""

_RUNS_SCRIPTS: Final = {
    "npm": {"exec", "x", "explore"},
    "pnpm": {"dlx", "exec"},
    "yarn": {"dlx", "exec"},
    "uv": {"run", "tool"},
    "poetry": {"run"},
    "bundle": {"exec"},
    "cargo": {"run"},
    "go": {"run", "generate"},
    "git": {"config", "bisect", "filter-branch"},
    "kubectl": {"exec"},
    "gh": {"api", "alias", "extension"},
}


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


def suggest(
    request: PermissionRequest, decision: Decision, context: PermissionContext
) -> tuple[Grant, ...]:
    """Return what may be remembered for this ask, narrowest keeping first; empty when nothing
    helps.

    A rule helps only where the ask comes from nothing having matched (or, for reads outside the
    scope, from the scope): an ask rule, a protected path or an unreadable command asks again
    anyway.
    """
    rules, also = _rules(request, decision, context)
    if not rules or not _would_allow(rules, request, context):
        return ()
    what = _named(rules)
    return tuple(
        Grant(
            rules,
            RuleBehavior.ALLOW,
            destination,
            f"don't ask again for {what} {where}",
            also,
        )
        for destination, where in (
            (RuleSource.SESSION, "in this session"),
            (RuleSource.LOCAL, "in this project"),
        )
    )


def _rules(
    request: PermissionRequest, decision: Decision, context: PermissionContext
) -> tuple[tuple[str, ...], str]:
    tool = request.tool
    if decision.reason is Reason.SCOPE_BOUNDS_VIOLATION and tool in {"Read", "Glob", "Grep"}:
        path = _text(request, "file_path") or _text(request, "path")
        if not path:
            return (), ""
        folder = path if tool != "Read" else os.path.dirname(path)
        return (f"Read(/{folder.rstrip('/')}/**)",), f"reading everything below {folder}"
    if decision.reason is not Reason.MODE_DEFAULT:
        return (), ""
    if tool == "Bash":
        return _bash_rules(decision)
    if tool in {"Edit", "Write", "MultiEdit", "NotebookEdit"}:
        return _edit_rule(request, context)
    if tool == "WebFetch":
        host = urlsplit(_text(request, "url")).hostname
        return ((f"WebFetch(domain:{host})",), f"every page of {host}") if host else ((), "")
    if tool.startswith("mcp__"):
        return (tool,), f"every call of {tool}"
    return (), ""


def _bash_rules(decision: Decision) -> tuple[tuple[str, ...], str]:
    rules: list[str] = []
    also: list[str] = []
    for part in decision.parts:
        if part.behavior is Behavior.ALLOW:
            continue
        if part.kind != "command":
            return (), ""
        pattern = bash_pattern_for(part.text)
        if pattern is None:
            return (), ""
        rule = f"Bash({pattern})"
        if rule not in rules:
            rules.append(rule)
            if pattern.endswith(" *"):
                also.append(f"{pattern[:-2]} with any arguments")
    if len(rules) > MAX_RULES:
        return (), ""
    return tuple(rules), "; ".join(also)


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
        if sub.startswith("-") or sub in _RUNS_SCRIPTS.get(program, set()):
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


def _edit_rule(
    request: PermissionRequest, context: PermissionContext
) -> tuple[tuple[str, ...], str]:
    path = _text(request, "file_path") or _text(request, "notebook_path")
    try:
        relative = Path(path).relative_to(context.launch_dir)
    except ValueError:
        return (), ""
    folder = relative.parent.as_posix()
    if any(character in folder for character in "*?[]!\\()\n"):
        return (), ""
    pattern = "/**" if folder == "." else f"/{folder}/**"
    where = "this project" if folder == "." else folder
    return (f"Edit({pattern})",), f"editing every file below {where}"


def _would_allow(
    rules: Sequence[str], request: PermissionRequest, context: PermissionContext
) -> bool:
    """Whether the rules really lift this ask: nothing is offered that would ask again."""
    extra = [RuleText(rule, RuleBehavior.ALLOW, RuleSource.SESSION) for rule in rules]
    after = decide(request, context.with_rules(context.rules.with_rules(extra)))
    return after.behavior is Behavior.ALLOW


def _named(rules: Sequence[str]) -> str:
    shown = [rule[5:-1] if rule.startswith("Bash(") else rule for rule in rules]
    return ", ".join(shown)


def _text(request: PermissionRequest, key: str) -> str:
    value = request.tool_input.get(key)
    return value if isinstance(value, str) else ""
