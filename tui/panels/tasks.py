"""`/tasks`: shows and stops agents, workers of the team, and background commands."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, TypeVar

from msgspec.structs import replace

from agent.commands.command_context import CommandContext, LedTeam
from agent.errors import AgentError
from agent.subagents.running_agent import RunningAgent
from agent.subagents.supervisor import AgentSupervisor
from agent.tools.base import ToolError
from agent.tools.shell.shell_process import ShellProcess
from permissions.base.text.failure_text import error_reason
from tui.dialogs.dialog import AnsweredDialog, run_alongside
from tui.panels.agent_view import show_agent
from tui.panels.line_entry import LineEntry
from tui.panels.list_panel import Item, ListPanel
from tui.panels.text_panel import TextPanel, text_rows
from tui.ports.command_screen import CommandScreen
from tui.text.styled_rows import Row
from tui.transcript.agent_rows import activity_of, figures_of

POLL_S: Final = 0.5
"""How often an open panel checks for output while a task runs."""

AnswerT = TypeVar("AnswerT")
_Task = RunningAgent | ShellProcess


async def open_panel(screen: CommandScreen, _argument: str) -> None:
    """Show the tasks; Enter shows one's output, m sends an agent a message, Delete stops one."""
    command_service = screen.session.commands
    if command_service is None:
        return
    shells = command_service.context.shells
    selected_index = 0
    while True:
        team = command_service.context.team()
        workers = team.rows() if team is not None else ()
        tasks: Sequence[_Task] = (*command_service.context.agents.all(), *workers, *shells.all())
        panel = ListPanel(
            "Agents and background commands",
            [_item(task) for task in tasks],
            selected_index=selected_index,
            keys=("delete", "m"),
            letters="keys",
            preview=_preview(tasks),
            hint="enter output · m message · del stop · / search · esc close",
            empty="No agents and no background commands. Ctrl+B moves a running command here.",
        )
        panel.key_handling = replace(panel.key_handling, steps_aside=True)
        pick = await _show_live(screen, panel, tasks, partial(_renew, panel, tasks))
        if pick is None:
            return
        selected_index = pick.index
        await _apply_key(screen, command_service.context, tasks[pick.index], pick.key)


async def _apply_key(screen: CommandScreen, context: CommandContext, task: _Task, key: str) -> None:
    """Apply a key to a task."""
    supervisor, team = context.agents, context.team()
    match task:
        case RunningAgent() if key != "enter" and team is not None and task in team.rows():
            await _act_on_worker(screen, team, task, key)
        case RunningAgent():
            if key == "enter":
                await _watch(screen, context, task)
            elif key == "m":
                await _message(screen, supervisor, task)
            elif supervisor.stop(task, "user"):
                screen.hint(f"stopped {task.id}")
        case ShellProcess():
            if key == "enter":
                await _show_output(screen, task)
            elif key == "delete" and task.is_running:
                await task.stop()


async def _watch(screen: CommandScreen, context: CommandContext, agent: RunningAgent) -> None:
    """Show an agent's transcript, from which the user can send messages and stop the agent."""
    while (key := await show_agent(screen, agent)) is not None:
        await _apply_key(screen, context, agent, key)


async def _message(screen: CommandScreen, supervisor: AgentSupervisor, agent: RunningAgent) -> None:
    """Ask for a message and send it to an agent; an agent that has ended continues."""
    text = await _ask_for_message(screen, agent)
    if text is None:
        return
    try:
        await supervisor.tell(agent, text)
    except ToolError as error:
        screen.notice(str(error), "warning")


async def _act_on_worker(
    screen: CommandScreen, team: LedTeam, worker: RunningAgent, key: str
) -> None:
    """Send a message to a worker of the team, or stop it."""
    try:
        if key == "delete":
            screen.hint(await team.dismiss(worker.id))
            return
        text = await _ask_for_message(screen, worker)
        if text is not None:
            screen.hint(await team.tell(worker.id, text))
    except (AgentError, OSError) as error:
        screen.notice(error_reason(error), "warning")


async def _ask_for_message(screen: CommandScreen, agent: RunningAgent) -> str | None:
    """Ask for a message to an agent; None if the user cancelled."""
    return await screen.show_dialog(
        LineEntry(
            f"To {agent.id}",
            "It receives this with its next tool results.",
            "enter send · esc back",
        )
    )


async def _show_output(screen: CommandScreen, shell: ShellProcess) -> None:
    """Show the output of a command, also new output while it runs."""

    def rows(width: int) -> Sequence[Row]:
        return text_rows(_output(shell) or "no output")(width)

    panel = TextPanel(f"{shell.id}  {_line(shell)}", rows, follows_end=True)
    await _show_live(screen, panel, [shell], lambda: panel.redraw())


async def _show_live(
    screen: CommandScreen,
    panel: AnsweredDialog[AnswerT],
    tasks: Sequence[_Task],
    refresh: Callable[[], None],
) -> AnswerT:
    """Show a panel that is refreshed while its tasks run; return its answer."""
    async with run_alongside(_poll_states(tasks, refresh)):
        return await screen.show_dialog(panel)


async def _poll_states(tasks: Sequence[_Task], refresh: Callable[[], None]) -> None:
    states = [_state(task) for task in tasks]
    while any(task.is_running for task in tasks) or states != [_state(task) for task in tasks]:
        await asyncio.sleep(POLL_S)
        now = [_state(task) for task in tasks]
        if now != states:
            states = now
            refresh()


def _state(task: _Task) -> object:
    if isinstance(task, RunningAgent):
        return task.state, activity_of(task), figures_of(task)
    return task.is_running, task.output.total_chars


def _renew(panel: ListPanel, tasks: Sequence[_Task]) -> None:
    panel.replace([_item(task) for task in tasks])


def _item(task: _Task) -> Item:
    if isinstance(task, RunningAgent):
        indent = "  " * (task.depth - 1)
        detail = f"{activity_of(task)}  {figures_of(task)}"
        return Item(f"{indent}{task.id}  {task.task.description}", detail, task.is_running)
    ending = "stopped" if task.was_stopped else f"ended with {task.exit_code}"
    state = "running" if task.is_running else ending
    return Item(f"{task.id}  {_line(task)}", state, task.is_running)


def _line(shell: ShellProcess) -> str:
    return next(iter(shell.command.splitlines()), "")


def _preview(tasks: Sequence[_Task]) -> Callable[[int, int], Sequence[Row]]:
    def rows(index: int, width: int) -> Sequence[Row]:
        task = tasks[index]
        text = task.answer.text if isinstance(task, RunningAgent) else _output(task)
        tail = "\n".join(text.splitlines()[-4:])
        return text_rows(tail)(width) if tail else ()

    return rows


def _output(shell: ShellProcess) -> str:
    return shell.output.text()
