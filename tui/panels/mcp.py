"""`/mcp`: the servers with their state, tools and token use, and actions on each."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Final

from agent.mcp.configuration.shown_entry import shown_address
from agent.mcp.mcp_errors import McpError
from agent.mcp.server_state import ServerState, ServerView
from permissions.base.text.count_text import count_text
from permissions.base.text.failure_text import error_reason
from themes.theme import Role
from tui.dialogs.mcp.changed_tools import changed_tools
from tui.dialogs.mcp.server_approval import server_approval
from tui.panels.list_panel import Item, ListPanel, Pick
from tui.panels.server_sign_in import sign_in
from tui.panels.text_panel import TextPanel
from tui.ports.command_screen import CommandScreen
from tui.text.safe_text import shown_line
from tui.text.styled_rows import MUTED, TEXT, Ink, Row, indent_rows
from tui.text.wrap import wrap

if TYPE_CHECKING:
    from agent.mcp.configuration.configured_servers import ConfiguredServer
    from agent.mcp.live.live_servers import LiveServers

_NONE: Final = (
    "No MCP servers. agent-tui mcp add NAME -- COMMAND adds one, and so does a .mcp.json in the "
    "project."
)
SIGNS: Final = {
    ServerState.CONNECTED: "✔",
    ServerState.PENDING: "…",
    ServerState.NEEDS_AUTH: "!",
    ServerState.FAILED: "✘",
    ServerState.DISABLED: "⊘",
}
_WORDS: Final = {
    ServerState.CONNECTED: "connected",
    ServerState.PENDING: "connecting",
    ServerState.NEEDS_AUTH: "not signed in",
    ServerState.FAILED: "failed",
    ServerState.DISABLED: "off",
}
_PAD: Final = (("   ", TEXT),)
_ORDERS: Final = ("enable", "disable", "reconnect")
Action = tuple[str, Callable[[], Awaitable[None]]]


async def open_panel(screen: CommandScreen, argument: str) -> None:
    """Show the servers; an argument is an action that is performed instead."""
    command_service = screen.session.commands
    live = None
    if command_service is not None:
        # The servers are created in the background at the start.
        await command_service.context.servers_made()
        live = command_service.context.servers()
    if live is None:
        screen.notice(_NONE)
        return
    if argument.strip():
        await _order(screen, live, argument.split())
        return
    pick: Pick | None = Pick(0, "")
    while pick is not None:
        views = sorted(live.views(), key=lambda view: (view.definition.scope, view.name))
        server_list = _ServerList(live, views)
        pick = await server_list.pick(screen, pick.index)
        if pick is not None and pick.index < len(views):
            await _open_server(screen, live, views[pick.index].name)


class _ServerList:
    """The open list of servers, which is updated when a server changes."""

    def __init__(self, live: LiveServers, views: Sequence[ServerView]) -> None:
        self._live = live
        self._views = list(views)

    async def pick(self, screen: CommandScreen, selected_index: int) -> Pick | None:
        panel = ListPanel(
            "MCP servers",
            self._items(),
            selected_index=selected_index,
            hint="enter details · type to search · esc close",
            preview=self._preview,
            empty=_NONE,
        )

        def on_change(_view: ServerView) -> None:
            self._views = [self._live.servers.view(old.name) or old for old in self._views]
            panel.replace(self._items())

        end = self._live.servers.on_change(on_change)
        try:
            return await screen.show_dialog(panel)
        finally:
            end()

    def _items(self) -> list[Item]:
        return [_item(self._live, view) for view in self._views] + _bad_items(self._live)

    def _preview(self, index: int, width: int) -> Sequence[Row]:
        if index < len(self._views):
            return _server_rows(self._live, self._views[index], width)
        warning = self._live.configuration.bad[index - len(self._views)].warning()
        return _muted_rows(str(warning), width)


async def _order(screen: CommandScreen, live: LiveServers, words: Sequence[str]) -> None:
    order, name = words[0], " ".join(words[1:])
    if order not in _ORDERS or not name:
        screen.notice("/mcp enable, disable or reconnect, then a name or all", "warning")
        return
    names = [view.name for view in live.views()] if name == "all" else [name]
    if name != "all" and live.servers.view(name) is None:
        screen.notice(f"There is no MCP server {shown_line(name)} here.", "warning")
        return
    for one in names:
        if order == "reconnect":
            await _try(screen, live.reconnect(one))
        else:
            await live.set_disabled(one, order == "disable")


async def _open_server(screen: CommandScreen, live: LiveServers, name: str) -> None:
    """Show one server and its actions until the user goes back."""
    selected_index = 0
    while (view := live.servers.view(name)) is not None:
        actions = _actions(screen, live, view)
        panel = ListPanel(
            f"MCP server {shown_line(name)}",
            [Item(label) for label, _ in actions],
            question=_state_text(view),
            selected_index=min(selected_index, len(actions) - 1),
            hint="enter select · esc back",
            preview=_details(live, view),
        )
        dialog_task = asyncio.ensure_future(screen.show_dialog(panel))
        change_task = asyncio.ensure_future(_await_change(live, view))
        try:
            await asyncio.wait((dialog_task, change_task), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in (dialog_task, change_task):
                one.cancel()
            await asyncio.wait((dialog_task, change_task))
        selected_index = panel.selected_item or 0
        if dialog_task.cancelled():
            continue
        pick = dialog_task.result()
        if pick is None:
            return
        selected_index = 0
        await actions[pick.index][1]()


async def _await_change(live: LiveServers, old_view: ServerView) -> None:
    """Return once a server has changed."""
    change = asyncio.Event()
    end = live.servers.on_change(lambda _view: change.set())
    try:
        while live.servers.view(old_view.name) == old_view:
            await change.wait()
            change.clear()
    finally:
        end()


def _actions(screen: CommandScreen, live: LiveServers, view: ServerView) -> list[Action]:
    name = view.name
    server = live.configuration.get(name)
    actions: list[Action] = []
    waiting = next((w for w in live.configuration.waiting if w.definition.name == name), None)
    if waiting is not None:
        actions.append(("Start it, or reject it", lambda: _approve(screen, live, waiting)))
    if live.changes.open_changes(name):
        actions.append(("See what changed", lambda: _accept(screen, live, name)))
    if view.tools:
        actions.append(
            (f"Show {count_text(len(view.tools), 'tool')}", lambda: _tools(screen, view))
        )
    if view.can_sign_in and view.state is not ServerState.DISABLED:
        label = "Sign in again" if view.is_signed_in else "Sign in"
        actions.append((label, lambda: sign_in(screen, live, name)))
    if view.is_signed_in:
        actions.append(("Sign out", lambda: _try(screen, live.servers.sign_out(name))))
    if server is not None and server.standing == "may_start":
        actions.append(("Reconnect", lambda: _try(screen, live.reconnect(name))))
        actions.append(("Turn off in this project", lambda: live.set_disabled(name, True)))
    if server is not None and server.standing == "disabled":
        actions.append(("Turn on", lambda: live.set_disabled(name, False)))
    if not actions:
        actions.append(("Back", _do_nothing))
    return actions


async def _do_nothing() -> None:
    return


async def _approve(screen: CommandScreen, live: LiveServers, waiting: ConfiguredServer) -> None:
    answer = await screen.show_dialog(server_approval(waiting))
    if answer is not None:
        await live.answer(waiting, is_approved=answer == "approved")


async def _accept(screen: CommandScreen, live: LiveServers, name: str) -> None:
    changes = live.changes.open_changes(name)
    if await screen.show_dialog(changed_tools(name, changes)):
        await live.accept_changes(name)


async def _tools(screen: CommandScreen, view: ServerView) -> None:
    def rows(width: int) -> list[Row]:
        lines: list[Row] = []
        for tool in view.tools:
            lines += wrap([(shown_line(tool.full_name), Ink(Role.CODE, bold=True))], width - 4)
            lines += wrap([(tool.description or "(no description)", TEXT)], width - 4)
        return lines

    await screen.show_dialog(TextPanel(f"Tools of {shown_line(view.name)}", rows))


async def _try(screen: CommandScreen, work: Awaitable[None]) -> None:
    try:
        await work
    except (McpError, OSError) as error:
        screen.notice(shown_line(error_reason(error)), "warning")


def _item(live: LiveServers, view: ServerView) -> Item:
    parts = [_WORDS[view.state]]
    if view.state is ServerState.CONNECTED:
        parts = [count_text(len(view.tools), "tool"), f"{live.tools.tokens(view.name):,} tokens"]
        if view.offer.withheld:
            parts.append(f"{len(view.offer.withheld)} withheld")
        parts += [
            count_text(len(entries), word)
            for entries, word in (
                (view.offer.resources, "resource"),
                (view.offer.prompts, "prompt"),
            )
            if entries
        ]
    elif view.reason and view.state is not ServerState.NEEDS_AUTH:
        parts.append(shown_line(view.reason))
    name = f"{SIGNS[view.state]} {shown_line(view.name)}"
    return Item(name, " · ".join(parts), group=view.definition.scope)


def _bad_items(live: LiveServers) -> list[Item]:
    return [
        Item(f"✘ {shown_line(bad.name)}", shown_line(bad.mistake.message), group="not usable")
        for bad in live.configuration.bad
    ]


def _state_text(view: ServerView) -> str:
    text = _WORDS[view.state]
    return f"{text}: {shown_line(view.reason)}" if view.reason else text


def _details(live: LiveServers, view: ServerView) -> Callable[[int, int], Sequence[Row]]:
    return lambda _index, width: _server_rows(live, view, width)


def _server_rows(live: LiveServers, view: ServerView, width: int) -> list[Row]:
    definition = view.definition
    texts = [shown_address(definition)]
    if definition.file is not None:
        texts.append(f"{definition.scope}, {definition.file}:{definition.line}")
    if view.server_name:
        texts.append(f"{view.server_name} {view.server_version}, {view.protocol_version}")
    waiting = len(live.tools.waiting(view.name))
    if view.tools:
        how = f", {waiting} found by search" if waiting else ", all loaded"
        suffix = how if live.tools.has_begun else ""
        texts.append(f"{count_text(len(view.tools), 'tool')}{suffix}")
    texts.extend(view.offer.problems[:3])
    texts.extend(view.detail.splitlines()[-5:])
    return [line for text in texts for line in _muted_rows(text, width)]


def _muted_rows(text: str, width: int) -> list[Row]:
    return indent_rows(wrap([(shown_line(text), MUTED)], width - 4), _PAD, _PAD)
