"""Base classes with methods that are called during a run; override those you need."""

from __future__ import annotations

from agent.library.base.raw_items import InputItem, RawItem
from agent.library.context.run_context import AgentHookContext, RunContextWrapper
from agent.library.items.run_items import ModelResponse


class RunHooks:
    """Called for every agent of a run."""

    def __class_getitem__(cls, _parameters: object) -> type[RunHooks]:
        """Accept type parameters, which have no effect."""
        return cls

    async def on_llm_start(
        self,
        context: RunContextWrapper,
        agent: RawItem,
        system_prompt: str | None,
        input_items: list[InputItem],
    ) -> None:
        """Called before a model call."""

    async def on_llm_end(
        self, context: RunContextWrapper, agent: RawItem, response: ModelResponse
    ) -> None:
        """After a model call."""

    async def on_agent_start(self, context: AgentHookContext, agent: RawItem) -> None:
        """Before an agent's first turn."""

    async def on_agent_end(
        self, context: AgentHookContext, agent: RawItem, output: RawItem
    ) -> None:
        """When an agent has a final output."""

    async def on_handoff(
        self, context: RunContextWrapper, from_agent: RawItem, to_agent: RawItem
    ) -> None:
        """When an agent hands over."""

    async def on_tool_start(
        self, context: RunContextWrapper, agent: RawItem, tool: RawItem
    ) -> None:
        """Before a tool runs."""

    async def on_tool_end(
        self, context: RunContextWrapper, agent: RawItem, tool: RawItem, result: RawItem
    ) -> None:
        """After a tool has run."""


class AgentHooks:
    """Called for the one agent that has them."""

    def __class_getitem__(cls, _parameters: object) -> type[AgentHooks]:
        """Accept type parameters, which have no effect."""
        return cls

    async def on_start(self, context: AgentHookContext, agent: RawItem) -> None:
        """Before the agent's first turn."""

    async def on_end(self, context: AgentHookContext, agent: RawItem, output: RawItem) -> None:
        """When the agent has a final output."""

    async def on_handoff(self, context: RunContextWrapper, agent: RawItem, source: RawItem) -> None:
        """When another agent hands over to this one."""

    async def on_tool_start(
        self, context: RunContextWrapper, agent: RawItem, tool: RawItem
    ) -> None:
        """Before a tool runs."""

    async def on_tool_end(
        self, context: RunContextWrapper, agent: RawItem, tool: RawItem, result: RawItem
    ) -> None:
        """After a tool has run."""

    async def on_llm_start(
        self,
        context: RunContextWrapper,
        agent: RawItem,
        system_prompt: str | None,
        input_items: list[InputItem],
    ) -> None:
        """Called before a model call."""

    async def on_llm_end(
        self, context: RunContextWrapper, agent: RawItem, response: ModelResponse
    ) -> None:
        """After a model call."""
