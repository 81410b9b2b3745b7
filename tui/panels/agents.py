"""`/agents`: the kinds of agents, their sources and tools; creates, edits, tries or deletes one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from agent.subagents.catalog import AgentCatalog
from agent.subagents.definition import AgentDefinition, AgentSource
from agent.subagents.definition_fields import NAME
from permissions.base.files.private_file import make_private_dir
from permissions.explain.explain_decision import place_relative
from themes.theme import Role
from tui.panels.line_entry import LineEntry
from tui.panels.list_panel import Item, ListPanel, paragraph_rows
from tui.panels.session_actions import REMOVE, SURE
from tui.ports.command_screen import CommandScreen
from tui.text.safe_text import shown_line
from tui.text.styled_rows import TEXT, Ink, Row

NEW: Final = """---
name: {name}
description: When to use this agent
tools: Read, Grep, Glob
---
You are …
"""
_WARNING: Final = Ink(Role.WARNING)
_REMOVABLE: Final = frozenset({AgentSource.USER, AgentSource.PROJECT})


async def open_panel(screen: CommandScreen, _argument: str) -> None:
    """Show the kinds of agents; Enter edits one, n creates one, t tries one, Ctrl+X deletes one."""
    command_service = screen.session.commands
    if command_service is None:
        return
    catalog = command_service.context.agents.catalog
    short = place_relative(
        str(command_service.context.session.launch_dir), str(command_service.context.home)
    )
    selected_index = 0
    while True:
        await asyncio.to_thread(catalog.refresh)
        kinds = catalog.all()
        panel = ListPanel(
            "Agents",
            [_item(one) for one in kinds],
            question=_question(catalog, short),
            selected_index=selected_index,
            keys=("t", REMOVE),
            list_keys={"n": "new"},
            letters="keys",
            preview=_preview(catalog, kinds, short),
            hint=f"enter edit · t try · n new · {REMOVE} delete · / search · esc close",
        )
        pick = await screen.show_dialog(panel)
        if pick is None:
            return
        selected_index = pick.index
        if pick.key == "n":
            path = await _create_agent(screen, command_service.context.agent_home / "agents")
        elif pick.key == "t":
            if await _try(screen, kinds[pick.index]):
                return
            continue
        elif pick.key == REMOVE:
            await _remove(screen, kinds[pick.index], short)
            continue
        else:
            path = kinds[pick.index].path
        if path is not None:
            screen.workspace.edit_file(path)
            return
        if pick.key == "enter":
            screen.hint("built in, or given on the command line: no file to edit")


async def _create_agent(screen: CommandScreen, directory: Path) -> Path | None:
    """Ask for a name and write the file of a new agent; None if the user cancels."""
    question, name = "Its name: letters, digits and -, such as db-reviewer.", ""
    while NAME.fullmatch(name) is None:
        entry = LineEntry("New agent", question, "enter create · esc back", name)
        answer = await screen.show_dialog(entry)
        if answer is None:
            return None
        name = answer
        fault = f"{shown_line(name)} cannot be its name."
        question = f"{fault} Use letters, digits and -, such as db-reviewer."
    path = directory / f"{name}.md"
    try:
        make_private_dir(directory)
        with path.open("x", encoding="utf-8") as file:
            file.write(NEW.format(name=name))
    except FileExistsError:
        pass
    except OSError as error:
        screen.notice(f"{path} cannot be written: {error.strerror}.", "warning")
        return None
    return path


async def _try(screen: CommandScreen, kind: AgentDefinition) -> bool:
    """Ask for a task and a turn that gives it to an agent of this kind; False if cancelled."""
    task = await screen.show_dialog(
        LineEntry(
            f"Try {kind.name}", "Its task. Only its report is returned.", "enter send · esc back"
        )
    )
    if task is None:
        return False
    screen.session.send(f"Give this task to one agent of the kind {kind.name}: {task}")
    return True


async def _remove(
    screen: CommandScreen, kind: AgentDefinition, short: Callable[[str], str]
) -> None:
    """Delete the file of an agent after a confirmation, if it is the user's or the project's."""
    if kind.path is None or kind.source not in _REMOVABLE:
        screen.hint("only your agents and the project's have a file to delete")
        return
    question = f"{shown_line(short(str(kind.path)))} will be deleted. Type {SURE} to confirm."
    entry = LineEntry(f"Delete {kind.name}", question, "enter delete · esc back")
    if await screen.show_dialog(entry) != SURE:
        return
    try:
        await asyncio.to_thread(kind.path.unlink)
    except OSError as error:
        screen.notice(f"{kind.path} cannot be deleted: {error.strerror}.", "warning")


def _item(one: AgentDefinition) -> Item:
    faults = " · has errors" if one.problems else ""
    words = shown_line(" ".join(one.description.split()))
    source = "built in" if one.source is AgentSource.BUILTIN else one.source
    return Item(one.name, f"{source}{faults}  {words}", keywords=words)


def _question(catalog: AgentCatalog, short: Callable[[str], str]) -> str:
    lines = [short(problem) for problem in catalog.problems[:3]]
    if catalog.waiting:
        lines.append(f"waits for trust: {', '.join(catalog.waiting[:5])} · /trust")
    return "\n".join(lines)


def _preview(
    catalog: AgentCatalog, kinds: Sequence[AgentDefinition], short: Callable[[str], str]
) -> Callable[[int, int], Sequence[Row]]:
    def rows(index: int, width: int) -> Sequence[Row]:
        one = kinds[index]
        texts = [(line, TEXT) for line in _lines(one, short)]
        if missing := catalog.missing_tools(one):
            texts.append((f"not here: {', '.join(missing)}", _WARNING))
        texts += [(problem, _WARNING) for problem in one.problems]
        return [line for text, ink in texts for line in paragraph_rows(text, width, ink)]

    return rows


def _lines(one: AgentDefinition, short: Callable[[str], str]) -> Sequence[str]:
    tools = "every tool" if one.tools is None else ", ".join(one.tools) or "no tools"
    without = f", without {', '.join(one.disallowed_tools)}" if one.disallowed_tools else ""
    model = one.model or "the conversation's"
    mode = one.permission_mode or "the conversation's"
    own = f" · servers of its own: {', '.join(one.own_servers)}" if one.own_servers else ""
    where = short(str(one.path)) if one.path is not None else str(one.source)
    origin = "built in" if one.source is AgentSource.BUILTIN else where
    return (
        f"tools: {tools}{without}{own}",
        f"model: {model} · mode: {mode} · at most {one.max_turns} turns",
        f"from: {origin}",
    )
