"""`/config`: every setting with its value and source; `key=value` changes one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path

from msgspec import Struct

from agent.errors import AgentError
from agent.settings.change import parse_value, set_value
from agent.settings.describe import DESCRIPTIONS, UNSET, choices_of
from agent.typed_json.read_record import as_values
from permissions.base.text.failure_text import error_reason
from themes.registry import load_theme
from themes.theme import ThemeError
from tui.editing.text_buffer import TextBuffer
from tui.input.actions import Context
from tui.panels import PANELS
from tui.panels.list_panel import Item, ListPanel, paragraph_rows
from tui.panels.setting_names import GROUPS
from tui.ports.command_screen import CommandScreen
from tui.text.styled_rows import BLANK, Row
from tui.theme.theme_choice import theme_for

_OWN_PANELS = frozenset({"theme", "model", "permissions", "hooks"})
"""Settings that have their own panel."""
_NAMES = {key: name for names in GROUPS.values() for key, name in names.items()}
_VALUE_CHARS = 60


async def open_panel(screen: CommandScreen, argument: str) -> None:
    """Change the named setting in the user's file, or show all settings."""
    command_service = screen.session.commands
    if command_service is None:
        return
    file = command_service.context.agent_home / "settings.json"
    if argument:
        if await _set_named(screen, file, argument):
            await command_service.context.reload_settings()
        return
    selected_index, keys = 0, [key for names in GROUPS.values() for key in names]
    while True:
        panel = ListPanel(
            "Settings",
            _items(screen),
            selected_index=selected_index,
            contexts=(Context.SETTINGS,),
            preview=_preview([_describe_setting(screen, key) for key in keys]),
            hint="type to search · enter change · esc close",
        )
        pick = await screen.show_dialog(panel)
        if pick is None:
            return
        selected_index, key = pick.index, keys[pick.index]
        choices = choices_of(key)
        if key in _OWN_PANELS:
            await import_module(PANELS[key]).open_panel(screen, "")
        elif choices is not None:
            await _choose(screen, file, key, choices)
        else:
            screen.composer.edit(partial(TextBuffer.set_text, text=f"/config {key}="))
            return


async def _set_named(screen: CommandScreen, file: Path, argument: str) -> bool:
    """Write the setting of a `key=value`; False if that failed, which is reported."""
    key, equals, text = argument.partition("=")
    if not equals:
        screen.notice("Type /config key=value; an empty value removes the key.", "warning")
        return False
    key, value = key.strip(), parse_value(text.strip()) if text.strip() else None
    try:
        if key == "theme" and isinstance(value, str):
            load_theme(theme_for(value, None), user_dir=screen.appearance.themes_dir)
        await asyncio.to_thread(set_value, file, key, value)
    except (AgentError, OSError, ThemeError) as error:
        screen.notice(error_reason(error), "warning")
        return False
    what = "is set" if value is not None else "is removed"
    screen.notice(f"{key} {what} in {screen.workspace.display_path(file)}")
    return True


async def _choose(screen: CommandScreen, file: Path, key: str, choices: Sequence[object]) -> None:
    """Let the user choose one of a setting's values."""
    assert screen.session.commands is not None
    now = getattr(screen.session.commands.context.settings().values, key, None)
    items = [
        Item(
            shown_value(choice),
            shown_value(UNSET.get(key, "")) if choice is None else "",
            is_current=choice == now and type(choice) is type(now),
        )
        for choice in choices
    ]
    current = next((i for i, item in enumerate(items) if item.is_current), 0)
    pick = await screen.show_dialog(ListPanel(_NAMES[key], items, selected_index=current))
    if pick is None:
        return
    try:
        await asyncio.to_thread(set_value, file, key, choices[pick.index])
    except (AgentError, OSError) as error:
        screen.notice(error_reason(error), "warning")
        return
    await screen.session.commands.context.reload_settings()


def shown_value(value: object) -> str:
    """Return a value as text for users."""
    if value is None:
        return "default"
    words = {True: "on", False: "off", "true": "on", "false": "off"}
    return words.get(value, str(value)) if isinstance(value, bool | str) else str(value)


def _preview(descriptions: Sequence[str]) -> Callable[[int, int], Sequence[Row]]:
    def rows(index: int, width: int) -> Sequence[Row]:
        lines = paragraph_rows(descriptions[index], width)[:2]
        # The same height for each setting, so that the list does not move.
        return [*lines, *[BLANK] * (2 - len(lines))]

    return rows


def _items(screen: CommandScreen) -> Sequence[Item]:
    """Return the settings in the order of `GROUPS`; those that are set are marked."""
    assert screen.session.commands is not None
    settings = screen.session.commands.context.settings()
    items: list[Item] = []
    for group, names in GROUPS.items():
        for key, name in names.items():
            value = getattr(settings.values, key, None)
            origin = settings.effective.origins.get(key)
            is_set = value is not None and origin is not None
            items.append(
                Item(
                    name,
                    _short_value(value) if is_set else shown_value(UNSET.get(key, "none")),
                    is_current=is_set,
                    keywords=f"{key} {DESCRIPTIONS.get(key, '')}",
                    group=group,
                )
            )
    return items


def _short_value(value: object) -> str:
    text = shown_value(value)
    if not isinstance(value, str | bool):
        text = json.dumps(value, default=_json_value, ensure_ascii=False)
    return text if len(text) <= _VALUE_CHARS else f"{text[: _VALUE_CHARS - 1]}…"


def _describe_setting(screen: CommandScreen, key: str) -> str:
    """Return a setting's description, its key, and where it is set."""
    assert screen.session.commands is not None
    origin = screen.session.commands.context.settings().effective.origins.get(key)
    text = f"{DESCRIPTIONS.get(key, '').replace('`', '')} ({key})"
    if origin is None:
        return text
    if origin.file is None:
        return f"{text}, set on the command line"
    return f"{text}, set in {screen.workspace.display_path(origin.file)}"


def _json_value(value: object) -> object:
    return as_values(value) if isinstance(value, Struct) else str(value)
