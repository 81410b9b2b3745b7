"""Reads a session before a run, and writes to it during the run."""

from __future__ import annotations

from agent.library.base.awaiting import resolve_value
from agent.library.base.raw_items import InputItem, as_input, input_list
from agent.library.base.run_exceptions import UserError
from agent.library.items.run_items import ToolApprovalItem
from agent.library.sessions.item_session import SessionSettings
from agent.library.state.run_scope import RunScope


async def input_with_session(scope: RunScope) -> None:
    """Put the session's items before the run's input, and store that input.

    Raises:
        UserError: the caller's function does not return a list.
    """
    session, state = scope.session, scope.state
    if session is None:
        return
    settings = getattr(session, "session_settings", None) or SessionSettings()
    limit = settings.resolve(scope.config.session_settings).limit
    history = await (session.get_items() if limit is None else session.get_items(limit=limit))
    history = _drop_unpaired([as_input(each) for each in history])
    new = input_list(state.original_input)
    items, new_items = [*history, *new], new
    function = scope.config.session_input_callback
    if function is not None:
        history_ids = {id(each) for each in history}
        items = await resolve_value(function(list(history), list(new)))
        if not isinstance(items, list):
            raise UserError("session_input_callback must return a list of input items.")
        new_items = _find_added(items, history, history_ids)
    state.original_input = items
    if new_items:
        await session.add_items(new_items)


def _drop_unpaired(items: list[InputItem]) -> list[InputItem]:
    """Return items without calls that have no output and outputs that have no call."""
    kinds = ("function_call", "function_call_output")
    ids = [{each.get("call_id") for each in items if each.get("type") == kind} for kind in kinds]
    both = ids[0] & ids[1]
    return [each for each in items if each.get("type") not in kinds or each.get("call_id") in both]


def _find_added(
    items: list[InputItem], history: list[InputItem], history_ids: set[int]
) -> list[InputItem]:
    """Return the items of a merged list that were not in the history, with repetitions."""
    removable = [each for each in history if not any(each is item for item in items)]
    new_items: list[InputItem] = []
    for item in items:
        if id(item) in history_ids:
            continue
        if item in removable:
            removable.remove(item)
            continue
        if item in history:
            continue
        new_items.append(item)
    return new_items


async def save_turn(scope: RunScope) -> None:
    """Store the run's items since the last save."""
    state = scope.state
    items = state.session_items[state.saved_count :]
    if scope.session is not None:
        new_items = [
            each.to_input_item() for each in items if not isinstance(each, ToolApprovalItem)
        ]
        if new_items:
            await scope.session.add_items(new_items)
    state.saved_count = len(state.session_items)
