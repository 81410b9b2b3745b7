"""`/model`: chooses the model and its effort."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, get_args

from agent.errors import AgentError
from agent.model.client import Effort, ModelError
from agent.model.endpoint import ALIASES, expand_alias
from permissions.base.text.sanitize import reveal
from tui.dialogs.choice_dialog import ChoiceDialog
from tui.dialogs.choices import Choice
from tui.dialogs.dialog import run_alongside
from tui.input.actions import Context
from tui.panels.list_panel import Item, ListPanel
from tui.panels.saved_setting import save_setting
from tui.ports.command_screen import CommandScreen
from tui.text.styled_rows import MUTED, TEXT, Row, row
from tui.text.wrap import wrap

if TYPE_CHECKING:
    from agent.commands.service import CommandService
    from tui.ports.conversation import ConversationPort

SESSION_ONLY: Final = "modelPicker:thisSessionOnly"
_LIST_S: Final = 5.0
_SHOWN: Final = 8
"""Maximum number of models that the question about an unlisted name shows."""
_LEVELS: Final[tuple[Effort | None, ...]] = (None, *get_args(Effort))


async def open_panel(screen: CommandScreen, argument: str) -> None:
    """Use the named model, or let the user choose."""
    conversation = screen.session.conversation
    if conversation is None:
        return
    if argument:
        if await _is_wanted(screen, argument):
            await _use(screen, argument)
        return
    level = _LEVELS.index(_as_effort(conversation.status.effort))
    items = [Item(conversation.status.model, "in use", is_current=True)]

    def adjust(step: int) -> None:
        nonlocal level
        level = max(0, min(level + step, len(_LEVELS) - 1))

    def preview(_index: int, _width: int) -> Sequence[Row]:
        effort = _LEVELS[level] or "auto"
        return [row("   effort ", ("◂ ", MUTED), effort, (" ▸", MUTED))]

    panel = ListPanel(
        "Model",
        items,
        contexts=(Context.MODEL_PICKER,),
        letters="keys",
        keys=(SESSION_ONLY,),
        preview=preview,
        on_adjust=adjust,
        hint="enter use and save · s this session only · ←→ effort · / search · esc close",
    )
    async with run_alongside(_add_offered(screen, items, panel)):
        pick = await screen.show_dialog(panel)
    if pick is None:
        return
    await _apply(
        screen,
        conversation,
        items[pick.index].label,
        _LEVELS[level],
        is_saved=pick.key != SESSION_ONLY,
    )


async def _apply(
    screen: CommandScreen,
    conversation: ConversationPort,
    name: str,
    effort: Effort | None,
    *,
    is_saved: bool,
) -> None:
    """Use a model and an effort; with `is_saved`, store both in the user's settings."""
    is_new_effort = effort != _as_effort(conversation.status.effort)
    if is_new_effort and screen.session.commands is not None:
        screen.session.commands.context.changes.set_effort(effort)
    is_used = await _use(screen, name)
    if is_used and is_saved and not conversation.view.is_demo:
        await save_setting(screen, "model", name)
        if is_new_effort:
            await save_setting(screen, "effortLevel", effort)


async def _add_offered(screen: CommandScreen, items: list[Item], panel: ListPanel) -> None:
    """Add the models that the endpoint lists, while the panel is already open.

    If the endpoint does not respond, add the models with known short names.
    """
    conversation, command_service = screen.session.conversation, screen.session.commands
    if conversation is None or command_service is None:
        return
    details = dict.fromkeys(await _list_models(command_service), "offered by the endpoint")
    if not details and not conversation.view.is_demo:
        details = {name: f"short: {alias}" for alias, name in ALIASES.items()}
    labels = {item.label for item in items}
    more = [Item(name, detail) for name, detail in details.items() if name not in labels]
    panel.extend(more)
    items.extend(more)


async def _is_wanted(screen: CommandScreen, argument: str) -> bool:
    """Return whether to use a model; ask about one that the endpoint does not list.

    An endpoint may serve models that it does not list, so the user decides.
    """
    conversation, command_service = screen.session.conversation, screen.session.commands
    if conversation is None or command_service is None or conversation.view.is_demo:
        return True
    name = expand_alias(argument)
    names = await _list_models(command_service)
    # The endpoint lists models with their date, which the name may lack.
    if not names or any(each.startswith(name) for each in names):
        return True
    return await screen.show_dialog(_unlisted_dialog(name, conversation.status.model, names))


def _unlisted_dialog(name: str, current: str, names: Sequence[str]) -> ChoiceDialog[bool]:
    has = ", ".join(names[:_SHOWN]) + (" …" if len(names) > _SHOWN else "")
    text = reveal(f"The endpoint does not list {name}. It has: {has}.")

    def body(width: int) -> Sequence[Row]:
        return wrap([(text, TEXT)], width)

    answers = [
        (Choice(reveal(f"Yes, use {name}")), True),
        (Choice(reveal(f"No, keep {current}")), False),
    ]
    return ChoiceDialog("Model", body, "Use it anyway?", answers)


async def _list_models(command_service: CommandService) -> Sequence[str]:
    """Return the models that the endpoint lists; () if it does not respond."""
    try:
        async with asyncio.timeout(_LIST_S):
            return await command_service.context.list_models()
    except (TimeoutError, ModelError, OSError):
        return ()  # The list is optional: users can type a name after /model.


async def _use(screen: CommandScreen, name: str) -> bool:
    conversation = screen.session.conversation
    assert conversation is not None
    try:
        left_out = await conversation.controls.set_model(name)
    except AgentError as error:
        screen.notice(str(error), "warning")
        return False
    effort = f", effort {conversation.status.effort}" if conversation.status.effort else ""
    screen.notice(f"Model set to {conversation.status.model}{effort}")
    if left_out:
        screen.notice(left_out)
    return True


def _as_effort(text: str | None) -> Effort | None:
    return next((level for level in get_args(Effort) if level == text), None)
