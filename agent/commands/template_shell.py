"""Runs the commands that a template contains, each with all the checks of a Bash call."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable

from msgspec import Struct
from msgspec.structs import replace

from agent.abort import AbortSignal
from agent.messages import ToolUse
from agent.stream import TurnEvents
from agent.tools.call import CallOutcome, CallPorts
from agent.tools.lifecycle import run_call


class TemplateOutput(Struct, frozen=True):
    """How one command of a template ended."""

    text: str
    refusal: str = ""
    """Why it was not run; empty if it was."""


Guard = Callable[[ToolUse], Awaitable[str | None]]
"""Asks hooks about a command of a template; returns why it must not run, or None."""


async def run_shell_part(
    command: str, guard: Guard, ports: CallPorts, events: TurnEvents, abort: AbortSignal
) -> TemplateOutput:
    """Run a command as a Bash call and return its output; rules, hooks and the user are asked.

    The call is not part of the history: the model sees its output inside the command's text.
    """
    call = ToolUse(f"command_{uuid.uuid4().hex[:16]}", "Bash", {"command": command})
    if (reason := await guard(call)) is not None:
        return TemplateOutput("", reason)
    return _output(await run_call(call, replace(ports, recorder=None), events, abort))


def _output(outcome: CallOutcome) -> TemplateOutput:
    content = outcome.block.get("content", "")
    text = (
        content
        if isinstance(content, str)
        else "\n".join(str(block.get("text", "")) for block in content)
    )
    if outcome.outcome in {"ok", "failed"}:
        return TemplateOutput(text)
    return TemplateOutput("", text)
