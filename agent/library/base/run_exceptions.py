"""Exceptions of runs, with the names of the Agents SDK."""

from __future__ import annotations

from dataclasses import dataclass, field

from agent.errors import AgentError
from agent.library.base.raw_items import InputItem, RawItem


@dataclass
class RunErrorDetails:
    """What a run had produced when it failed."""

    input: str | list[InputItem]
    new_items: list[RawItem]
    raw_responses: list[RawItem]
    last_agent: RawItem
    context_wrapper: RawItem
    input_guardrail_results: list[RawItem]
    output_guardrail_results: list[RawItem]
    tool_input_guardrail_results: list[RawItem] = field(default_factory=list)
    tool_output_guardrail_results: list[RawItem] = field(default_factory=list)

    def __str__(self) -> str:
        """Describe the run's progress in a few lines."""
        return pretty_print_run_error_details(self)


def pretty_print_run_error_details(details: RunErrorDetails) -> str:
    """Return a description of a run's progress, in a few lines."""
    return (
        "RunErrorDetails:\n"
        f"- Last agent: Agent(name={details.last_agent.name!r}, ...)\n"
        f"- {len(details.new_items)} new item(s)\n"
        f"- {len(details.raw_responses)} raw response(s)\n"
        f"- {len(details.input_guardrail_results)} input guardrail result(s)\n"
        f"- {len(details.output_guardrail_results)} output guardrail result(s)"
    )


class AgentsException(AgentError):
    """Base of the library's exceptions; `run_data` is None outside a run."""

    run_data: RunErrorDetails | None = None

    def __init__(self, *args: object) -> None:
        """Accept the arguments of any exception."""
        super().__init__(*args)
        self.run_data = None


class MaxTurnsExceeded(AgentsException):
    """The run used up its turns."""

    def __init__(self, message: str) -> None:
        """`message` names the limit."""
        self.message = message
        super().__init__(message)


class ModelBehaviorError(AgentsException):
    """The model did something invalid, such as calling an unknown tool or writing invalid JSON."""

    def __init__(self, message: str) -> None:
        """`message` describes it."""
        self.message = message
        super().__init__(message)


class ModelRefusalError(AgentsException):
    """The model refused to answer."""

    def __init__(self, refusal: str) -> None:
        """`refusal` is the model's own text."""
        self.refusal = refusal
        super().__init__(f"Model refused to produce output: {refusal}")


class ModelTimeoutError(AgentsException, TimeoutError):
    """The model took longer than `ModelSettings.timeout`."""

    def __init__(self, timeout_seconds: float) -> None:
        """`timeout_seconds` is the limit."""
        self.timeout_seconds = timeout_seconds
        super().__init__(f"Model request timed out after {timeout_seconds:g} seconds.")


class UserError(AgentsException):
    """The calling program uses the library incorrectly."""

    def __init__(self, message: str) -> None:
        """`message` describes the error and, where possible, the fix."""
        self.message = message
        super().__init__(message)


class StoppedByHook(AgentsException):
    """A hook from the settings or from the caller ended the run."""

    def __init__(self, event: str, reason: str) -> None:
        """`event` is the hook event, `reason` the text that the hook gives."""
        self.event = event
        self.reason = reason
        super().__init__(f"A {event} hook stopped the run: {reason}")


class MCPToolCancellationError(AgentsException):
    """A call of an MCP server's tool was cancelled."""

    def __init__(self, message: str) -> None:
        """`message` names the tool."""
        self.message = message
        super().__init__(message)


class ToolTimeoutError(AgentsException):
    """A tool exceeded its time limit, and its `timeout_behavior` is to raise."""

    def __init__(self, tool_name: str, timeout_seconds: float) -> None:
        """`timeout_seconds` is the tool's limit."""
        self.tool_name = tool_name
        self.timeout_seconds = timeout_seconds
        super().__init__(f"Tool '{tool_name}' timed out after {timeout_seconds:g} seconds.")


class _TripwireTriggered(AgentsException):
    def __init__(self, guardrail_result: RawItem) -> None:
        """Store the result of the guardrail."""
        self.guardrail_result = guardrail_result
        name = type(guardrail_result.guardrail).__name__
        super().__init__(f"Guardrail {name} triggered tripwire")


class InputGuardrailTripwireTriggered(_TripwireTriggered):
    """An input guardrail stopped the run."""


class OutputGuardrailTripwireTriggered(_TripwireTriggered):
    """An output guardrail stopped the run."""


class ToolInputGuardrailTripwireTriggered(AgentsException):
    """A guardrail on a tool's input stopped the run."""

    def __init__(self, guardrail: RawItem, output: RawItem) -> None:
        """Store the guardrail and its output."""
        self.guardrail = guardrail
        self.output = output
        super().__init__(f"Tool input guardrail {type(guardrail).__name__} triggered tripwire")


class ToolOutputGuardrailTripwireTriggered(AgentsException):
    """A guardrail on a tool's output stopped the run."""

    def __init__(self, guardrail: RawItem, output: RawItem) -> None:
        """Store the guardrail and its output."""
        self.guardrail = guardrail
        self.output = output
        super().__init__(f"Tool output guardrail {type(guardrail).__name__} triggered tripwire")
