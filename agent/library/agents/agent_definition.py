"""An agent: a model with instructions, tools, handoffs, guardrails and a type of output."""

from __future__ import annotations

import asyncio
import dataclasses
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, Literal, TypedDict, get_origin

from agent.library.agents.agent_output import AgentOutputSchemaBase
from agent.library.agents.agent_tool_input import AgentInputBuilder, AgentToolInput
from agent.library.agents.guards import InputGuardrail, OutputGuardrail
from agent.library.agents.handoffs import Handoff, handoff
from agent.library.agents.late_runner import run_agent_tool
from agent.library.agents.run_hooks import AgentHooks
from agent.library.base.awaiting import MaybeAwaitable, resolve_value
from agent.library.base.model_options import ModelOptions, model_options
from agent.library.base.raw_items import RawItem
from agent.library.context.call_context import CallContext
from agent.library.context.run_context import RunContextWrapper, TContext
from agent.library.tools.function_tool import (
    FunctionTool,
    ToolErrorFunction,
    default_tool_error_function,
    parse_arguments,
    tool_failure_text,
)


@dataclass
class ToolsToFinalOutputResult:
    """What a `tool_use_behavior` function returns."""

    is_final_output: bool
    final_output: RawItem = None


class StopAtTools(TypedDict):
    """The run ends with the output of one of these tools."""

    stop_at_tool_names: list[str]


class MCPConfig(TypedDict, total=False):
    """How tools of MCP servers are offered."""

    convert_schemas_to_strict: bool


class AgentToolStreamEvent(TypedDict):
    """The argument of `on_stream`, for an agent that runs as a tool."""

    event: RawItem
    agent: RawItem
    tool_call: RawItem


ToolUseBehavior = (
    Literal["run_llm_again", "stop_on_first_tool"] | StopAtTools | Callable[..., RawItem]
)
Instructions = str | Callable[..., MaybeAwaitable[str]] | None


@dataclass
class AgentBase(Generic[TContext]):
    """Fields that all agents have."""

    name: str
    handoff_description: str | None = None
    """Tells the models of other agents what this one is for."""
    tools: list[RawItem] = field(default_factory=list)
    mcp_servers: list[RawItem] = field(default_factory=list)
    """Such as `MCPServerStdio`: objects with `list_tools` and `call_tool`."""
    mcp_config: MCPConfig = field(default_factory=lambda: MCPConfig())

    async def get_mcp_tools(self, run_context: RunContextWrapper[TContext]) -> list[RawItem]:
        """Return the tools of the agent's MCP servers."""
        tools: list[RawItem] = []
        for server in self.mcp_servers:
            for tool in await server.list_tools(run_context, self):
                tools.append(_mcp_tool(server, tool))
        return tools

    async def get_all_tools(self, run_context: RunContextWrapper[TContext]) -> list[RawItem]:
        """Return the tools that are enabled now, those of MCP servers first."""
        mcp_tools = await self.get_mcp_tools(run_context)
        answers = await asyncio.gather(
            *(_is_enabled(tool, run_context, self) for tool in self.tools)
        )
        own = [tool for tool, is_on in zip(self.tools, answers, strict=True) if is_on]
        return [*mcp_tools, *own]


@dataclass
class Agent(AgentBase[TContext]):
    """An agent, which `Runner.run` runs."""

    instructions: Instructions = None
    """The system prompt, or a function of context and agent that returns it."""
    prompt: RawItem = None
    handoffs: list[RawItem] = field(default_factory=list)
    """Agents, or values returned by `handoff`."""
    model: RawItem = None
    """A name or a `Model`; None means the run's model, else the program's."""
    model_settings: ModelOptions = field(default_factory=ModelOptions)
    input_guardrails: list[InputGuardrail] = field(default_factory=list)
    output_guardrails: list[OutputGuardrail] = field(default_factory=list)
    output_type: RawItem = None
    """The type that the final output is validated against; None means text."""
    hooks: AgentHooks | None = None
    tool_use_behavior: ToolUseBehavior = "run_llm_again"
    reset_tool_choice: bool = True
    """Whether to omit `tool_choice` once a tool was used, so that the model can finish."""

    def __post_init__(self) -> None:
        """Check the types of the fields, as errors would otherwise show much later.

        Raises:
            TypeError: a field has the wrong type.
        """
        self._check_lists()
        self._check_values()
        self.model_settings = model_options(self.model_settings)

    def _check_lists(self) -> None:
        for name in ("tools", "mcp_servers", "handoffs", "input_guardrails", "output_guardrails"):
            value = getattr(self, name)
            if not isinstance(value, list):
                raise TypeError(f"Agent {name} must be a list, got {type(value).__name__}")
        if not isinstance(self.mcp_config, dict):
            raise TypeError(
                f"Agent mcp_config must be a dict, got {type(self.mcp_config).__name__}"
            )

    def _check_values(self) -> None:
        kinds: dict[str, tuple[RawItem, bool, str]] = {
            "name": (self.name, isinstance(self.name, str), "a string"),
            "handoff_description": (
                self.handoff_description,
                isinstance(self.handoff_description, str | None),
                "a string or None",
            ),
            "instructions": (
                self.instructions,
                isinstance(self.instructions, str | None) or callable(self.instructions),
                "a string, callable, or None",
            ),
            "model": (
                self.model,
                isinstance(self.model, str | None) or hasattr(self.model, "get_response"),
                "a string, Model, or None",
            ),
            "model_settings": (
                self.model_settings,
                isinstance(self.model_settings, ModelOptions | dict),
                "a ModelSettings instance",
            ),
            "output_type": (
                self.output_type,
                isinstance(self.output_type, type | AgentOutputSchemaBase | None)
                or get_origin(self.output_type) is not None,
                "a type, AgentOutputSchemaBase, or None",
            ),
            "hooks": (
                self.hooks,
                isinstance(self.hooks, AgentHooks | None),
                "an AgentHooks instance or None",
            ),
            "tool_use_behavior": (
                self.tool_use_behavior,
                self.tool_use_behavior in ("run_llm_again", "stop_on_first_tool")
                or isinstance(self.tool_use_behavior, dict)
                or callable(self.tool_use_behavior),
                "'run_llm_again', 'stop_on_first_tool', StopAtTools dict, or callable",
            ),
            "reset_tool_choice": (
                self.reset_tool_choice,
                isinstance(self.reset_tool_choice, bool),
                "a boolean",
            ),
        }
        for name, (value, is_fine, type_name) in kinds.items():
            if not is_fine:
                raise TypeError(f"Agent {name} must be {type_name}, got {type(value).__name__}")

    def clone(self, **kwargs: RawItem) -> Agent[TContext]:
        """Return a copy with some fields changed; lists that are not given are shared."""
        return dataclasses.replace(self, **kwargs)

    async def get_system_prompt(self, run_context: RunContextWrapper[TContext]) -> str | None:
        """Return the instructions as text.

        Raises:
            TypeError: the function does not accept exactly context and agent.
        """
        instructions = self.instructions
        if instructions is None or isinstance(instructions, str):
            return instructions
        names = list(inspect.signature(instructions).parameters)
        if len(names) != 2:
            raise TypeError(
                "'instructions' callable must accept exactly 2 arguments (context, agent), "
                f"but got {len(names)}: {names}"
            )
        return await resolve_value(instructions(run_context, self))

    async def get_prompt(self, run_context: RunContextWrapper[TContext]) -> RawItem:
        """Return the reference to a prompt that the endpoint stores, if there is one."""
        if not callable(self.prompt):
            return self.prompt
        return await resolve_value(self.prompt(run_context))

    def as_tool(
        self,
        tool_name: str | None,
        tool_description: str | None,
        custom_output_extractor: Callable[[RawItem], MaybeAwaitable[str]] | None = None,
        is_enabled: bool | Callable[[RunContextWrapper, RawItem], MaybeAwaitable[bool]] = True,
        on_stream: Callable[[AgentToolStreamEvent], MaybeAwaitable[None]] | None = None,
        run_config: RawItem = None,
        max_turns: int | None = None,
        hooks: RawItem = None,
        session: RawItem = None,
        failure_error_function: ToolErrorFunction | None = default_tool_error_function,
        needs_approval: bool | Callable[..., MaybeAwaitable[bool]] = False,
        parameters: type | None = None,
        input_builder: AgentInputBuilder | None = None,
        include_input_schema: bool = False,
    ) -> FunctionTool:
        """Return a tool that runs this agent on one text and returns its final output.

        Unlike with a handoff, the agent does not see the conversation, and the calling agent
        continues it. Approvals that the agent waits for are interruptions of the calling run.

        Args:
            parameters: A dataclass or pydantic model of the tool's arguments, instead of a text.
            input_builder: Returns the agent's input for arguments; None writes them as JSON.
            include_input_schema: Whether the agent also receives the JSON schema of the arguments.

        Raises:
            TypeError: `parameters` is neither.
        """
        tool_input = AgentToolInput(parameters, input_builder, has_schema=include_input_schema)
        options: dict[str, RawItem] = {
            "custom_output_extractor": custom_output_extractor,
            "on_stream": on_stream,
            "run_config": run_config,
            "max_turns": max_turns,
            "hooks": hooks,
            "session": session,
        }
        name = tool_name or re.sub(r"[^a-zA-Z0-9_]", "_", self.name)

        async def invoke(context: CallContext, arguments: str) -> RawItem:
            try:
                agent_input = await tool_input.read(name, arguments)
                return await run_agent_tool(self, agent_input, context, options)
            except Exception as error:
                # Code of the caller may raise anything; the model gets it as text.
                if failure_error_function is None:
                    raise
                return await tool_failure_text(failure_error_function, context, error)

        return FunctionTool(
            name=name,
            description=tool_description or "",
            params_json_schema=tool_input.schema,
            on_invoke_tool=invoke,
            is_enabled=is_enabled,
            needs_approval=needs_approval,
            failure_error_function=failure_error_function,
            agent_instance=self,
        )


async def enabled_handoffs(agent: Agent, context: RunContextWrapper) -> list[Handoff]:
    """Return an agent's handoffs that are enabled now, with plain agents converted to handoffs."""
    handoffs = [each if isinstance(each, Handoff) else handoff(each) for each in agent.handoffs]
    return [each for each in handoffs if await _is_enabled(each, context, agent)]


async def _is_enabled(what: RawItem, context: RunContextWrapper, agent: RawItem) -> bool:
    answer = getattr(what, "is_enabled", True)
    return bool(await resolve_value(answer(context, agent)) if callable(answer) else answer)


def _mcp_tool(server: RawItem, tool: RawItem) -> FunctionTool:
    """Return an MCP server's tool as a function tool."""

    async def invoke(context: CallContext, arguments: str) -> RawItem:
        result = await server.call_tool(tool.name, parse_arguments(tool.name, arguments))
        texts = [part.text for part in result.content if getattr(part, "type", "") == "text"]
        return "\n".join(texts)

    return FunctionTool(
        name=tool.name,
        description=tool.description or "",
        params_json_schema=dict(tool.inputSchema),
        on_invoke_tool=invoke,
        strict_json_schema=False,
        rule_name=getattr(tool, "rule_name", None),
    )
