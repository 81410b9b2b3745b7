"""Configuration of a run: model, guardrails, filters, tracing; all optional."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Literal, TypedDict

from agent.library.agents.guards import InputGuardrail, OutputGuardrail
from agent.library.agents.handoffs import HandoffHistoryMapper, HandoffInputFilter
from agent.library.base.awaiting import MaybeAwaitable
from agent.library.base.model_options import ModelOptions, model_options
from agent.library.base.raw_items import InputItem, RawItem
from agent.library.base.run_exceptions import UserError
from agent.library.items.run_items import ModelResponse, RunItem
from agent.library.sessions.item_session import SessionSettings, session_settings
from agent.library.tools.function_tool import ToolErrorFormatterArgs

DEFAULT_MAX_TURNS = 10


@dataclass
class ModelInputData:
    """The input of a model call."""

    input: list[InputItem]
    instructions: str | None


@dataclass
class CallModelData:
    """The argument of `call_model_input_filter`."""

    model_data: ModelInputData
    agent: RawItem
    context: RawItem

    def __class_getitem__(cls, _parameters: object) -> type[CallModelData]:
        """Accept type parameters, which have no effect."""
        return cls


class TracingConfig(TypedDict, total=False):
    """How a run is traced."""

    api_key: str


@dataclass
class ToolExecutionConfig:
    """How tools run."""

    max_function_tool_concurrency: int | None = None
    """Most concurrent calls of one turn; None means no limit."""
    pre_approval_tool_input_guardrails: bool = False

    def __post_init__(self) -> None:
        """Check the limit. Raises ValueError."""
        limit = self.max_function_tool_concurrency
        if limit is not None and limit < 1:
            raise ValueError("tool_execution.max_function_tool_concurrency must be at least 1")


CallModelInputFilter = Callable[[CallModelData], MaybeAwaitable[ModelInputData]]
SessionInputCallback = Callable[[list[InputItem], list[InputItem]], MaybeAwaitable[list[InputItem]]]
ToolErrorFormatter = Callable[[ToolErrorFormatterArgs], MaybeAwaitable[str | None]]


def _include_sensitive_data() -> bool:
    value = os.environ.get("OPENAI_AGENTS_TRACE_INCLUDE_SENSITIVE_DATA", "true")
    return value.strip().lower() in ("1", "true", "yes", "on")


@dataclass
class RunConfig:
    """Settings of one run; they take precedence over those of its agents."""

    model: RawItem = None
    """A name or a `Model`, for all agents."""
    model_provider: RawItem = None
    """Finds models by name; None means the program's own models."""
    model_settings: ModelOptions | None = None
    handoff_input_filter: HandoffInputFilter | None = None
    nest_handoff_history: bool = False
    handoff_history_mapper: HandoffHistoryMapper | None = None
    input_guardrails: list[InputGuardrail] | None = None
    output_guardrails: list[OutputGuardrail] | None = None
    tracing_disabled: bool = False
    tracing: TracingConfig | None = None
    trace_include_sensitive_data: bool = field(default_factory=_include_sensitive_data)
    workflow_name: str = "Agent workflow"
    trace_id: str | None = None
    group_id: str | None = None
    trace_metadata: dict[str, RawItem] | None = None
    session_input_callback: SessionInputCallback | None = None
    call_model_input_filter: CallModelInputFilter | None = None
    tool_error_formatter: ToolErrorFormatter | None = None
    session_settings: SessionSettings | None = None
    reasoning_item_id_policy: Literal["preserve", "omit"] | None = None
    tool_execution: ToolExecutionConfig | None = None
    tool_not_found_behavior: Literal["raise_error", "return_error_to_model"] = "raise_error"
    permissions: RawItem = None
    """The return value of `program_gate`; None means that of the current directory."""

    def __post_init__(self) -> None:
        """Convert settings that were given as dicts."""
        if self.model_settings is not None:
            self.model_settings = model_options(self.model_settings)
        self.session_settings = session_settings(self.session_settings)
        execution: RawItem = self.tool_execution
        if isinstance(execution, Mapping):
            self.tool_execution = ToolExecutionConfig(**execution)


def run_config_of(value: RunConfig | Mapping[str, RawItem] | None) -> RunConfig:
    """Return a configuration that may have been given as a dict.

    Raises:
        UserError: the dict has a name that is not a field.
    """
    if value is None:
        return RunConfig()
    if isinstance(value, RunConfig):
        return value
    unknown = sorted(set(value) - {each.name for each in fields(RunConfig)})
    if unknown:
        raise UserError(f"Unknown fields of RunConfig: {', '.join(unknown)}")
    return RunConfig(**value)


@dataclass
class RunErrorData:
    """What a run had produced when it failed, for an error handler."""

    input: str | list[InputItem]
    new_items: list[RunItem]
    history: list[InputItem]
    output: list[InputItem]
    raw_responses: list[ModelResponse]
    last_agent: RawItem


@dataclass
class RunErrorHandlerInput:
    """The argument of an error handler."""

    error: RawItem
    context: RawItem
    run_data: RunErrorData

    def __class_getitem__(cls, _parameters: object) -> type[RunErrorHandlerInput]:
        """Accept type parameters, which have no effect."""
        return cls


@dataclass
class RunErrorHandlerResult:
    """The result of an error handler, which may also return just the final output."""

    final_output: RawItem
    include_in_history: bool = True


RunErrorHandler = Callable[[RunErrorHandlerInput], MaybeAwaitable[RawItem]]


class RunErrorHandlers(TypedDict, total=False):
    """Error handlers by kind of error."""

    max_turns: RunErrorHandler
    model_refusal: RunErrorHandler
    invalid_final_output: RunErrorHandler
