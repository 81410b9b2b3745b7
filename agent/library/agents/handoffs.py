"""Handoffs of a conversation to another agent, offered to the model as tools."""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from pydantic import TypeAdapter, ValidationError

from agent.library.base.awaiting import MaybeAwaitable, resolve_value
from agent.library.base.raw_items import InputItem, RawItem
from agent.library.base.run_exceptions import ModelBehaviorError, UserError
from agent.library.base.strict_schema import ensure_strict_json_schema
from agent.library.context.run_context import RunContextWrapper
from agent.library.items.run_items import RunItem


class NamedAgent(Protocol):
    """The fields of an agent that a handoff needs."""

    name: str
    handoff_description: str | None


@dataclass(frozen=True)
class HandoffInputData:
    """The data that a handoff's filter may change."""

    input_history: str | tuple[InputItem, ...]
    """The input of the run."""
    pre_handoff_items: tuple[RunItem, ...]
    """Items of the run before the turn with the handoff."""
    new_items: tuple[RunItem, ...]
    """Items of that turn, including the handoff and its output."""
    run_context: RunContextWrapper | None = None
    input_items: tuple[RunItem, ...] | None = None
    """Replaces `new_items` for the next agent, while the session keeps `new_items`."""

    def clone(self, **kwargs: RawItem) -> HandoffInputData:
        """Return a copy with some fields changed."""
        return dataclasses.replace(self, **kwargs)


HandoffInputFilter = Callable[[HandoffInputData], MaybeAwaitable[HandoffInputData]]
HandoffHistoryMapper = Callable[[list[InputItem]], list[InputItem]]


@dataclass
class Handoff:
    """A handoff to another agent."""

    tool_name: str
    tool_description: str
    input_json_schema: dict[str, RawItem]
    on_invoke_handoff: Callable[[RunContextWrapper, str], Awaitable[RawItem]]
    """Takes the context and the arguments as JSON; returns the agent."""
    agent_name: str
    input_filter: HandoffInputFilter | None = None
    nest_handoff_history: bool | None = None
    """None: use the run's configuration."""
    strict_json_schema: bool = True
    is_enabled: bool | Callable[[RunContextWrapper, RawItem], MaybeAwaitable[bool]] = True
    target: RawItem = dataclasses.field(default=None, kw_only=True, repr=False)
    """The agent, if it is known before the call; needed to restore stored states."""

    def __class_getitem__(cls, _parameters: object) -> type[Handoff]:
        """Accept type parameters, which have no effect."""
        return cls

    def get_transfer_message(self, agent: NamedAgent) -> str:
        """Return the output of the handoff call."""
        return json.dumps({"assistant": agent.name})

    @classmethod
    def default_tool_name(cls, agent: NamedAgent) -> str:
        """Return the default name of the tool for a handoff to `agent`."""
        return re.sub(r"[^a-zA-Z0-9_]", "_", f"transfer_to_{agent.name}").lower()

    @classmethod
    def default_tool_description(cls, agent: NamedAgent) -> str:
        """Return the default description of the tool for a handoff to `agent`."""
        return (
            f"Handoff to the {agent.name} agent to handle the request. "
            f"{agent.handoff_description or ''}"
        )


def handoff(
    agent: NamedAgent,
    tool_name_override: str | None = None,
    tool_description_override: str | None = None,
    on_handoff: Callable[..., RawItem] | None = None,
    input_type: RawItem = None,
    input_filter: HandoffInputFilter | None = None,
    nest_handoff_history: bool | None = None,
    is_enabled: bool | Callable[[RunContextWrapper, RawItem], MaybeAwaitable[bool]] = True,
) -> Handoff:
    """Return a handoff to an agent.

    Args:
        on_handoff: Called with the context, and with the arguments if there is an `input_type`.
        input_type: Type of the arguments that the model must provide.

    Raises:
        UserError: `on_handoff` and `input_type` do not match.
    """
    _check_callback(on_handoff, input_type)
    adapter: TypeAdapter[RawItem] | None = TypeAdapter(input_type) if input_type else None

    async def invoke(context: RunContextWrapper, arguments: str) -> RawItem:
        if adapter is not None and on_handoff is not None:
            await resolve_value(on_handoff(context, _validate(adapter, arguments)))
        elif on_handoff is not None:
            await resolve_value(on_handoff(context))
        return agent

    return Handoff(
        tool_name=tool_name_override or Handoff.default_tool_name(agent),
        tool_description=tool_description_override or Handoff.default_tool_description(agent),
        input_json_schema=ensure_strict_json_schema(adapter.json_schema() if adapter else {}),
        on_invoke_handoff=invoke,
        agent_name=agent.name,
        input_filter=input_filter,
        nest_handoff_history=nest_handoff_history,
        is_enabled=is_enabled,
        target=agent,
    )


def _check_callback(on_handoff: Callable[..., RawItem] | None, input_type: RawItem) -> None:
    if input_type is not None and on_handoff is None:
        raise UserError("You must provide on_handoff when input_type is provided")
    if on_handoff is None:
        return
    if not callable(on_handoff):
        raise UserError("on_handoff must be callable")
    count = len(inspect.signature(on_handoff).parameters)
    if input_type is not None and count != 2:
        raise UserError("on_handoff must take two arguments: context and input")
    if input_type is None and count != 1:
        raise UserError("on_handoff must take one argument: context")


def _validate(adapter: TypeAdapter[RawItem], arguments: str | None) -> RawItem:
    if arguments is None:
        raise ModelBehaviorError("Handoff function expected non-null input, but got None")
    try:
        return adapter.validate_json(arguments, strict=True)
    except ValidationError as error:
        raise ModelBehaviorError(f"Invalid JSON input for a handoff: {error}") from error
