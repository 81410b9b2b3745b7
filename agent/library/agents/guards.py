"""Guardrails on a run's input and on its final output; a tripwire ends the run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import overload

from agent.library.base.awaiting import MaybeAwaitable, resolve_value
from agent.library.base.raw_items import InputItem, RawItem
from agent.library.base.run_exceptions import UserError
from agent.library.context.run_context import RunContextWrapper


@dataclass
class GuardrailFunctionOutput:
    """The result of a guardrail function."""

    output_info: RawItem
    tripwire_triggered: bool


GuardrailFunction = Callable[
    [RunContextWrapper, RawItem, RawItem], MaybeAwaitable[GuardrailFunctionOutput]
]
"""Takes the context, the agent, and the input or output."""


@dataclass
class _Guardrail:
    guardrail_function: GuardrailFunction
    name: str | None = None

    def get_name(self) -> str:
        """Return the name, or the function's name if there is none."""
        return self.name or self.guardrail_function.__name__


@dataclass
class InputGuardrail(_Guardrail):
    """Checks the input of a run."""

    run_in_parallel: bool = True
    """Whether to run it beside the first model call; if False, the call waits for it."""

    async def run(
        self, agent: RawItem, input: str | list[InputItem], context: RunContextWrapper
    ) -> InputGuardrailResult:
        """Call the function.

        Raises:
            UserError: it is not callable.
        """
        _check(self.guardrail_function)
        output = await resolve_value(self.guardrail_function(context, agent, input))
        return InputGuardrailResult(guardrail=self, output=output)


@dataclass
class OutputGuardrail(_Guardrail):
    """Checks the final output of a run."""

    async def run(
        self, context: RunContextWrapper, agent: RawItem, agent_output: RawItem
    ) -> OutputGuardrailResult:
        """Call the function.

        Raises:
            UserError: it is not callable.
        """
        _check(self.guardrail_function)
        output = await resolve_value(self.guardrail_function(context, agent, agent_output))
        return OutputGuardrailResult(self, agent_output, agent, output)


@dataclass
class InputGuardrailResult:
    """A guardrail and its result."""

    guardrail: InputGuardrail
    output: GuardrailFunctionOutput


@dataclass
class OutputGuardrailResult:
    """A guardrail, the output that it checked, and its result."""

    guardrail: OutputGuardrail
    agent_output: RawItem
    agent: RawItem
    output: GuardrailFunctionOutput


@overload
def input_guardrail(func: GuardrailFunction) -> InputGuardrail: ...


@overload
def input_guardrail(
    *,
    name: str | None = None,
    run_in_parallel: bool = True,
) -> Callable[[GuardrailFunction], InputGuardrail]: ...


def input_guardrail(
    func: GuardrailFunction | None = None,
    *,
    name: str | None = None,
    run_in_parallel: bool = True,
) -> InputGuardrail | Callable[[GuardrailFunction], InputGuardrail]:
    """Make a guardrail from a function; a decorator, with or without parentheses."""

    def make(function: GuardrailFunction) -> InputGuardrail:
        return InputGuardrail(function, name or function.__name__, run_in_parallel)

    return make if func is None else make(func)


@overload
def output_guardrail(func: GuardrailFunction) -> OutputGuardrail: ...


@overload
def output_guardrail(
    *,
    name: str | None = None,
) -> Callable[[GuardrailFunction], OutputGuardrail]: ...


def output_guardrail(
    func: GuardrailFunction | None = None,
    *,
    name: str | None = None,
) -> OutputGuardrail | Callable[[GuardrailFunction], OutputGuardrail]:
    """Make a guardrail from a function; a decorator, with or without parentheses."""

    def make(function: GuardrailFunction) -> OutputGuardrail:
        return OutputGuardrail(function, name or function.__name__)

    return make if func is None else make(func)


def _check(function: RawItem) -> None:
    if not callable(function):
        raise UserError(f"Guardrail function must be callable, got {function}")
