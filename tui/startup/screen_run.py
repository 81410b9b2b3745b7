"""Runs the screen, and makes its conversation or joins one that has started.

Without a prompt on the command line, settings, the agent's modules and the session are loaded only
after the first frame; the app buffers keys typed before that.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from agent.exit_status import EXIT_HANGUP, EXIT_INTERRUPTED
from agent.options import RunOptions
from agent.settings.project_root import find_project_root
from agent.settings.user_values import agent_home_path, user_values
from permissions.base.process.child_environment import child_environment
from permissions.base.process.program_path import path_outside
from permissions.base.text.failure_text import error_reason
from permissions.base.text.sanitize import sanitize
from permissions.base.text.terminal_lines import write_message
from themes.registry import DEFAULT_THEME, load_theme
from themes.theme import Theme, ThemeError
from tui.app.app import AgentApp
from tui.app.session.session_control import ExitReport
from tui.conversation.factory import ConversationMaker
from tui.ports.app_options import AppOptions
from tui.ports.conversation import ScreenPorts
from tui.prompt.external_editor import edit_file, edit_text, editor_command
from tui.terminal.background import color_count, dark_from_environment
from tui.theme.theme_choice import AUTO, load_for_terminal
from tui.theme.theme_files import known_background, named_theme
from tui.version import version

if TYPE_CHECKING:
    from agent.conversation.conversation import Conversation
    from agent.events import AgentEvent
    from tui.startup.first_turn import FirstTurn

INLINE_SCREEN: Final = "inline"
"""Value of the setting `screen` for the inline mode."""
HURRY_PRESSES: Final = 3
GOODBYE_S: Final = 3.0
"""How long writing the last lines may take after a signal."""


class _FirstTheme(NamedTuple):
    theme: Theme
    choice: str
    is_dark: bool | None
    notices: tuple[str, ...]


def _first_theme(
    env: Mapping[str, str], agent_home: Path, home: Path, themes_dir: tuple[Path, ...]
) -> _FirstTheme:
    """Return the theme of the first frame: the user's, or one that suits the background."""
    theme_name = named_theme(agent_home) or named_theme(home / ".claude") or AUTO
    is_dark = dark_from_environment(env)
    if is_dark is None and theme_name == AUTO:
        is_dark = known_background(agent_home)
    try:
        theme, notices = load_for_terminal(
            theme_name, is_dark, color_count=color_count(env), user_dir=themes_dir
        )
    except ThemeError as error:
        theme, notices = load_theme(DEFAULT_THEME)
        notices = (f"theme: {error}", *notices)
    return _FirstTheme(theme, theme_name, is_dark, tuple(notices))


class ScreenRun:
    """One run with a screen."""

    def __init__(
        self,
        options: RunOptions,
        launch_dir: Path,
        env: Mapping[str, str],
        first: FirstTurn | None = None,
    ) -> None:
        """Make the app; `first` is a turn that has already started."""
        if options.resume == "" and not options.prompt:
            # `-r` alone: the user chooses a session on the screen.
            from msgspec.structs import replace

            options = replace(options, resume=None, prompt="/resume")
        self._launch_dir = launch_dir
        self._first = first
        self.maker = first.maker if first else ConversationMaker(options, launch_dir, env, self)
        self._close = first.aclose if first else self.maker.aclose
        self.status = EXIT_INTERRUPTED
        """Exit status; final once the last lines are written."""
        self.deadline: threading.Timer | None = None
        """Ends the process if writing the last lines blocks; the caller cancels it."""
        home = Path(env.get("HOME") or "/")
        agent_home = Path(agent_home_path(env, home))
        self._agent_home = agent_home
        themes_dir = (agent_home / "themes", home / ".claude" / "themes")
        self._is_inline = (
            options.is_inline or user_values(agent_home).get("screen") == INLINE_SCREEN
        )
        start = _first_theme(env, agent_home, home, themes_dir)
        shell_env = child_environment(env, {})
        path = path_outside(env.get("PATH"), find_project_root(launch_dir))
        program_env = {**shell_env, "PATH": path}
        editor = editor_command(program_env)
        self.app = AgentApp(
            self._make,
            AppOptions(
                theme=start.theme,
                wanted_theme=start.choice,
                is_dark=start.is_dark,
                env=env,
                version=version(),
                directory=launch_dir,
                awaits_demo=options.demo,
                home=home,
                no_color=bool(env.get("NO_COLOR")),
                is_inline=self._is_inline,
                initial_prompt="" if first is not None else options.prompt or "",
                agent_home=agent_home,
                themes_dir=themes_dir,
                shell_env=shell_env,
                program_env=program_env,
                notices=start.notices,
            ),
            suggest_grants=self.maker.suggest_grants,
            judge_call=self.maker.judge_call,
            edit_text=(
                (lambda text, name: edit_text(editor, text, name, program_env)) if editor else None
            ),
            edit_path=(lambda path: edit_file(editor, path, program_env)) if editor else None,
            release=self.maker.release,
        )
        self.app.parts.runner.first_turn = first

    async def _make(self, ports: ScreenPorts) -> Conversation:
        """Make a conversation, or join the one that has started already."""
        first, self._first = self._first, None
        return await (first.join(self, ports) if first is not None else self.maker.make(ports))

    async def run(self) -> int:
        """Show the screen until it ends; return the exit status."""
        report: ExitReport | None = None
        try:
            report = await self.app.run_async(mouse=not self._is_inline)
        finally:
            await self._close_unless_interrupted()
        unsent = await self._store_unsent()
        if report is None:
            # Ended by a signal: all is saved, so do not wait for a terminal that no longer reads.
            code = self.app.return_code
            self.deadline = threading.Timer(
                GOODBYE_S, os._exit, (EXIT_INTERRUPTED if code is None else code,)
            )
            self.deadline.daemon = True
            self.deadline.start()
        try:
            sys.stdout.write(unsent)
            self.status = self._write_goodbye(report)
            for line in self.maker.closing_lines():
                write_message(sys.stderr, f"agent-tui: {line}")
        except OSError:
            # The terminal is closed: there is no reader.
            self.status = self.app.return_code or EXIT_HANGUP
        return self.status

    async def _store_unsent(self) -> str:
        """Store text typed before the conversation existed; return a message, or ""."""
        prompts = [prompt.text for prompt in self.app.parts.runner.waiting_prompts]
        draft = self.app.parts.unsent.text
        options = self.maker.options
        if self.maker.parts is not None or options.demo or not (prompts or draft):
            return ""
        from agent.errors import SessionError  # an end this early is rare
        from agent.session.unsent_draft import remember_unsent, store_unsent

        home = self._agent_home
        try:
            if options.resume or options.continue_latest:
                await asyncio.to_thread(remember_unsent, home, self._launch_dir, [*prompts, draft])
                return "Your unsent text is saved: press ↑ next time.\n"
            await asyncio.to_thread(
                store_unsent, home, self._launch_dir, prompts, draft, version=version()
            )
        except (OSError, SessionError) as error:
            return f"Your unsent text could not be saved: {error_reason(error)}\n"
        return "Your unsent text is saved: agent-tui -c restores it.\n"

    async def _close_unless_interrupted(self) -> None:
        """Close the conversation; only the third Ctrl+C cancels that and kills its commands."""
        closing = asyncio.ensure_future(self._close())
        presses = 0

        def on_interrupt() -> None:
            nonlocal presses
            presses += 1
            if presses >= HURRY_PRESSES:
                closing.cancel()

        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, on_interrupt)
        await asyncio.wait({closing})
        if not closing.cancelled():
            closing.result()
        elif self.maker.parts is not None:
            self.maker.parts.conversation.shells.kill_now()

    def _write_goodbye(self, report: ExitReport | None) -> int:
        if report is None:
            sys.stdout.write(self.maker.resume_line())
            # None if no exit was requested: the loop was interrupted from outside.
            code = self.app.return_code
            return EXIT_INTERRUPTED if code is None else code
        if self._is_inline:
            sys.stdout.write("\n")
        elif report.last_answer:
            sys.stdout.write(sanitize(report.last_answer).rstrip() + "\n\n")
        if report.error:
            write_message(sys.stderr, f"agent-tui: {sanitize(report.error)}")
            return 1
        sys.stdout.write(self.maker.resume_line())
        return 0

    # The protocol `Front` of the conversation's factory

    def notice(self, text: str, level: str = "info") -> None:
        """Add a line of the program to the transcript."""
        self.app.parts.notices.notice(text, level)

    def use_directory(self, directory: Path) -> None:
        """Show the demo's copy of the project as the working directory."""
        self.app.parts.workspace.use_directory(directory)

    def name_window(self, title: str) -> None:
        """Show a session's name as the window's title."""
        self.app.parts.workspace.name_window(title)

    def take_draft(self, text: str) -> bool:
        """Put unsent text back into the prompt."""
        self.app.parts.composer.insert(text)
        return True

    def write_sequence(self, sequence: str) -> None:
        """Write a hook's terminal sequence to the terminal."""
        self.app.parts.terminal.write(sequence)

    async def show_past(self, path: Path) -> None:
        """Show the end of the resumed session; earlier parts load as the user scrolls up."""
        await self.app.parts.past.open(path)

    async def show_event(self, event: AgentEvent) -> None:
        """Show an event that belongs to no prompt."""
        await self.app.parts.bridge.put(event)
