"""Reading a session before a run, and writing to it as the run goes along."""

from __future__ import annotations

from agent.library.base.awaiting import resolve_value
from agent.library.base.raw_items import InputItem, as_input, input_list
from agent.library.base.run_exceptions import UserError
from agent.library.items.run_items import ToolApprovalItem
from agent.library.sessions.item_session import SessionSettings
from agent.library.state.run_scope import RunScope


async def input_with_session(scope: RunScope) -> None:
    """Put what the session has before the run's input, and store that input.

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
    merged, added = [*history, *new], new
    function = scope.config.session_input_callback
    if function is not None:
        known = {id(each) for each in history}
        merged = await resolve_value(function(list(history), list(new)))
        if not isinstance(merged, list):
            raise UserError("session_input_callback must return a list of input items.")
        added = _find_added(merged, history, known)
    state.original_input = merged
    if added:
        await session.add_items(added)


def _drop_unpaired(items: list[InputItem]) -> list[InputItem]:
    """Return items without calls that have no output and outputs that have no call."""
    ids = [
        {each.get("call_id") for each in items if each.get("type") == kind}
        for kind in ("function_call", "function_call_output")
    ]
    both = ids[0] & ids[1]
    kinds = ("function_call", "function_call_output")
    return [each for each in items if each.get("type") not in kinds or each.get("call_id") in both]


def _find_added(
    merged: list[InputItem], history: list[InputItem], known: set[int]
) -> list[InputItem]:
    """Return what of a merged list was not in the history, each item of it as often as it is."""
    left = [each for each in history if not any(each is kept for kept in merged)]
    added: list[InputItem] = []
    for item in merged:
        if id(item) in known:
            continue
        if item in left:
            left.remove(item)
            continue
        if item in history:
            continue
        added.append(item)
    return added


async def save_turn(scope: RunScope) -> None:
    """Store what the run has made since the last time."""
    state = scope.state
    items = state.session_items[state.saved_count :]
    if scope.session is not None:
        given = [each.to_input_item() for each in items if not isinstance(each, ToolApprovalItem)]
        if given:
            await scope.session.add_items(given)
    state.saved_count = len(state.session_items)
