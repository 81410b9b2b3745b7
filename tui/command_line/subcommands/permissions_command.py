"""`agent-tui permissions`: check, explain, lint and replay, without running or asking anything."""

from __future__ import annotations

import functools
import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click
from msgspec.structs import replace

from permissions.base.text.count_text import count_text
from permissions.base.text.sanitize import reveal
from permissions.check_cli import (
    EXIT_STATUS,
    Checker,
    LoadedSettings,
    explain,
    run_lint_jsonl,
)
from permissions.confinement import SandboxLevel
from permissions.context import PermissionContext, SandboxState
from permissions.decision import source_name
from permissions.explain.explain_decision import (
    Shorten,
    home_relative,
    in_one_line,
)
from permissions.lint.lint import LintType, LintWarning, lint
from permissions.mode import Mode
from permissions.rules.rule_set import RuleBehavior, RuleSet, RuleSource, RuleText
from tui.command_line.subcommands.whole_texts import WholeTexts

if TYPE_CHECKING:
    from agent.settings.file import SettingsWarning
    from agent.settings.load import Settings


def _tried_rules(function: Callable[..., int]) -> Callable[..., int]:
    """Add the options `--allow`, `--ask` and `--deny`: rules to try, which are not stored."""
    for behavior in reversed(RuleBehavior):
        function = click.option(
            f"--{behavior}",
            multiple=True,
            metavar="RULE",
            help=f"Try one more {behavior} rule; nothing is stored. Repeatable.",
        )(function)
    return function


@click.group(
    "permissions",
    cls=WholeTexts,
    short_help="Check calls, explain decisions, lint and replay rules.",
)
def command() -> None:
    """Check calls against the rules, explain decisions, find rules that have no effect."""


@command.command("check")
@click.argument("file", required=False, type=click.Path(allow_dash=True))
@click.option("--classifier", is_flag=True, help="Also use the local classifier.")
@click.option("--json", "_json", is_flag=True, help="Accepted; the output is always JSON.")
def check(file: str | None, classifier: bool, _json: bool) -> int:
    """Check calls: read JSON lines (FILE or standard input), print one JSON line for each."""
    checker = Checker(_load_settings, level=_level_here, classifier=classifier, cwd=_cwd())
    with _lines(file) as lines:
        for answer in checker.run(lines):
            sys.stdout.write(answer + "\n")
            sys.stdout.flush()
    return 1 if checker.had_bad_line else 0


@command.command("explain")
@click.argument("call")
@click.option("--mode", default="default", show_default=True, help="Permission mode to assume.")
@click.option("--classifier", is_flag=True, help="Also use the local classifier.")
@click.option("--json", "as_json", is_flag=True, help="Print the decision as JSON.")
@_tried_rules
def explain_call(
    call: str,
    mode: str,
    classifier: bool,
    as_json: bool,
    allow: tuple[str, ...],
    ask: tuple[str, ...],
    deny: tuple[str, ...],
) -> int:
    """Explain the decision on one CALL, such as 'Bash(git push)'.

    Exit status: 0 allow, 3 ask, 4 deny.
    """
    try:
        decision_mode = Mode(mode)
    except ValueError as error:
        mode_names = ", ".join(Mode)
        raise click.BadParameter(f"{mode!r}; known modes: {mode_names}") from error
    if not call.strip():
        raise click.BadParameter("name a call, such as 'Bash(git push)'")
    # A user who names the mode wants to know its effect, even if it is not allowed.
    context = replace(
        _with_additional_rules(_context_here(decision_mode), allow, ask, deny),
        bypass_available=True,
    )
    text, decision = explain(call, context, classifier=classifier)
    click.echo(json.dumps(decision.as_json(), ensure_ascii=False) if as_json else reveal(text))
    return EXIT_STATUS[decision.behavior]


@command.command("lint")
@click.argument("file", required=False, type=click.Path(allow_dash=True))
@click.option("--jsonl", is_flag=True, help="Read {id, rules} lines, write {id, warnings} lines.")
@click.option("--json", "as_json", is_flag=True, help="Print findings as JSON.")
def lint_rules(file: str | None, jsonl: bool, as_json: bool) -> int:
    """Find shadowed, dead and invalid rules in a settings FILE, or in this project.

    Exit status: 1 when there are any, or a line that cannot be judged.
    """
    if jsonl:
        return _lint_lines(file)
    texts, unread = _file_rules(Path(file)) if file else _project_rules()
    lint_warnings = lint(RuleSet.build(texts)[0])
    if as_json:
        both = [warning.as_json() for warning in (*unread, *lint_warnings)]
        click.echo(json.dumps(both, ensure_ascii=False))
    else:
        short = home_relative(os.environ.get("HOME", ""))
        for warning in (*unread, *lint_warnings):
            click.echo(reveal(_describe_warning(warning, short)))
        many = len(unread) + len(lint_warnings)
        click.echo(f"{count_text(len(texts), 'rule')}, {count_text(many, 'finding')}")
    return 1 if unread or lint_warnings else 0


@command.command("replay")
@click.option(
    "--since", "start_date", metavar="DATE", help="Only decisions from this date on (YYYY-MM-DD)."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON line per changed decision.")
@_tried_rules
def replay(
    start_date: str | None,
    as_json: bool,
    allow: tuple[str, ...],
    ask: tuple[str, ...],
    deny: tuple[str, ...],
) -> int:
    """Check the audit log's calls against the current rules and show what would change.

    --allow, --ask and --deny add rules for this check.
    """
    # Only this command needs the log's reader.
    from permissions.explain.replay import replay as run_replay

    _check_date(start_date)
    agent_home = _agent_home()
    context = _with_additional_rules(_context_here(Mode.DEFAULT), allow, ask, deny)
    total = 0
    changes: Counter[str] = Counter()
    for difference in run_replay(agent_home / "audit", context, earliest=start_date):
        total += 1
        if difference.is_changed:
            changes[difference.now] += 1
            click.echo(difference.to_json() if as_json else reveal(difference.describe()))
    if not as_json:
        click.echo(
            f"{total} decisions read, {changes.total()} would be different: {changes['ask']} would "
            f"ask, {changes['deny']} would be denied, {changes['allow']} allowed without asking"
        )
    return 0


@command.command("advise")
@click.option(
    "--since", "start_date", metavar="DATE", help="Only decisions from this date on (YYYY-MM-DD)."
)
@click.option("--json", "as_json", is_flag=True, help="Print it as one JSON object.")
def advise_rules(start_date: str | None, as_json: bool) -> int:
    """Show how often you were asked in this folder and why; suggest rules that save questions.

    Each rule is tested on the audit log first. Nothing is stored: `/permissions` adds rules.
    """
    # Only these commands need the log's reader.
    from permissions.explain.audit_reader import logged_calls
    from permissions.explain.decision_history import read_usage
    from permissions.grants.advice import advise
    from tui.command_line.subcommands.advice_text import advice_json, advice_lines

    _check_date(start_date)
    context = _context_here(Mode.DEFAULT)
    directory = _agent_home() / "audit"
    calls = logged_calls(directory, context.launch_dir, earliest=start_date)
    advice = advise(calls, context, read_usage(directory))
    if as_json:
        click.echo(json.dumps(advice_json(advice), ensure_ascii=False))
    else:
        short = home_relative(os.environ.get("HOME", ""))
        click.echo(reveal("\n".join(advice_lines(advice, short))))
    return 0


def _check_date(date: str | None) -> None:
    if date is None:
        return
    try:
        datetime.fromisoformat(date)
    except ValueError as error:
        raise click.BadParameter(f"{date!r} is not a date; write YYYY-MM-DD") from error


class _lines:
    """The lines of a file or of standard input; a missing file is a usage error."""

    def __init__(self, file: str | None) -> None:
        self._file = file
        self._stream: TextIO | None = None

    def __enter__(self) -> Iterable[str]:
        if self._file in (None, "-"):
            return self._decode_lines(sys.stdin)
        try:
            # As from standard input: only line feeds separate lines; other white space is JSON's.
            self._stream = open(str(self._file), encoding="utf-8", errors="replace", newline="\n")
        except OSError as error:
            raise click.ClickException(f"{self._file}: {error.strerror}") from error
        return self._stream

    def __exit__(self, *_: object) -> None:
        if self._stream is not None:
            self._stream.close()

    @staticmethod
    def _decode_lines(stream: TextIO) -> Iterator[str]:
        for raw in stream.buffer:
            yield raw.decode("utf-8", "replace")


def _home() -> Path:
    from tui.command_line.subcommands.places import (
        home_directory,  # not needed for lines with their own rules
    )

    return home_directory()


def _cwd() -> Path:
    try:
        return Path.cwd()
    except OSError as error:
        reason = "The current folder no longer exists. Change to one that does."
        raise click.ClickException(reason) from error


def _agent_home() -> Path:
    from tui.command_line.subcommands.places import current_directories  # as above

    return current_directories().agent_home


def _load_settings(project_root: Path, home: Path) -> LoadedSettings:
    """Read the actual settings; lines with their own rules do not need this import."""
    settings, agent_home = _settings(project_root, home)
    for warning in filter(_is_about_rules, settings.warnings):
        # Faulty rules do not apply: without the warning the result would be misleading.
        click.echo(reveal(str(warning)), err=True)
    return LoadedSettings(
        rules=settings.rules,
        additional_dirs=settings.additional_dirs,
        policy=settings.policy,
        blocked_hosts=frozenset(host.lower() for host in settings.values.blockedHosts or ()),
        settings_dir=agent_home,
        waiting=settings.waiting_rules,
    )


def _settings(project_root: Path, home: Path) -> tuple[Settings, Path]:
    from agent.errors import ConfigError
    from agent.settings.load import load_settings

    is_this_home = home == Path(os.environ.get("HOME", "/nonexistent"))
    agent_home = _agent_home() if is_this_home else home / ".agent"
    try:
        settings = load_settings(
            launch_dir=project_root, home=home, agent_home=agent_home, env=os.environ
        )
    except ConfigError as error:
        raise click.ClickException(str(error)) from error
    return settings, agent_home


def _is_about_rules(warning: SettingsWarning) -> bool:
    return warning.level == "error" or warning.key.startswith("permissions")


@functools.cache
def _level_here() -> SandboxLevel:
    """Return the confinement level of this machine, which is probed once."""
    from agent.sandbox.probe import probe

    return probe().level


def _context_here(mode: Mode) -> PermissionContext:
    from agent.settings.project_root import find_project_root  # as above

    cwd, home = _cwd(), _home()
    settings = _load_settings(cwd, home)
    return PermissionContext(
        mode=mode,
        sandbox=SandboxState(level=_level_here()),
        rules=RuleSet.build((*settings.rules, *settings.waiting))[0],
        launch_dir=cwd,
        project_root=find_project_root(cwd),
        home=home,
        additional_dirs=settings.additional_dirs,
        policy=settings.policy or {},
        blocked_hosts=settings.blocked_hosts,
        settings_dir=settings.settings_dir,
        is_trusted=not settings.waiting,
        own_dirs=(_agent_home(),),
    )


def _with_additional_rules(
    context: PermissionContext,
    allow: tuple[str, ...],
    ask: tuple[str, ...],
    deny: tuple[str, ...],
) -> PermissionContext:
    """Return the context with additional rules; one that cannot be parsed is a usage error."""
    lists = {RuleBehavior.ALLOW: allow, RuleBehavior.ASK: ask, RuleBehavior.DENY: deny}
    texts = [
        RuleText(text, behavior, RuleSource.CLI)
        for behavior, rules in lists.items()
        for text in rules
    ]
    for warning in RuleSet.build(texts)[1]:
        raise click.BadParameter(f"{warning.rule}: {warning.message}")
    return context.with_rules(context.rules.with_rules(texts)) if texts else context


_Rules = tuple[tuple[RuleText, ...], tuple[LintWarning, ...]]
"""Rules as they are written, and warnings about parts of their files that cannot be read."""


def _project_rules() -> _Rules:
    """Return the rules of the current project, including those that wait for trust."""
    settings = _settings(_cwd(), _home())[0]
    unread = filter(_is_about_rules, settings.warnings)
    return (*settings.rules, *settings.waiting_rules), tuple(map(_unread, unread))


def _file_rules(path: Path) -> _Rules:
    """Read the rules of one settings file as if it were the user's."""
    from agent.settings.file import parse_settings, read_settings  # as above
    from agent.settings.rules import rules_of
    from permissions.base.files.named_pipe import PipeError, text_of_pipe

    try:
        piped_text = text_of_pipe(path)
    except PipeError as error:
        raise click.ClickException(f"{path} {error}") from error
    if piped_text is None:
        settings_file, warnings = read_settings(path, RuleSource.USER)
    else:
        piped_settings = parse_settings(piped_text, RuleSource.USER, path)
        settings_file, warnings = piped_settings, piped_settings.warnings
    if settings_file is None:
        reason = str(warnings[0]) if warnings else f"{path}: file not found"
        raise click.ClickException(reason)
    rules, more = rules_of(settings_file)
    unread: list[LintWarning] = []
    for warning in (*warnings, *more):
        if _is_about_rules(warning):
            unread.append(_unread(warning))
        else:
            click.echo(reveal(str(warning)), err=True)
    return rules, tuple(unread)


def _unread(warning: SettingsWarning) -> LintWarning:
    return LintWarning(
        LintType.MALFORMED_RULE,
        warning.key or None,
        None,
        "",
        None,
        warning.message,
        "correct the entry or remove it" if warning.key else "correct the file",
        str(warning.file) if warning.file is not None else None,
        warning.line,
    )


def _describe_warning(warning: LintWarning, short: Shorten) -> str:
    where = source_name(warning.source)
    if warning.file is not None:
        line = f":{warning.line}" if warning.line else ""
        where = f"{short(warning.file)}{line}"
    return (
        f"{warning.type}: {in_one_line(warning.rule or '')} ({where})\n"
        f"    {warning.message}\n    fix: {warning.fix}"
    )


def _lint_lines(file: str | None) -> int:
    has_findings = False
    with _lines(file) as lines:
        for answer in run_lint_jsonl(lines):
            sys.stdout.write(answer + "\n")
            sys.stdout.flush()
            has_findings = has_findings or json.loads(answer).get("warnings") != []
    return 1 if has_findings else 0
