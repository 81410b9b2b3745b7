"""`/sandbox`: how commands are confined, what they can reach, what was refused, and the switch."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

from agent.commands.command_context import CommandContext
from agent.errors import AgentError
from agent.sandbox.availability import Availability
from agent.sandbox.network.host_rules import HostRule
from agent.sandbox.policy import SandboxPolicy
from agent.sandbox.sandbox import RunRequest, Sandbox
from agent.settings.change import set_switch
from agent.tools.shell.refused_note import refusal_line
from permissions.base.process.spawn import CannotConfine, Launch
from permissions.base.text.failure_text import error_reason
from permissions.confinement import Confinement, SandboxLevel
from permissions.context import SandboxState
from permissions.decision import source_name
from permissions.explain.explain_decision import (
    Shorten,
    home_relative,
)
from tui.panels.list_panel import Item, ListPanel, paragraph_rows
from tui.ports.command_screen import CommandScreen
from tui.text.styled_rows import TEXT, Row

_SWITCH: Final = 0
"""Index of the item that is the switch."""
_MEANING: Final = {
    SandboxLevel.FULL: "every limit on commands is enforced",
    SandboxLevel.FILES: "commands that rules allow cannot write repositories or outside your "
    "folders, and have no network; more commands ask",
    SandboxLevel.NONE: "nothing is enforced, so more commands ask",
}


async def open_panel(screen: CommandScreen, _argument: str) -> None:
    """Show the sandbox; Enter on the first item turns working inside it on or off."""
    command_service = screen.session.commands
    if command_service is None:
        return
    context = command_service.context
    selected_index = 0
    while True:
        items = await asyncio.to_thread(_items, context)
        panel = ListPanel(
            "Sandbox",
            items,
            question=level_text(context.sandbox.available),
            selected_index=selected_index,
            hint="enter switch · type to search · esc close",
            preview=_preview(items),
        )
        pick = await screen.show_dialog(panel)
        if pick is None:
            return
        selected_index = pick.index
        if pick.index == _SWITCH:
            await _switch(screen, context)


def level_text(available: Availability) -> str:
    """Return the level, why it is not higher, and how to raise it."""
    program = f" ({available.program})" if available.program else ""
    text = f"Level {available.level}: {_MEANING[available.level]}. {available.backend}{program}."
    if available.reason:
        text += f" Why not full: {available.reason}."
    if available.fix:
        text += f" To get more: {available.fix}"
    return text


async def _switch(screen: CommandScreen, context: CommandContext) -> None:
    state = context.gate.context.sandbox
    if state.level is not SandboxLevel.FULL:
        screen.notice("Commands can run inside the sandbox only at level full.", "warning")
        return
    runs_inside = not state.runs_inside
    try:
        await asyncio.to_thread(
            set_switch, context.agent_home / "settings.json", "sandbox", "enabled", runs_inside
        )
    except (AgentError, OSError) as error:
        screen.notice(f"Not saved: {error_reason(error)}", "warning")
        return
    await context.reload_settings()
    if context.gate.context.sandbox.runs_inside is not runs_inside:
        screen.notice(
            "Stored in your settings; --sandbox or other settings decide in this run.", "warning"
        )


def _items(context: CommandContext) -> list[Item]:
    short = home_relative(str(context.home))
    state = context.gate.context.sandbox
    items = [
        Item(
            "Run commands inside the sandbox",
            _command_mode(state),
            is_current=state.runs_inside,
            group="Commands",
        ),
        *_outside_items(state),
    ]
    try:
        policy, shared_policy = _policies(context)
    except CannotConfine as error:
        items.append(Item(str(error), group="Directories"))
    else:
        items += _directories(policy, shared_policy, state.level, short)
    if state.level is SandboxLevel.FULL:
        items += _hosts(context.sandbox)
    items += [
        Item(refusal_line(refusal), call.command, group="Recently refused")
        for call in context.sandbox.refusal_log.latest()
        for refusal in call.refusals
    ]
    return items


def _directories(
    policy: SandboxPolicy, shared_policy: SandboxPolicy, level: SandboxLevel, short: Shorten
) -> list[Item]:
    """Return the directories that commands can reach, as far as the level enforces it."""
    if level is SandboxLevel.NONE:
        return [
            Item("Everything you may write", "not protected from commands", group="Directories")
        ]
    is_full = level is SandboxLevel.FULL
    writable = [one for one in policy.write_roots if one not in shared_policy.read_only]
    items = [Item(short(one), "writable", group="Directories") for one in writable]
    as_tmp = "writable, as /tmp" if is_full else "writable"
    items.append(Item(short(policy.temp_dir), as_tmp, group="Directories"))
    items += _path_list_items(
        "protected", _protected_names(shared_policy if not is_full else policy), short
    )
    items += _path_list_items("closed to new files", shared_policy.closed_directories, short)
    if is_full:
        items += _path_list_items("hidden", (*policy.secret, *policy.denied_paths), short)
    is_one = len(shared_policy.caches) == 1
    caches = "package cache, for allow rules" if is_one else "package caches, for allow rules"
    return items + _path_list_items(caches, shared_policy.caches, short)


def _command_mode(state: SandboxState) -> str:
    if not state.runs_inside:
        return "off"
    if state.level is not SandboxLevel.FULL:
        return "requested; needs level full"
    return "on, without asking" if state.works_inside else "on, and asks as before"


def _outside_items(state: SandboxState) -> list[Item]:
    """Return the commands that run outside the sandbox."""
    behavior = "asks you" if state.allow_unsandboxed else "never"
    items = [Item("A command that the model wants to run outside", behavior, group="Commands")]
    commands = ", ".join(state.excluded_commands)
    if commands:
        items.append(Item("Always outside", commands, group="Commands"))
    return items


def _policies(context: CommandContext) -> tuple[SandboxPolicy, SandboxPolicy]:
    """Return the policy of a command inside the sandbox, and that of one that a rule allows."""
    program = Launch(("/bin/true",), dict(context.env), context.session.cwd)
    project = context.sandbox.policy(RunRequest(Confinement.PROJECT), program)
    return project, context.sandbox.policy(RunRequest(Confinement.PROJECT_FILES), program)


def _protected_names(policy: SandboxPolicy) -> tuple[str, ...]:
    names = (*policy.read_only, *policy.missing_directories)
    return tuple(dict.fromkeys((*names, *policy.watched_names)))


def _path_list_items(what: str, paths: Sequence[str], short: Shorten) -> list[Item]:
    """Return one item for many paths; all of them are shown while it is selected."""
    if not paths:
        return []
    names = ", ".join(short(path) for path in sorted(paths))
    return [Item(f"{len(paths)} {what}", names, group="Directories")]


def _hosts(sandbox: Sandbox) -> list[Item]:
    if sandbox.network is None:
        return []
    rules = sandbox.network.gate.rules
    entries = [*((one, "allowed") for one in rules.allow), *((one, "denied") for one in rules.deny)]
    items = [Item(rule.text, f"{what}, {_origin(rule)}", group="Hosts") for rule, what in entries]
    return [*items, Item("every other host", "asks you", group="Hosts")]


def _origin(rule: HostRule) -> str:
    return source_name(rule.source) if rule.source is not None else "by you, for this session"


def _preview(items: Sequence[Item]) -> Callable[[int, int], list[Row]]:
    def rows(index: int, width: int) -> list[Row]:
        """Return the full text of an item that is too long for one line; otherwise []."""
        item = items[index]
        text = f"{item.label}: {item.detail}" if item.detail else item.label
        lines = paragraph_rows(text, width, TEXT)
        return lines if len(lines) > 1 else []

    return rows
