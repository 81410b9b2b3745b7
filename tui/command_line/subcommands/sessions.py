"""`agent-tui sessions`: list, show, trace, export, repair and delete transcripts."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, get_args

import click
from msgspec.structs import asdict

from agent.errors import SessionError
from agent.observe.observer import spans_path
from agent.observe.span_file import read_spans
from agent.observe.timeline import render_timeline
from agent.session.archive.find_by_name import find_session
from agent.session.archive.session_index import MARK_END, MARK_START, search_all
from agent.session.archive.summaries import SessionSummary, summarize
from agent.session.archive.transcript_export import ExportFormat, export
from agent.session.repair import RepairReport, check, repair
from agent.session.store import SessionInfo, SessionStore
from agent.settings.project_root import find_project_root
from permissions.base.text.sanitize import sanitize
from tui.command_line.subcommands.places import current_directories
from tui.command_line.subcommands.whole_texts import WholeTexts

SEARCH_LIMIT: Final = 50


@click.group(
    "sessions", cls=WholeTexts, short_help="List, show, search, trace, export and repair sessions."
)
def command() -> None:
    """List, show, search, trace, export, repair and delete sessions."""


_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@command.command("list")
@click.option("--all", "everywhere", is_flag=True, help="Sessions of every project.")
@_json
def list_sessions(everywhere: bool, as_json: bool) -> None:
    """List sessions, most recently used first."""
    store = _store()
    project = None if everywhere else find_project_root(current_directories().cwd)
    sessions = list(_readable(store.list(project)))
    if as_json:
        click.echo(json.dumps([_json_values(asdict(one)) for one in sessions], ensure_ascii=False))
        return
    for one in sessions:
        title = (one.title or "(no prompt yet)").splitlines()[0]
        where = f"  {one.project_dir}" if everywhere else ""
        click.echo(f"{one.id[:8]}  {one.modified:%Y-%m-%d %H:%M}  {sanitize(title)[:80]}{where}")
    if not sessions:
        click.echo("no sessions here" if project else "no sessions")


@command.command("show")
@click.argument("session_id")
@_json
def show(session_id: str, as_json: bool) -> None:
    """Print a session's conversation."""
    _print(export(_path(session_id), "json" if as_json else "markdown"))


@command.command("export")
@click.argument("session_id")
@click.option(
    "--format", "form", type=click.Choice(get_args(ExportFormat)), default="markdown",
    show_default=True,
)  # fmt: skip
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="File; default is standard output."
)
@_json
def export_session(session_id: str, form: ExportFormat, output: Path | None, as_json: bool) -> None:
    """Write a session as Markdown, JSON or HTML."""
    text = export(_path(session_id), "json" if as_json else form)
    if output is None:
        _print(text)
        return
    try:
        output.write_text(text, "utf-8")
    except OSError as error:
        raise click.ClickException(f"{output}: {error.strerror}") from error
    click.echo(f"wrote {output}", err=True)


@command.command("search")
@click.argument("words", nargs=-1, required=True)
@_json
def search(words: tuple[str, ...], as_json: bool) -> None:
    """Find words in the sessions of every project, best matches first."""
    hits = search_all(
        _store().list(),
        " ".join(words),
        cache_dir=current_directories().agent_home / "cache",
        limit=SEARCH_LIMIT,
    )
    if as_json:
        click.echo(json.dumps([_json_values(asdict(hit)) for hit in hits], ensure_ascii=False))
        return
    for hit in hits:
        place = hit.snippet.replace(MARK_START, "[").replace(MARK_END, "]")
        click.echo(f"{hit.session_id[:8]}  {' '.join(sanitize(place).split())}  {hit.project_dir}")
    if not hits:
        click.echo("nothing found")


@command.command("repair")
@click.argument("session_id", required=False)
@click.option("--check", "only_check", is_flag=True, help="Only report problems.")
@_json
def repair_sessions(session_id: str | None, only_check: bool, as_json: bool) -> int:
    """Repair a damaged session, or all of this project; the original file is kept.

    Exit status: 1 when something is damaged and was left so.
    """
    store = _store()
    try:
        infos = (
            [store.get(session_id)]
            if session_id
            else store.list(find_project_root(current_directories().cwd))
        )
        reports = [
            check(info.id, info.path) if only_check else repair(store, info.id) for info in infos
        ]
    except SessionError as error:
        raise click.ClickException(str(error)) from error
    if as_json:
        click.echo(
            json.dumps([_json_values(asdict(report)) for report in reports], ensure_ascii=False)
        )
    else:
        for report in reports:
            click.echo(f"{report.session_id[:8]}  {_describe_report(report)}")
    return 1 if only_check and any(not report.is_whole for report in reports) else 0


@command.command("delete")
@click.argument("session_id")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@_json
def delete(session_id: str, yes: bool, as_json: bool) -> None:
    """Delete a session permanently."""
    store = _store()
    try:
        info = store.get(session_id)
        if not yes and not _confirm(f"Delete session {info.id} for good?"):
            raise click.ClickException("Nothing was deleted. --yes deletes without asking.")
        store.delete(info.id)
    except SessionError as error:
        raise click.ClickException(str(error)) from error
    if as_json:
        click.echo(json.dumps({"deleted": info.id}))
    else:
        click.echo(f"deleted {info.id}", err=True)


@command.command("trace")
@click.argument("session_id")
@click.option("--last", type=click.IntRange(min=1), help="Only the last N prompts.")
@_json
def trace(session_id: str, last: int | None, as_json: bool) -> None:
    """Show how a session spent its time, as a timeline."""
    path = spans_path(_path(session_id).with_suffix(""))
    try:
        spans = list(read_spans(path)) if path.exists() else []
    except OSError as error:
        raise click.ClickException(f"{path}: {error.strerror}") from error
    if last is not None:
        starts = {span.trace_id: span.started_at for span in spans if span.parent_id is None}
        latest = set(sorted(starts, key=lambda trace_id: starts[trace_id])[-last:])
        spans = [span for span in spans if span.trace_id in latest]
    if as_json:
        click.echo(json.dumps([asdict(span) for span in spans], ensure_ascii=False))
        return
    for line in render_timeline(spans, width_cells=shutil.get_terminal_size((100, 24)).columns):
        click.echo(sanitize(line))
    if not spans:
        click.echo("no spans: nothing was asked in this session yet")


def _confirm(question: str) -> bool:
    try:
        return click.confirm(question, err=True)
    except click.Abort as error:
        if isinstance(error.__context__, KeyboardInterrupt):
            raise
        click.echo(err=True)  # end the line of the unanswered question
        return False


def _describe_report(report: RepairReport) -> str:
    if report.is_whole:
        return f"intact, {report.good} records"
    wrong = [
        f"{report.damaged} damaged records" if report.damaged else "",
        f"{report.torn_bytes} bytes of a truncated record" if report.torn_bytes else "",
        "" if report.has_header else "no header",
    ]
    text = f"{report.good} intact records, {', '.join(part for part in wrong if part)}"
    return f"{text}; repaired; the original is {report.backup}" if report.backup else text


def _store() -> SessionStore:
    return SessionStore(current_directories().agent_home)


def _path(session_id: str) -> Path:
    try:
        return find_session(_store(), session_id).path
    except SessionError as error:
        raise click.ClickException(str(error)) from error


def _print(text: str) -> None:
    sys.stdout.write(text if text.endswith("\n") else text + "\n")


def _json_values(data: dict[str, object]) -> dict[str, object]:
    return {
        key: value if isinstance(value, str | int | float | bool | None) else str(value)
        for key, value in data.items()
    }


def _readable(infos: Iterable[SessionInfo]) -> Iterator[SessionSummary]:
    """Yield the summaries; a session that cannot be read is reported on standard error."""
    for info in infos:
        try:
            yield summarize(info)
        except SessionError as error:
            click.echo(f"agent-tui: {error}", err=True)
