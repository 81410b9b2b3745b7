"""`/config`: every setting with its value and where that comes from; `key=value` changes one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence

from agent.errors import AgentError
from agent.settings.change import parse_value, set_value
from agent.settings.schema import SettingsFile
from tui.command_screen import CommandScreen
from tui.panels.list_panel import Item, ListPanel


async def open_panel(screen: CommandScreen, argument: str) -> None:
    """Change the named setting for the person, or show them all."""
    center = screen.commands
    if center is None:
        return
    file = center.context.agent_home / "settings.json"
    if argument:
        key, equals, text = argument.partition("=")
        if not equals:
            screen.notice("Type /config key=value; an empty value takes the key out.", "warning")
            return
        value = parse_value(text.strip()) if text.strip() else None
        try:
            await asyncio.to_thread(set_value, file, key.strip(), value)
        except (AgentError, OSError) as error:
            screen.notice(str(error), "warning")
            return
        screen.notice(f"{key.strip()} is set in {screen.display_path(file)}")
        return
    items = _items(screen)
    panel = ListPanel("Settings", items, hint="type to search · enter changes it · esc close")
    picked = await screen.show_dialog(panel)
    if picked is not None:
        key = items[picked.index].label
        screen.composer.edit(lambda buffer: buffer.set_text(f"/config {key}="))


def _items(screen: CommandScreen) -> Sequence[Item]:
    assert screen.commands is not None
    settings = screen.commands.context.settings()
    items: list[Item] = []
    for key in sorted(SettingsFile.model_fields):
        value = getattr(settings.values, key, None)
        origin = settings.merged.origins.get(key)
        if value is None or origin is None:
            items.append(Item(key, "not set"))
            continue
        shown = json.dumps(value, default=_plain, ensure_ascii=False)
        place = f"{origin.source} {screen.display_path(origin.file) if origin.file else ''}"
        items.append(Item(key, f"{shown[:60]} · {place.strip()}", is_current=True))
    return sorted(items, key=lambda item: (not item.is_current, item.label))


def _plain(value: object) -> object:
    return value.model_dump(exclude_none=True) if hasattr(value, "model_dump") else str(value)
