"""Guardrails of one tool's calls: allow, replace the result by a message, or raise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypedDict, TypeVar, overload

from agent.library.base.awaiting import MaybeAwaitable, resolve_value
from agent.library.base.raw_items import RawItem
from agent.library.base.run_exceptions import UserError
from agent.library.context.call_context import CallContext


class GuardBehavior(TypedDict, total=False):
    """`allow`, `reject_content` with a message, or `raise_exception`."""

    type: str
    message: str


@dataclass
class ToolGuardrailFunctionOutput:
    """The decision of a guardrail."""

    output_info: RawItem
    behavior: GuardBehavior = field(default_factory=lambda: GuardBehavior(type="allow"))

    @classmethod
    def allow(cls, output_info: RawItem = None) -> ToolGuardrailFunctionOutput:
        """Allow the call or its result."""
        return cls(output_info)

    @classmethod
    def reject_content(
        cls, message: str, output_info: RawItem = None
    ) -> ToolGuardrailFunctionOutput:
        """Give the model a message instead of the result."""
        return cls(output_info, GuardBehavior(type="reject_content", message=message))

    @classmethod
    def raise_exception(cls, output_info: RawItem = None) -> ToolGuardrailFunctionOutput:
        """End the run with an exception."""
        return cls(output_info, GuardBehavior(type="raise_exception"))


@dataclass
class ToolInputGuardrailData:
    """The argument of a guardrail on the input."""

    context: CallContext
    agent: RawItem


@dataclass
class ToolOutputGuardrailData(ToolInputGuardrailData):
    """The argument of a guardrail on the output."""

    output: RawItem


DataT = TypeVar("DataT", bound=ToolInputGuardrailData)
GuardFunction = Callable[[DataT], MaybeAwaitable[ToolGuardrailFunctionOutput]]


@dataclass
class _ToolGuardrail(Generic[DataT]):
    guardrail_function: GuardFunction[DataT]
    name: str | None = None

    def get_name(self) -> str:
        """Return the name, or the function's name if there is none."""
        return self.name or self.guardrail_function.__name__

    async def run(self, data: DataT) -> ToolGuardrailFunctionOutput:
        """Call the function.

        Raises:
            UserError: it is not callable.
        """
        if not callable(self.guardrail_function):
            raise UserError(f"Guardrail function must be callable, got {self.guardrail_function}")
        return await resolve_value(self.guardrail_function(data))


class ToolInputGuardrail(_ToolGuardrail[ToolInputGuardrailData]):
    """Runs before the tool."""


class ToolOutputGuardrail(_ToolGuardrail[ToolOutputGuardrailData]):
    """Runs after the tool."""


@dataclass
class ToolInputGuardrailResult:
    """A guardrail and its decision."""

    guardrail: ToolInputGuardrail
    output: ToolGuardrailFunctionOutput


@dataclass
class ToolOutputGuardrailResult:
    """A guardrail and its decision."""

    guardrail: ToolOutputGuardrail
    output: ToolGuardrailFunctionOutput


@overload
def tool_input_guardrail(func: GuardFunction[ToolInputGuardrailData]) -> ToolInputGuardrail: ...


@overload
def tool_input_guardrail(
    *, name: str | None = None
) -> Callable[[GuardFunction[ToolInputGuardrailData]], ToolInputGuardrail]: ...


def tool_input_guardrail(
    func: GuardFunction[ToolInputGuardrailData] | None = None, *, name: str | None = None
) -> ToolInputGuardrail | Callable[[GuardFunction[ToolInputGuardrailData]], ToolInputGuardrail]:
    """Make a guardrail from a function; a decorator, with or without parentheses."""
    if func is None:
        return lambda function: ToolInputGuardrail(function, name or function.__name__)
    return ToolInputGuardrail(func, name or func.__name__)


@overload
def tool_output_guardrail(func: GuardFunction[ToolOutputGuardrailData]) -> ToolOutputGuardrail: ...


@overload
def tool_output_guardrail(
    *, name: str | None = None
) -> Callable[[GuardFunction[ToolOutputGuardrailData]], ToolOutputGuardrail]: ...


def tool_output_guardrail(
    func: GuardFunction[ToolOutputGuardrailData] | None = None, *, name: str | None = None
) -> ToolOutputGuardrail | Callable[[GuardFunction[ToolOutputGuardrailData]], ToolOutputGuardrail]:
    """Make a guardrail from a function; a decorator, with or without parentheses."""
    if func is None:
        return lambda function: ToolOutputGuardrail(function, name or function.__name__)
    return ToolOutputGuardrail(func, name or func.__name__)
