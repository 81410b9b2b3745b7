"""Function tools: a Python function that a model may call."""

from __future__ import annotations

import asyncio
import copy
import inspect
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Generic, Literal, TypedDict, Unpack, overload

from pydantic import ValidationError

from agent.library.base.awaiting import MaybeAwaitable, resolve_value
from agent.library.base.docstring_fields import DocstringStyle
from agent.library.base.raw_items import RawItem
from agent.library.base.run_exceptions import (
    ModelBehaviorError,
    ToolTimeoutError,
)
from agent.library.base.strict_schema import ensure_strict_json_schema
from agent.library.context.call_context import CallContext
from agent.library.context.run_context import RunContextWrapper, TContext
from agent.library.items.run_items import RunItem
from agent.library.tools.argument_schema import FuncSchema, function_schema
from agent.library.tools.tool_guards import ToolInputGuardrail, ToolOutputGuardrail

ToolErrorFunction = Callable[[RunContextWrapper, Exception], MaybeAwaitable[str]]
"""Returns the text that the model gets instead of a result."""

ToolFunction = Callable[..., RawItem]
"""A plain or async function; the model gets its return value as text."""

TimeoutBehavior = Literal["error_as_result", "raise_exception"]


def default_tool_error_function(ctx: RunContextWrapper, error: Exception) -> str:
    """Return a text without details of the error, which may be confidential."""
    return "An error occurred while running the tool. Please try again."


@dataclass
class FunctionTool:
    """A tool that runs in this process; `function_tool` makes one from a function."""

    name: str
    description: str
    params_json_schema: dict[str, RawItem]
    on_invoke_tool: Callable[[CallContext, str], Awaitable[RawItem]]
    """Takes the call's context and the arguments as JSON; the model gets `str` of the result."""
    strict_json_schema: bool = True
    is_enabled: bool | Callable[[RunContextWrapper, RawItem], MaybeAwaitable[bool]] = True
    tool_input_guardrails: list[ToolInputGuardrail] | None = None
    tool_output_guardrails: list[ToolOutputGuardrail] | None = None
    needs_approval: bool | Callable[..., MaybeAwaitable[bool]] = False
    """A bool, or a function of context, arguments and call id."""
    timeout_seconds: float | None = None
    timeout_behavior: TimeoutBehavior = "error_as_result"
    timeout_error_function: ToolErrorFunction | None = None
    defer_loading: bool = False
    custom_data_extractor: Callable[..., RawItem] | None = field(default=None, kw_only=True)
    allowed_callers: list[str] | None = field(default=None, kw_only=True)
    output_json_schema: dict[str, RawItem] | None = field(default=None, kw_only=True)
    failure_error_function: ToolErrorFunction | None = field(
        default=default_tool_error_function, kw_only=True, repr=False
    )
    """None: an exception of the function ends the run."""
    agent_instance: RawItem = field(default=None, kw_only=True, repr=False)
    """The agent that the tool runs, for `Agent.as_tool`."""
    rule_name: str | None = field(default=None, kw_only=True, repr=False)
    """Its name in rules and hooks, if that is not `name`."""

    def __post_init__(self) -> None:
        """Convert the schema to its strict form, and check the timeout."""
        if self.strict_json_schema:
            self.params_json_schema = ensure_strict_json_schema(
                copy.deepcopy(self.params_json_schema)
            )
        _check_timeout(self)

    @property
    def qualified_name(self) -> str:
        """The name by which models call it."""
        return self.name


@dataclass
class FunctionToolResult:
    """The result of one call."""

    tool: FunctionTool
    output: RawItem
    run_item: RunItem | None
    interruptions: list[RawItem] = field(default_factory=list)
    """Approvals that the tool's agent waits for."""


def _check_timeout(tool: FunctionTool) -> None:
    seconds = tool.timeout_seconds
    if seconds is not None:
        if isinstance(seconds, bool) or not isinstance(seconds, int | float):
            raise TypeError("FunctionTool timeout_seconds must be a positive number in seconds.")
        if not 0 < seconds < float("inf"):
            raise ValueError("FunctionTool timeout_seconds must be greater than 0 and finite.")
    if tool.timeout_behavior not in ("error_as_result", "raise_exception"):
        raise ValueError(
            "FunctionTool timeout_behavior must be one of: 'error_as_result', 'raise_exception'."
        )


async def invoke_function_tool(
    *, function_tool: FunctionTool, context: CallContext, arguments: str
) -> RawItem:
    """Call a tool within its time limit and return its result.

    Raises:
        ToolTimeoutError: the limit passed, and the tool's `timeout_behavior` is to raise.
    """
    call = function_tool.on_invoke_tool(context, arguments)
    if function_tool.timeout_seconds is None:
        return await call
    task = asyncio.ensure_future(call)
    if await _ends_within(task, function_tool.timeout_seconds):
        return task.result()
    error = ToolTimeoutError(function_tool.name, function_tool.timeout_seconds)
    if function_tool.timeout_behavior == "raise_exception":
        raise error
    if function_tool.timeout_error_function is not None:
        return await resolve_value(function_tool.timeout_error_function(context, error))
    return str(error)


async def _ends_within(task: asyncio.Future[RawItem], seconds: float) -> bool:
    """Wait for a task, and cancel it after `seconds`; return whether it ended in time."""
    try:
        finished_tasks, _ = await asyncio.wait({task}, timeout=seconds)
    except asyncio.CancelledError:
        task.cancel()
        raise
    if not finished_tasks:
        task.cancel()
        await asyncio.wait({task})
    return bool(finished_tasks)


def parse_arguments(tool_name: str, text: str) -> dict[str, RawItem]:
    """Return a call's arguments; an empty text means none.

    Raises:
        ModelBehaviorError: they are not a JSON object.
    """
    try:
        data = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        raise ModelBehaviorError(f"Invalid JSON input for tool {tool_name}: {text}") from error
    if not isinstance(data, dict):
        raise ModelBehaviorError(f"Invalid JSON input for tool {tool_name}: {text}")
    return data


class FunctionToolOptions(TypedDict, total=False):
    """Keyword arguments of `function_tool`; those without a description are `FunctionTool`'s."""

    name_override: str | None
    description_override: str | None
    docstring_style: DocstringStyle | None
    use_docstring_info: bool
    strict_mode: bool
    """Whether the schema is converted to its strict form."""
    timeout: float | None
    """Time limit in seconds, for async functions only."""
    failure_error_function: ToolErrorFunction | None
    is_enabled: bool | Callable[[RunContextWrapper, RawItem], MaybeAwaitable[bool]]
    needs_approval: bool | Callable[..., MaybeAwaitable[bool]]
    tool_input_guardrails: list[ToolInputGuardrail] | None
    tool_output_guardrails: list[ToolOutputGuardrail] | None
    timeout_behavior: TimeoutBehavior
    timeout_error_function: ToolErrorFunction | None
    defer_loading: bool
    custom_data_extractor: Callable[..., RawItem] | None
    allowed_callers: list[str] | None
    output_json_schema: dict[str, RawItem] | None


@overload
def function_tool(func: ToolFunction, **options: Unpack[FunctionToolOptions]) -> FunctionTool: ...


@overload
def function_tool(
    **options: Unpack[FunctionToolOptions],
) -> Callable[[ToolFunction], FunctionTool]: ...


def function_tool(
    func: ToolFunction | None = None, **options: Unpack[FunctionToolOptions]
) -> FunctionTool | Callable[[ToolFunction], FunctionTool]:
    """Make a tool from a function; a decorator, with or without parentheses.

    The schema comes from the signature, descriptions from the docstring. A first parameter
    annotated as `RunContextWrapper` or `ToolContext` receives the context. A function that is not
    async runs in a thread.
    """
    strict = options.pop("strict_mode", True)
    timeout = options.pop("timeout", None)
    on_failure = options.pop("failure_error_function", default_tool_error_function)
    name, description = (
        options.pop("name_override", None),
        options.pop("description_override", None),
    )
    style = options.pop("docstring_style", None)
    uses_docstring = options.pop("use_docstring_info", True)

    def make(real: ToolFunction) -> FunctionTool:
        schema = function_schema(real, style, name, description, uses_docstring, strict)
        invocation = _Invocation(real, schema, on_failure)
        fields: dict[str, RawItem] = dict(options)
        tool = FunctionTool(
            name=schema.name,
            description=schema.description or "",
            params_json_schema=schema.params_json_schema,
            on_invoke_tool=invocation.run,
            strict_json_schema=strict,
            timeout_seconds=timeout,
            failure_error_function=on_failure,
            **fields,
        )
        if timeout is not None and not invocation.is_async:
            raise ValueError(
                "function_tool timeout_seconds is only supported for async @function_tool handlers."
            )
        return tool

    return make if func is None else make(func)


class _Invocation:
    """Calls the function of a tool."""

    def __init__(
        self,
        function: Callable[..., RawItem],
        schema: FuncSchema,
        on_failure: ToolErrorFunction | None,
    ) -> None:
        self._function = function
        self._schema = schema
        self._on_failure = on_failure
        self.is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
            getattr(function, "__call__", None)  # noqa: B004 - the method itself is looked at
        )

    async def run(self, context: CallContext, arguments: str) -> RawItem:
        """Call the function; its exception becomes a text if there is a failure function."""
        try:
            return await self._call(context, arguments)
        except Exception as error:
            # Code of the caller may raise anything; the model gets it as text.
            if self._on_failure is None:
                raise
            return await tool_failure_text(self._on_failure, context, error)

    async def _call(self, context: CallContext, arguments: str) -> RawItem:
        schema = self._schema
        data = parse_arguments(schema.name, arguments)
        try:
            values = schema.params_pydantic_model(**data)
        except ValidationError as error:
            raise ModelBehaviorError(
                f"Invalid JSON input for tool {schema.name}: {error}"
            ) from error
        positional, keywords = schema.to_call_args(values)
        if schema.takes_context:
            positional.insert(0, context)
        if self.is_async:
            return await self._function(*positional, **keywords)
        result = await asyncio.to_thread(self._function, *positional, **keywords)
        return await resolve_value(result)


async def tool_failure_text(
    on_failure: ToolErrorFunction, context: RunContextWrapper, error: Exception
) -> str:
    """Return the model's text for a tool that raised.

    The run's `tool_error_formatter` is used if the tool has no failure function of its own.
    """
    if isinstance(context, CallContext):
        context.failure = f"{type(error).__name__}: {error}"
    text = await resolve_value(on_failure(context, error))
    formatter = getattr(getattr(context, "run_config", None), "tool_error_formatter", None)
    if on_failure is not default_tool_error_function or formatter is None:
        return text
    if not isinstance(context, CallContext):
        return text
    run_text = await resolve_value(
        formatter(
            ToolErrorFormatterArgs(
                kind="tool_exception",
                tool_type="function",
                tool_name=context.qualified_tool_name,
                call_id=context.tool_call_id,
                default_message=text,
                run_context=context,
                error=error,
            )
        )
    )
    return run_text if isinstance(run_text, str) else text


@dataclass(frozen=True)
class ToolErrorFormatterArgs(Generic[TContext]):
    """The argument of `RunConfig.tool_error_formatter`."""

    kind: Literal["approval_rejected", "tool_not_found", "tool_exception"]
    tool_type: str
    tool_name: str
    call_id: str
    default_message: str
    run_context: RunContextWrapper[TContext]
    error: Exception | None = None
