"""Runs a conversation in labeled lines: prompts are typed, everything else is written in order.

Next: `tui.screen_reader.event_lines` (what is written), `tui.screen_reader.dialogs` (questions),
`tui.screen_reader.line_screen` (`/`).
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Coroutine, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agent.errors import AgentError
from agent.exit_status import EXIT_ERROR, EXIT_HANGUP, EXIT_TERMINATED
from agent.options import RunOptions
from agent.user_prompt import Prompt
from permissions.base.process.child_environment import child_environment
from permissions.base.process.worker_threads import run_to_end
from permissions.explain.explain_decision import home_relative
from permissions.mode import mode_name
from tui.app.claude_settings_notice import notes_of_start
from tui.commands import normalize_exit
from tui.conversation.factory import ConversationMaker
from tui.ports.conversation import ConversationPort, ScreenPorts
from tui.screen_reader.dialogs import LineContender, LineDialogs, LineDialogUser
from tui.screen_reader.event_lines import EventLines
from tui.screen_reader.line_input import LineReader
from tui.screen_reader.line_output import OUTPUT_ENDS, OUTPUT_STARTS, PROMPT_STARTS, LineOutput
from tui.screen_reader.line_screen import LineScreen
from tui.version import version

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from agent.display import Display
    from agent.events import AgentEvent
    from agent.session.prompt_log import PromptLog

LEAVE_S: Final = 2.0
"""How long after the first Ctrl+C at the prompt a second one ends the program."""
HISTORY: Final = 200
WELCOME: Final = (
    "Type a request and press enter. A line that ends with a backslash continues on the next. "
    "Slash help lists the commands, slash mode changes the permission mode, ctrl+c interrupts, "
    "ctrl+d quits."
)


def run_in_lines(options: RunOptions, launch_dir: Path, env: Mapping[str, str]) -> int:
    """Run the conversation on the terminal and return the exit status."""
    return run_to_end(_LineSession(options, launch_dir, env).run())


class _LineSession:
    """One run: the front end of the conversation's factory, and the loop of prompts."""

    def __init__(self, options: RunOptions, launch_dir: Path, env: Mapping[str, str]) -> None:
        is_simple = env.get("TERM", "") in {"", "dumb"}
        self.output = LineOutput(
            sys.stdout, has_marks=sys.stdout.isatty() and not is_simple, columns=_columns
        )
        self.reader = LineReader()
        self.dialogs = LineDialogs(self.output, self.reader, self._store_lines)
        self.conversation: ConversationPort | None = None
        self._options = options
        self._env = env
        self._maker = ConversationMaker(options, launch_dir, env, self)
        self._screen = LineScreen(self, launch_dir)
        self._event_lines = EventLines()
        self._waiting: list[str] = []
        """Lines typed ahead, which become prompts."""
        self._status: int | None = None
        self._leave_until_s = 0.0
        self._log: PromptLog | None = None
        self._has_warned_of_history = False
        self._work: asyncio.Future[None] | None = None

    async def run(self) -> int:
        """Run until the user leaves; return the exit status."""
        self._follow_signals()
        self.output.write([f"agent-tui {version()}, screen reader mode"])
        try:
            await self.begin()
            await self._run_prompts()
        except AgentError as error:
            self.output.write([f"error: {error}"])
            self._status = EXIT_ERROR
        finally:
            farewell = self._maker.resume_line()
            await self._maker.aclose()
            self.reader.close()
        self.output.write([f"warning: {line}" for line in self._maker.closing_lines()])
        if farewell:
            self.output.write([farewell.rstrip()])
        return self._status or 0

    async def begin(self) -> None:
        """Make a conversation and write its folder, model and mode. Raises AgentError."""
        user = LineDialogUser(self.dialogs, lambda: self._screen.session.commands)
        contender = LineContender(
            self.dialogs,
            self._maker.suggest_grants,
            self._preview,
            self._maker.judge_call,
            home_relative(self._env.get("HOME", "")),
        )
        ports = ScreenPorts(contender, user, user.trust, user.onboard, self.dialogs.ask)
        conversation = self.conversation = await self._maker.make(ports)
        demo = ", a scripted demo model" if conversation.view.is_demo else ""
        self.output.write(
            [
                f"folder: {conversation.view.launch_dir}",
                f"model: {conversation.status.model}{demo}",
                f"mode: {mode_name(conversation.status.mode)}",
                WELCOME,
            ]
        )
        count = sum(1 for message in conversation.view.messages if message.origin == "person")
        if count:
            self.output.write([f"notice: this session continues after {count} earlier prompts"])
        await self._read_history()

    async def restart(self, session_id: str | None, *, team: str | None = None) -> None:
        """Leave this conversation for another session, or a new one.

        `team`: see `tui.ports.conversation.Release`.
        """
        self.conversation = None
        await self._maker.release(session_id, team=team)
        await self.begin()

    def leave(self) -> None:
        """End the program once the current work is finished."""
        self._status = self._status or 0

    # The protocol `Front` of the conversation's factory

    def notice(self, text: str, level: str = "info") -> None:
        """Write a message of the program."""
        label = "notice" if level == "info" else level
        lines = text.splitlines() or [""]
        self.output.write([f"{label}: {lines[0]}", *lines[1:]])

    def use_directory(self, directory: Path) -> None:
        """Use the demo's copy of its sample project as the working directory."""
        self._screen.workspace.directory = directory

    def name_window(self, title: str) -> None:
        """Do nothing: the window's title is unchanged."""

    def take_draft(self, text: str) -> bool:
        """Add unsent text to the history of the Up key."""
        self.reader.remember(text)
        self.notice("your unsent text is in the history: press Up")
        return True

    def write_sequence(self, sequence: str) -> None:
        """Write a hook's terminal sequence, unless the output is not a terminal."""
        self.output.mark(sequence)

    async def show_past(self, path: Path) -> None:
        """Do nothing: `begin` reports only the number of earlier prompts."""

    async def show_event(self, event: AgentEvent) -> None:
        """Write the lines of an event."""
        self.output.write(self._event_lines.lines(event))

    # Prompts

    async def _run_prompts(self) -> None:
        if self._options.prompt:
            await self.handle(self._options.prompt)
        while self._status is None:
            self._store_lines(self.reader.typed_ahead())
            if self._waiting:
                text = self._waiting.pop(0)
                self.output.write([f"you: {text}"])
            else:
                typed_text = await self._read_typed()
                if typed_text is None:
                    self.leave()
                    return
                text = typed_text
            if text.strip():
                await self.handle(text.strip())

    async def _read_typed(self) -> str | None:
        """Return what the user types; a line that ends with a backslash continues on the next.

        None when the user has ended the input.
        """
        self.output.mark(PROMPT_STARTS)
        text = await self.reader.line("you: ")
        while text is not None and text.endswith("\\"):
            more = await self.reader.line("more: ")
            text = f"{text[:-1]}\n{more}" if more is not None else None
        if text is not None and text.strip():
            await self._log_typed(text)
        return text

    async def handle(self, text: str) -> None:
        """Run a typed line: a prompt, a command, or a shell command."""
        text = normalize_exit(text)
        if text.startswith("!") and text[1:].strip():
            await self._run_shell(text[1:].strip())
        elif text.startswith("/"):
            await self._interruptible(self._screen.run_command(text))
            for follow_up in self._screen.take_prompts():
                await self._run_prompt(follow_up)
        else:
            await self._run_prompt(text)

    async def _run_prompt(self, text: str) -> None:
        assert self.conversation is not None
        next_prompt: Prompt | None = Prompt(text)
        while next_prompt is not None and self._status is None:
            await self.write_events(self.conversation.run(next_prompt))
            next_prompt = self.conversation.prompt_queue.take_next()
            if next_prompt is not None:
                self.output.write([f"you: {next_prompt.text}"])

    async def write_events(self, events: AsyncIterator[AgentEvent]) -> None:
        """Write the lines of events until the last one; Ctrl+C interrupts."""

        async def work() -> None:
            async for event in events:
                await self.show_event(event)

        self.output.mark(OUTPUT_STARTS)
        await self._interruptible(work())
        self.output.mark(OUTPUT_ENDS)

    async def _interruptible(self, work: Coroutine[object, object, None]) -> None:
        """Run work that Ctrl+C may interrupt."""
        self._work = asyncio.ensure_future(work)
        try:
            await asyncio.wait({self._work})
            if not self._work.cancelled():
                self._work.result()
        finally:
            self._work = None

    async def _run_shell(self, command: str) -> None:
        """Run the user's shell command, write its output, then pass it to the model."""
        from tui.app.session.bang_commands import pass_result, user_shell  # rarely used

        assert self.conversation is not None
        shell = user_shell(command, self.conversation, child_environment(self._env, {}))
        if shell is None:
            return
        await self.write_events(shell.events())
        if note := pass_result(shell, self.conversation, self.notice):
            await self._run_prompt(note)

    def _store_lines(self, lines: Sequence[str]) -> None:
        """Queue lines typed ahead as separate prompts."""
        self._waiting.extend(lines)
        if lines:
            self.output.write([f"notice: queued: {line}" for line in lines])

    def _preview(self, tool_use_id: str) -> Display | None:
        return (
            self.conversation.view.preview_of(tool_use_id)
            if self.conversation is not None
            else None
        )

    # History, signals

    async def _read_history(self) -> None:
        command_service = self.conversation.commands if self.conversation is not None else None
        if command_service is None:
            return
        from agent.session.prompt_log import PromptLog  # not before the model is chosen

        context = command_service.context
        log = self._log = PromptLog(context.agent_home, context.settings().project_root)
        recent = await asyncio.to_thread(log.recent, HISTORY)
        for prompt in reversed(recent):
            self.reader.remember(prompt.text)
        warnings, notices = await notes_of_start(command_service)
        for text in warnings:
            self.notice(text, "warning")
        for text in notices:
            self.notice(text)

    async def _log_typed(self, text: str) -> None:
        from agent.session.prompt_log import TypedPrompt  # imported with the log

        self.reader.remember(text)
        if self._log is None or self.conversation is None:
            return
        prompt = TypedPrompt(text, self.conversation.view.session_id, time.time())
        try:
            await asyncio.to_thread(self._log.add, prompt)
        except OSError as error:
            if not self._has_warned_of_history:
                self._has_warned_of_history = True
                self.notice(f"The prompt history cannot be saved: {error.strerror}.", "warning")

    def _follow_signals(self) -> None:
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, self._on_interrupt)
        loop.add_signal_handler(signal.SIGTERM, self._on_end, EXIT_TERMINATED)
        loop.add_signal_handler(signal.SIGHUP, self._on_end, EXIT_HANGUP)

    def _on_interrupt(self) -> None:
        """Interrupt the current work; at the prompt, end the program on the second press."""
        if self.conversation is not None and self.conversation.controls.interrupt():
            self.output.write(["", "notice: interrupting"])
        elif self._work is not None:
            self._work.cancel()
        elif time.monotonic() < self._leave_until_s:
            self._on_end(0)
        else:
            self._leave_until_s = time.monotonic() + LEAVE_S
            self.output.write(["", "notice: press ctrl+c again to quit"])

    def _on_end(self, status: int) -> None:
        self._status = status
        if self.conversation is not None:
            self.conversation.controls.interrupt("the program is closing")
        self.reader.end_input()


def _columns() -> int | None:
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or None
    except (OSError, ValueError):
        return None
