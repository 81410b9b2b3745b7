"""Run prompts without a screen: write text, JSON or streamed JSON, and return an exit status.

Data goes to standard output, everything else to standard error. Next: `agent.headless.output_lines`
(the shapes), `agent.headless.input_lines` (prompts as lines), `agent.conversation.conversation`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, TextIO

from agent.abort import Aborted, AbortSignal
from agent.conversation.conversation import Conversation
from agent.conversation_facts import ServerSummary
from agent.events import (
    AgentEvent,
    HookFinished,
    Notice,
)
from agent.exit_status import (
    EXIT_COMPLETED,
    EXIT_DENIED,
    EXIT_ERROR,
    EXIT_INTERRUPTED,
)
from agent.headless.headless_output import HeadlessOutput
from agent.loop.answer_schema import AnswerSchema
from agent.options import OutputFormat
from agent.user_prompt import Prompt
from permissions.base.text.sanitize import sanitize

if TYPE_CHECKING:
    from agent.headless.control_protocol import Control


async def _no_servers() -> ServerSummary:
    return ServerSummary()


async def run_start(conversation: Conversation, *, err: TextIO) -> int:
    """Run only the start-up hooks; return the exit status."""
    report_hooks(await conversation.start(), err)
    return EXIT_COMPLETED


def report_hooks(events: Sequence[AgentEvent], err: TextIO) -> None:
    """Write the notices of hooks that ran outside of a prompt."""
    for event in events:
        if isinstance(event, HookFinished):
            for notice in event.notices:
                err.write(f"agent-tui: hook: {sanitize(notice)}\n")
        elif isinstance(event, Notice):
            err.write(f"agent-tui: {event.level}: {sanitize(event.text)}\n")


async def run_headless(
    conversation: Conversation,
    prompts: AsyncIterator[Prompt],
    output_format: OutputFormat,
    *,
    stdout: TextIO,
    stderr: TextIO,
    partial_messages: bool = False,
    forwards_agent_text: bool = False,
    shows_hooks: bool = False,
    replays: bool = False,
    is_stored: bool = True,
    signal_status: Callable[[], int | None] = lambda: None,
    end: AbortSignal | None = None,
    control: Control | None = None,
    servers: Callable[[], Awaitable[ServerSummary]] = _no_servers,
    answer: AnswerSchema | None = None,
) -> int:
    """Run the prompts one after another; return the first status that is not 0, else 0. A calling
    program that introduced itself gets the status of the last prompt.

    `signal_status` returns the exit status for a signal that arrived, or None; `end` fires with the
    first signal. With `control`, the
    sender reads the result of each prompt and decides whether to send more, so a failed prompt does
    not end the run. `servers` returns the MCP servers once the first prompt may begin.
    """
    output = HeadlessOutput(
        conversation,
        output_format,
        stdout=stdout,
        stderr=stderr,
        partial_messages=partial_messages,
        forwards_agent_text=forwards_agent_text,
        shows_hooks=shows_hooks,
        replays=replays,
        is_stored=is_stored,
        answer=answer,
    )
    if output_format == "stream-json":
        # The first line lists commands from files.
        await conversation.commands.ready()
    # Lines are read meanwhile, because servers in the calling program respond through them.
    coming = asyncio.ensure_future(anext(prompts, None))
    try:
        output.begin(await (end or AbortSignal()).race(servers()))
    except Aborted:
        coming.cancel()
        await asyncio.wait({coming})
        return signal_status() or EXIT_INTERRUPTED
    except BaseException:
        coming.cancel()
        await asyncio.wait({coming})
        raise
    status = EXIT_COMPLETED
    while (prompt := await coming) is not None:
        one = await output.run(prompt)
        by_signal = signal_status()
        if by_signal is not None:
            return by_signal
        if control is not None:
            one = _status_for(control, one)
        # A client library reads each result, and treats a status as the end of the whole run.
        is_introduced = control is not None and control.is_introduced
        status = one if is_introduced else status or one
        if control is None and one in {EXIT_ERROR, EXIT_INTERRUPTED}:
            break
        coming = asyncio.ensure_future(anext(prompts, None))
    return signal_status() or status


def _status_for(control: Control, status: int) -> int:
    """Return the exit status for a prompt whose sender reads the result."""
    if control.is_interrupted:
        # The sender asked for the interruption, so it does not count as a failure.
        control.is_interrupted = False
        return EXIT_COMPLETED
    if control.is_introduced and status == EXIT_DENIED:
        # Its library would treat the status as a crash; the result lists the denials.
        return EXIT_COMPLETED
    return status
