"""`/model`: which model answers, and how hard it thinks."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final, get_args

from agent.errors import AgentError
from agent.model.client import Effort, ModelError
from agent.model.endpoint import ALIASES
from tui.command_screen import CommandScreen
from tui.panels.list_panel import Item, ListPanel
from tui.text.ink import MUTED, TEXT, Row, row

_LIST_S: Final = 2.0
_LEVELS: Final[tuple[Effort | None, ...]] = (None, *get_args(Effort))


async def open_panel(screen: CommandScreen, argument: str) -> None:
    """Use the named model, or let the person choose."""
    conversation = screen.conversation
    if conversation is None:
        return
    if argument:
        await _use(screen, argument)
        return
    names = await _known(screen)
    level = _LEVELS.index(_as_effort(conversation.effort))
    items = [Item(name, detail, name == conversation.model) for name, detail in names]

    def adjust(step: int) -> None:
        nonlocal level
        level = max(0, min(level + step, len(_LEVELS) - 1))

    def preview(_index: int, _width: int) -> Sequence[Row]:
        shown = _LEVELS[level] or "auto"
        return [row("   effort ", (f"◂ {shown} ▸", TEXT), ("  ←→ changes it", MUTED))]

    current = next((i for i, item in enumerate(items) if item.is_current), 0)
    panel = ListPanel(
        "Model",
        items,
        selected=current,
        preview=preview,
        on_adjust=adjust,
        hint="enter uses it from the next request on · esc close",
    )
    picked = await screen.show_dialog(panel)
    if picked is None:
        return
    if _LEVELS[level] != conversation.effort and screen.commands is not None:
        screen.commands.context.session.set_effort(_LEVELS[level])
    await _use(screen, items[picked.index].label)


async def _use(screen: CommandScreen, name: str) -> None:
    conversation = screen.conversation
    assert conversation is not None
    try:
        await conversation.set_model(name)
    except AgentError as error:
        screen.notice(str(error), "warning")
        return
    effort = f", effort {conversation.effort}" if conversation.effort else ""
    screen.notice(f"model {conversation.model}{effort} from the next request on")


async def _known(screen: CommandScreen) -> list[tuple[str, str]]:
    """Return names with what they are: what is in use, short names, what the endpoint lists."""
    conversation, center = screen.conversation, screen.commands
    assert conversation is not None
    found = {conversation.model: "in use"}
    if center is not None:
        try:
            async with asyncio.timeout(_LIST_S):
                for name in await center.context.list_models():
                    found.setdefault(name, "offered by the endpoint")
        except (TimeoutError, ModelError, OSError):
            pass  # The list is a courtesy: names can be typed behind /model.
    if len(found) == 1 and not conversation.is_demo:
        for alias, name in ALIASES.items():
            found.setdefault(name, f"short: {alias}")
    return list(found.items())


def _as_effort(text: str | None) -> Effort | None:
    return next((level for level in get_args(Effort) if level == text), None)
