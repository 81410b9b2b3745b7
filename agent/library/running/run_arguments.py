"""The arguments of `Runner.run`, `run_sync` and `run_streamed`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict

from agent.library.agents.run_hooks import RunHooks
from agent.library.base.raw_items import InputItem, RawItem
from agent.library.sessions.item_session import ItemSession
from agent.library.state.run_config import RunConfig, RunErrorHandlers
from agent.library.state.run_state import RunState

RunInput = str | list[InputItem] | RunState
"""Text, items, or the state of an earlier run to continue from."""


class RunArguments(TypedDict, total=False):
    """Keyword arguments of `Runner.run`, `run_sync` and `run_streamed`."""

    context: RawItem
    """An object for tools, guardrails and hooks; no model sees it."""
    max_turns: int | None
    """Most turns; None means no limit."""
    hooks: RunHooks | None
    run_config: RunConfig | Mapping[str, RawItem] | None
    error_handlers: RunErrorHandlers | None
    """Return an output instead of raising an exception."""
    session: ItemSession | None
    """Where the conversation is stored between runs."""
    previous_response_id: str | None
    auto_previous_response_id: bool
    conversation_id: str | None
    """These three are passed to the caller's models; the program's models ignore them."""
