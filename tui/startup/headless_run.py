"""A run without a screen, from its options to its exit status.

Next: `agent.headless.run` (prompts to output), `agent.headless.input_lines` (prompts as lines).
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from agent.abort import INTERRUPTED_BY_USER, AbortController
from agent.assembly.assemble import Assembled, UserPorts, assemble, environment_from, settings_for
from agent.conversation.conversation import Conversation
from agent.errors import AgentError
from agent.exit_status import EXIT_INTERRUPTED, EXIT_TERMINATED
from agent.headless.headless_output import write_line
from agent.headless.run import report_hooks, run_headless, run_start
from agent.options import RunOptions
from agent.user_prompt import Prompt
from permissions.base.text.sanitize import sanitize
from permissions.base.text.terminal_lines import write_message
from tui.conversation.gc_pause import resume_collection
from tui.conversation.model_choice import Closer, close_all, demo_model, real_model
from tui.version import version

if TYPE_CHECKING:
    from agent.headless.control_protocol import Control
    from agent.headless.input_lines import StreamInput
    from agent.headless.introduction import Introduction
    from agent.headless.permission_tool import PermissionTool


async def run_without_screen(
    options: RunOptions, launch_dir: Path, texts: Sequence[str] | None
) -> int:
    """Run the prompts, or with None those of standard input's lines; return the exit status.

    Raises AgentError.
    """
    run = _HeadlessRun(options, launch_dir)
    try:
        return await (run.lines() if texts is None else run.texts(texts))
    finally:
        await close_all(run.closers)


class _HeadlessRun:
    def __init__(self, options: RunOptions, launch_dir: Path) -> None:
        self._options = options
        self._launch_dir = launch_dir
        self.closers: list[Closer] = []

    async def texts(self, texts: Sequence[str]) -> int:
        """Run the given prompts; return the exit status."""
        parts = await self._assemble(None)

        async def prompts() -> AsyncIterator[Prompt]:
            for text in texts:
                yield Prompt(text)

        return await self._run(parts, prompts(), None, None)

    async def lines(self) -> int:
        """Run the prompts that another program writes, and serve its requests.

        Returns the exit status.
        """
        # Only needed when another program drives this one.
        from agent.headless.control_protocol import Control
        from agent.headless.input_lines import StreamInput

        control = Control(partial(write_line, sys.stdout))
        lines = StreamInput(
            sys.stdin.fileno(),
            control,
            output=sys.stdout.fileno(),
            warn=partial(_print_warning, level="warning"),
        )
        lines.begin()
        # With a prompt on the command line, do not wait for the first line.
        first_request: tuple[Mapping[str, object], Introduction] | None = None
        if (
            self._options.prompt is None
            and (first_request := await lines.introduction()) is not None
        ):
            self._options = first_request[1].applied_to(self._options)
        parts = await self._assemble(control)
        first = Prompt(self._options.prompt) if self._options.prompt else None
        conversation = parts.conversation
        try:
            if first_request is not None:
                control.welcome(conversation, *first_request)
        except BaseException:
            await conversation.aclose()
            raise
        return await self._run(parts, lines.prompts(conversation, first), control, lines)

    async def _assemble(self, control: Control | None) -> Assembled:
        options = self._options
        environment = environment_from(os.environ, self._launch_dir, version=version())
        if options.demo:
            setup, environment, closer = await demo_model(environment)
            self.closers.append(closer)
            settings = settings_for(options, environment)
        else:
            settings = settings_for(options, environment)
            setup = await real_model(settings, environment, options)
        tool = _permission_tool(options.permission_tool)
        user = UserPorts(
            dialog=control if options.asks_over_stdout else tool,
            plans=control if options.asks_over_stdout else None,
            notice=_print_warning,
            ask_server=control.server_message if control is not None else None,
        )
        parts = await assemble(options, environment, settings, setup, user, is_demo=options.demo)
        if tool is not None:
            tool.connect(parts.servers.hub)
        if control is not None:
            control.connect(parts.conversation)
        resume_collection()
        for notice in parts.notices:
            write_message(sys.stderr, f"agent-tui: {sanitize(notice)}")
        return parts

    async def _run(
        self,
        parts: Assembled,
        prompts: AsyncIterator[Prompt],
        control: Control | None,
        lines: StreamInput | None,
    ) -> int:
        options, conversation = self._options, parts.conversation
        end = AbortController()
        by_signal = _handle_signals(conversation, lines, end)
        try:
            if options.setup_only:
                return await run_start(conversation, err=sys.stderr)
            status = await run_headless(
                conversation,
                prompts,
                options.output_format,
                stdout=sys.stdout,
                stderr=sys.stderr,
                partial_messages=options.include_partial_messages,
                forwards_agent_text=options.forwards_agent_text,
                shows_hooks=options.shows_hooks,
                replays=options.replays_prompts,
                is_stored=options.stores_session,
                signal_status=lambda: by_signal[0] if by_signal else None,
                end=end.signal,
                control=control,
                servers=parts.servers.summary,
                answer=parts.ports.answer,
            )
            if not by_signal:
                await parts.facts.wait()
            return status
        except AgentError as error:
            error.session_id = conversation.view.session_id
            raise
        finally:
            await conversation.aclose()
            for line in conversation.shells.closing_notice():
                write_message(sys.stderr, f"agent-tui: {sanitize(line)}")
            report_hooks(conversation.hooks.notices(), sys.stderr)


def _print_warning(text: str, level: str) -> None:
    if level == "warning":
        write_message(sys.stderr, f"agent-tui: {sanitize(text)}")


def _permission_tool(name: str | None) -> PermissionTool | None:
    if name is None:
        return None
    from agent.headless.permission_tool import PermissionTool  # with the modules of MCP servers

    return PermissionTool(name)


def _handle_signals(
    conversation: Conversation, lines: StreamInput | None, end: AbortController
) -> list[int]:
    """End the run at a signal; return a list that receives the exit status of each signal."""
    statuses: list[int] = []

    def on_signal(status: int) -> None:
        statuses.append(status)
        end.abort(INTERRUPTED_BY_USER)
        conversation.controls.interrupt()
        if lines is not None:
            lines.stop()

    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, on_signal, EXIT_INTERRUPTED)
    loop.add_signal_handler(signal.SIGTERM, on_signal, EXIT_TERMINATED)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # as `nohup` has it
        loop.add_signal_handler(signal.SIGHUP, on_signal, EXIT_TERMINATED)
    return statuses
