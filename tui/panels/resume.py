"""`/resume`: opens another session, with search and preview."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

from msgspec.structs import replace

from agent.commands.command_context import CommandContext
from agent.errors import AgentError, SessionError
from agent.session.archive.find_by_name import find_session
from agent.session.archive.summaries import SessionSummary, summarize
from agent.session.store import SessionInfo, SessionStore
from themes.theme import Role
from tui.dialogs.dialog import run_alongside
from tui.panels.list_panel import Item, ListPanel, Pick
from tui.panels.session_actions import FIND, HINT, SessionActions
from tui.ports.command_screen import CommandScreen
from tui.text.highlight import Highlighter
from tui.text.safe_text import shown_line
from tui.text.styled_rows import MUTED, TEXT, Row, row
from tui.text.time_ago import time_ago
from tui.text.wrap import wrap
from tui.transcript.markdown.markdown_rows import markdown_rows

MAX_SESSIONS: Final = 3_000
FIRST_SESSIONS: Final = 15
"""Number of sessions that are read before the panel opens; the others are read after that."""
MORE_SESSIONS: Final = 50
ALL_PROJECTS: Final = "ctrl+a"
_PREVIEW_ROWS: Final = 2
"""Rows of the last prompt, and of its answer."""
_PLAIN: Final = Highlighter()


async def open_panel(screen: CommandScreen, argument: str) -> None:
    """Open the named session, or let the user choose one."""
    command_service = screen.session.commands
    if command_service is None:
        return
    if command_service.context.session.is_demo:
        screen.notice(
            "The demo has no other sessions. Start without --demo to resume one.", "warning"
        )
        return
    store = SessionStore(
        command_service.context.agent_home, version=command_service.context.version
    )
    if argument:
        try:
            session = await asyncio.to_thread(find_session, store, argument)
        except AgentError as error:
            screen.notice(str(error), "warning")
            return
        await screen.session.restart(session.id)
        return
    await _choose(screen, command_service.context, store)


async def _choose(screen: CommandScreen, context: CommandContext, store: SessionStore) -> None:
    """Show the sessions until one is opened or the panel is closed."""
    actions = SessionActions(screen, context, store)
    everywhere = False
    while True:
        unread = await _others(context, store, everywhere=everywhere)
        summaries: list[SessionSummary] = []
        while unread and not summaries:
            summaries += await asyncio.to_thread(_summaries, unread[:FIRST_SESSIONS])
            del unread[:FIRST_SESSIONS]
        if not summaries and not everywhere:
            everywhere = True
            continue
        pick = await _pick(screen, actions, unread, summaries, everywhere)
        if pick is None:
            return
        if pick.key == "enter":
            await screen.session.restart(summaries[pick.index].id)
            return
        if pick.key == ALL_PROJECTS:
            everywhere = not everywhere
        elif pick.key == FIND:
            if await actions.find():
                return
        elif await actions.run(pick.key, summaries[pick.index]):
            return


async def _others(
    context: CommandContext, store: SessionStore, *, everywhere: bool
) -> list[SessionInfo]:
    """Return the sessions to choose from, the newest first, without the current one."""
    root = None if everywhere else context.settings().project_root
    infos = await asyncio.to_thread(store.list, root)
    return [info for info in infos[:MAX_SESSIONS] if info.id != context.session.session_id]


async def _pick(
    screen: CommandScreen,
    actions: SessionActions,
    unread: list[SessionInfo],
    summaries: list[SessionSummary],
    everywhere: bool,
) -> Pick | None:
    """Show the panel; summaries of the `unread` sessions are read while it is open."""
    panel = ListPanel(
        "Resume, all projects" if everywhere else "Resume",
        [_item(summary, everywhere) for summary in summaries],
        keys=(ALL_PROJECTS, FIND, *actions.keys),
        preview=_preview(summaries),
        hint=f"enter open · ctrl+a all · {HINT}",
        empty="no other session yet" if everywhere else "no other session in this project",
    )
    async with run_alongside(_read_rest(panel, unread, summaries, everywhere)):
        return await screen.show_dialog(panel)


async def _read_rest(
    panel: ListPanel,
    unread: Sequence[SessionInfo],
    summaries: list[SessionSummary],
    everywhere: bool,
) -> None:
    """Add the other sessions to the open panel."""
    for start in range(0, len(unread), MORE_SESSIONS):
        more = await asyncio.to_thread(_summaries, unread[start : start + MORE_SESSIONS])
        summaries += more
        panel.extend([_item(summary, everywhere) for summary in more])


def _summaries(infos: Sequence[SessionInfo]) -> list[SessionSummary]:
    """Return the summaries; sessions that have no prompt or cannot be read are left out."""
    summaries = (_summary(info) for info in infos)
    return [summary for summary in summaries if summary is not None and summary.title]


def _summary(info: SessionInfo) -> SessionSummary | None:
    try:
        return summarize(info)
    except SessionError:
        return None


def _item(summary: SessionSummary, with_project: bool) -> Item:
    where = f" · {summary.launch_dir}" if with_project else ""
    detail = f"{time_ago(summary.modified)}{where}"
    keywords = f"{summary.last_prompt} {summary.last_answer} {summary.id}"
    return Item(summary.title[:120], detail, keywords=keywords)


def _preview(summaries: Sequence[SessionSummary]) -> Callable[[int, int], Sequence[Row]]:
    def rows(index: int, width: int) -> Sequence[Row]:
        summary = summaries[index]
        prompt = wrap([("❯ ", MUTED), (shown_line(summary.last_prompt), TEXT)], max(1, width - 4))
        lines = [row("   ", *line.runs) for line in prompt[:_PREVIEW_ROWS]]
        answer = "\n".join(map(shown_line, summary.last_answer.splitlines()))
        answer_rows = markdown_rows(answer, max(1, width - 6), _PLAIN)
        for line in [line for line in answer_rows if line.text.strip()][:_PREVIEW_ROWS]:
            runs = [(text, replace(ink, role=Role.MUTED)) for text, ink in line.runs]
            lines.append(row("     ", *runs))
        cost = f"${summary.cost_usd:.2f} · {summary.size_bytes // 1024:,} kB · {summary.id}"
        return [*lines, row(("   " + cost, MUTED))]

    return rows
