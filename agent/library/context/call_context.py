"""The context of one tool call."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

from agent.library.base.raw_items import InputItem, RawItem, read
from agent.library.context.run_context import RunContextWrapper, TContext


def _raise_missing(name: str) -> str:
    raise ValueError(f"{name} must be passed to ToolContext")


@dataclass(eq=False)
class CallContext(RunContextWrapper[TContext]):
    """The run's context with the current call; exported as `ToolContext`."""

    tool_name: str = field(default_factory=lambda: _raise_missing("tool_name"))
    tool_call_id: str = field(default_factory=lambda: _raise_missing("tool_call_id"))
    tool_arguments: str = field(default_factory=lambda: _raise_missing("tool_arguments"))
    """The raw arguments, as the model wrote them."""
    tool_call: RawItem = None
    tool_namespace: str | None = None
    agent: RawItem = None
    run_config: RawItem = None
    conversation_history: list[InputItem] = field(default_factory=list)
    failure: str | None = None
    """The text of the exception that the tool raised, if the model gets another text instead."""

    @property
    def qualified_tool_name(self) -> str:
        """The name with its namespace."""
        if self.tool_namespace:
            return f"{self.tool_namespace}.{self.tool_name}"
        return self.tool_name

    @classmethod
    def from_agent_context(
        cls,
        context: RunContextWrapper[TContext],
        tool_call_id: str,
        tool_call: RawItem = None,
        agent: RawItem = None,
        *,
        tool_name: str | None = None,
        tool_arguments: str | None = None,
        run_config: RawItem = None,
    ) -> CallContext[TContext]:
        """Return the context of a call in a run."""
        values = {each.name: getattr(context, each.name) for each in fields(RunContextWrapper)}
        name = tool_name or read(tool_call, "name") or _raise_missing("tool_name")
        arguments = tool_arguments
        if arguments is None:
            arguments = read(tool_call, "arguments")
        if arguments is None:
            arguments = _raise_missing("tool_arguments")
        return cls(
            **values,
            tool_name=name,
            tool_call_id=tool_call_id,
            tool_arguments=arguments,
            tool_call=tool_call,
            tool_namespace=read(tool_call, "namespace"),
            agent=agent if agent is not None else getattr(context, "agent", None),
            run_config=run_config
            if run_config is not None
            else getattr(context, "run_config", None),
        )
