"""`/config`: every setting with its value and where that comes from; `key=value` changes one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from types import NoneType
from typing import Literal, get_args, get_origin

from agent.errors import AgentError
from agent.settings.change import parse_value, set_value
from agent.settings.describe import DESCRIPTIONS, UNSET, WITHOUT_EFFECT
from agent.settings.schema import SettingsFile
from themes.registry import load_theme
from themes.theme import ThemeError
from tui.editing.text_buffer import TextBuffer
from tui.input.actions import Context
from tui.panels import PANELS
from tui.panels.list_panel import Item, ListPanel
from tui.ports.command_screen import CommandScreen
from tui.text.styled_rows import BLANK, MUTED, Row, row
from tui.text.wrap import wrap
from tui.theme.theme_choice import theme_for

_OWN_PANELS = frozenset({"theme", "model", "permissions", "hooks"})
"""Settings that are better changed in a panel of their own."""


async def open_panel(screen: CommandScreen, argument: str) -> None:
    """Change the named setting for the user, or show them all."""
    center = screen.session.commands
    if center is None:
        return
    file = center.context.agent_home / "settings.json"
    if argument:
        if await _set_named(screen, file, argument):
            await center.context.reload_settings()
        return
    selected = 0
    while True:
        items = _items(screen)
        panel = ListPanel(
            "Settings",
            items,
            selected=selected,
            contexts=(Context.SETTINGS,),
            preview=_preview(items),
            hint="type to search · enter changes it · esc close",
        )
        picked = await screen.show_dialog(panel)
        if picked is None:
            return
        selected, key = picked.index, items[picked.index].label
        choices = choices_of(key)
        if key in _OWN_PANELS:
            await import_module(PANELS[key]).open_panel(screen, "")
        elif choices is not None:
            await _choose(screen, file, key, choices)
        else:
            screen.composer.edit(partial(TextBuffer.set_text, text=f"/config {key}="))
            return


async def _set_named(screen: CommandScreen, file: Path, argument: str) -> bool:
    """Write the setting of a `key=value`; False where that failed, which is reported."""
    key, equals, text = argument.partition("=")
    if not equals:
        screen.notice("Type /config key=value; an empty value takes the key out.", "warning")
        return False
    key, value = key.strip(), parse_value(text.strip()) if text.strip() else None
    try:
        if key == "theme" and isinstance(value, str):
            load_theme(theme_for(value, None), user_dir=screen.appearance.themes_dir)
        await asyncio.to_thread(set_value, file, key, value)
    except (AgentError, OSError, ThemeError) as error:
        screen.notice(str(error), "warning")
        return False
    what = "is set" if value is not None else "is taken out"
    screen.notice(f"{key} {what} in {screen.workspace.display_path(file)}")
    return True


async def _choose(screen: CommandScreen, file: Path, key: str, choices: Sequence[object]) -> None:
    """Let the user choose among the few values that a setting has."""
    assert screen.session.commands is not None
    now = getattr(screen.session.commands.context.settings().values, key, None)
    items = [
        Item(
            _shown(choice),
            UNSET.get(key, "") if choice is None else "",
            is_current=choice == now and type(choice) is type(now),
        )
        for choice in choices
    ]
    current = next((i for i, item in enumerate(items) if item.is_current), 0)
    picked = await screen.show_dialog(ListPanel(key, items, selected=current))
    if picked is None:
        return
    try:
        await asyncio.to_thread(set_value, file, key, choices[picked.index])
    except (AgentError, OSError) as error:
        screen.notice(str(error), "warning")
        return
    await screen.session.commands.context.reload_settings()


def choices_of(key: str) -> tuple[object, ...] | None:
    """Return the values of a setting that has few, None among them for "not set"; else None."""
    kind = SettingsFile.model_fields[key].annotation
    found: list[object] = []
    for part in get_args(kind) or (kind,):
        if part is bool:
            found += [True, False]
        elif get_origin(part) is Literal:
            found += get_args(part)
        elif part is not NoneType:
            return None
    return (*found, None) if found else None


def _shown(value: object) -> str:
    if value is None:
        return "not set"
    return json.dumps(value) if isinstance(value, bool) else str(value)


def _preview(items: Sequence[Item]) -> Callable[[int, int], Sequence[Row]]:
    def rows(index: int, width: int) -> Sequence[Row]:
        about = items[index].keywords.replace("`", "")
        lines = wrap([(about, MUTED)], max(1, width - 4))[:2]
        # As high for each setting, or the list would jump.
        return [*(row("   ", *line.runs) for line in lines), *[BLANK] * (2 - len(lines))]

    return rows


def _items(screen: CommandScreen) -> Sequence[Item]:
    assert screen.session.commands is not None
    settings = screen.session.commands.context.settings()
    items: list[Item] = []
    for key in sorted(SettingsFile.model_fields):
        about = DESCRIPTIONS.get(key, "")
        value = getattr(settings.values, key, None)
        origin = settings.merged.origins.get(key)
        if value is None or origin is None:
            items.append(Item(key, _unset(key), keywords=about))
            continue
        shown = json.dumps(value, default=_plain, ensure_ascii=False)
        place = (
            f"{origin.source} {screen.workspace.display_path(origin.file) if origin.file else ''}"
        )
        detail = f"{shown[:60]} · {place.strip()}"
        items.append(Item(key, detail, is_current=True, keywords=about))
    return sorted(items, key=_order)


def _unset(key: str) -> str:
    """Return what applies where a setting is not set."""
    if key in WITHOUT_EFFECT:
        return "no effect here"
    return f"default: {UNSET[key]}" if key in UNSET else "none"


def _order(item: Item) -> tuple[bool, bool, str]:
    """What is set comes first, and last what only an administrator can set."""
    return not item.is_current, item.keywords.startswith("For the policy"), item.label


def _plain(value: object) -> object:
    return value.model_dump(exclude_none=True) if hasattr(value, "model_dump") else str(value)
