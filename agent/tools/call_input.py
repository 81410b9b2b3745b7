"""The input of a call: parsed by the schema, checked by the tool, as rules and hooks see it."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping

from agent.tools.base import AnyTool, InputError, ToolError
from agent.tools.call import Ready, Refused, RunningCall
from permissions.base.text.sanitize import reveal


async def read_input(call: RunningCall, raw: Mapping[str, object]) -> Ready:
    """Return the call ready to be decided.

    Raises:
        Refused: with the outcome `invalid`, so that the model can correct the input.
    """
    tool = call.ports.registry.get(call.use.name)
    if tool is None:
        names = ", ".join(sorted(t.name for t in call.ports.registry.all()))
        fact = f"There is no tool named {call.use.name!r}."
        raise Refused("invalid", f"{fact} Available tools: {names}.", fact=fact)
    if call.use.invalid_json is not None:
        sample = call.use.invalid_json[:200]
        raise Refused(
            "invalid",
            f"InputValidationError: the input of {tool.name} is not a JSON object "
            f"(it starts with {sample!r}). Send the call again with valid JSON.",
            fact=f"The model called {tool.name} with something that is not JSON.",
        )
    try:
        parsed_input = tool.parse(raw)
    except InputError as error:
        fact = f"The model called {tool.name} with input that does not fit."
        raise Refused("invalid", _schema_error(tool.name, error), fact=fact) from error
    call.identifier = _identify(call, tool, parsed_input)
    if tool.requires_user_interaction and not call.ports.services.can_ask(tool.name):
        raise Refused(
            "invalid",
            f"{tool.name} needs an answer from the user, and no user can be asked in this run. "
            "Decide yourself and say which assumption you made.",
            fact=f"{tool.name} needs an answer, and no user can be asked in this run.",
        )
    problem = await _run_validation(tool.validate(parsed_input, call.context), tool.name)
    if problem is not None:
        raise Refused("invalid", str(problem), fact=problem.fact)
    visible_input = tool.permission_input(parsed_input, raw, call.context)
    return Ready(tool, parsed_input, visible_input)


def _identify(call: RunningCall, tool: AnyTool, parsed_input: object) -> str:
    try:
        line = tool.identifier(parsed_input, call.ports.services.launch_dir)
    except (ValueError, OSError, AttributeError):
        line = tool.name
    # Control characters are revealed, not dropped: the card must show the real command.
    return reveal(line.replace("\n", "⏎"))[:500]


async def _run_validation(validation: Awaitable[str | None], name: str) -> ToolError | None:
    try:
        result = await validation
    except ToolError as error:
        return error
    except Exception as error:  # noqa: BLE001 - isolation boundary: a broken check refuses the call
        result = f"{name} could not check its input: {type(error).__name__}: {error}"
    return ToolError(result) if result is not None else None


def _schema_error(name: str, error: InputError) -> str:
    lines = [f"InputValidationError: {name} was called with input that does not fit its schema:"]
    for where, (_, message) in zip(error.places[:10], error.problems, strict=False):
        lines.append(f"- {where}: {message}")
    return "\n".join(lines)
