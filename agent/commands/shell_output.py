"""Runs the commands that a template contains, each through everything a Bash call goes through."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator

from msgspec import Struct
from msgspec.structs import replace

from agent.abort import AbortSignal
from agent.events import AgentEvent
from agent.messages import ToolUse
from agent.tools.call import CallOutcome, CallPorts
from agent.tools.event_queue import Emitter
from agent.tools.lifecycle import run_call


class ShellOutput(Struct, frozen=True):
    """How one command of a template ended."""

    text: str
    refusal: str = ""
    """Why it was not run; empty when it was."""


async def run_shell_part(
    command: str, ports: CallPorts, turn_id: str, abort: AbortSignal
) -> AsyncIterator[AgentEvent | ShellOutput]:
    """Yield the events of a Bash call, then its output; rules, hooks and the user are asked.

    The call is no part of the history: the model sees its output inside the command's text.
    """
    call = ToolUse(f"command_{uuid.uuid4().hex[:16]}", "Bash", {"command": command})
    emitter = Emitter(turn_id, None)
    running = asyncio.ensure_future(run_call(call, replace(ports, recorder=None), emitter, abort))
    running.add_done_callback(lambda _: emitter.wake())
    try:
        while not running.done():
            await emitter.wait()
            for event in emitter.drain():
                yield event
        for event in emitter.drain():
            yield event
        yield _output(running.result())
    finally:
        if not running.done():
            running.cancel()
            await asyncio.wait({running})


def _output(outcome: CallOutcome) -> ShellOutput:
    content = outcome.block.get("content", "")
    text = (
        content
        if isinstance(content, str)
        else "\n".join(str(block.get("text", "")) for block in content)
    )
    if outcome.outcome in {"ok", "failed"}:
        return ShellOutput(text)
    return ShellOutput("", text)
