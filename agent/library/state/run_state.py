"""The state of a run that can be stored, from `to_state`; `Runner.run` continues from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from agent.library.agents.agent_definition import Agent
from agent.library.base.raw_items import RawItem
from agent.library.state.run_progress import RunProgress
from agent.library.state.state_json import (
    parse_state,
    read_state,
    state_to_json,
    state_to_string,
)


class RunState(RunProgress):
    """One run, with its JSON form."""

    def to_json(
        self,
        *,
        context_serializer: Callable[[RawItem], Mapping[str, RawItem]] | None = None,
        strict_context: bool = False,
    ) -> dict[str, RawItem]:
        """Return the state as JSON values. Raises as `state_to_json`."""
        return state_to_json(self, context_serializer, strict_context=strict_context)

    def to_string(
        self,
        *,
        context_serializer: Callable[[RawItem], Mapping[str, RawItem]] | None = None,
        strict_context: bool = False,
    ) -> str:
        """Return the state as JSON text."""
        return state_to_string(self, context_serializer, strict_context=strict_context)

    @classmethod
    async def from_json(
        cls,
        initial_agent: Agent,
        state_json: Mapping[str, RawItem],
        *,
        context_override: RawItem = None,
        context_deserializer: Callable[[Mapping[str, RawItem]], RawItem] | None = None,
        strict_context: bool = False,
    ) -> RunState:
        """Restore a state from the values that `to_json` returned.

        Agents are found by name, following handoffs from `initial_agent`.

        Raises:
            UserError: the values are not such a state, or name an unknown agent.
        """
        return read_state(cls, initial_agent, state_json, context_override, context_deserializer)

    @classmethod
    async def from_string(
        cls,
        initial_agent: Agent,
        state_string: str,
        *,
        context_override: RawItem = None,
        context_deserializer: Callable[[Mapping[str, RawItem]], RawItem] | None = None,
        strict_context: bool = False,
    ) -> RunState:
        """Restore a state from the text that `to_string` returned. Raises as `from_json`."""
        return await cls.from_json(
            initial_agent,
            parse_state(state_string),
            context_override=context_override,
            context_deserializer=context_deserializer,
        )
